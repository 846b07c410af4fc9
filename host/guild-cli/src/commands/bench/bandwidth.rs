//! The bandwidth of memory that a number of threads can read with.

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::memory::limits::{Limit, LimitOwner};
use crate::memory::process::ProcessMemory;
use crate::memory::size::ByteSize;
use memmap2::MmapMut;
use serde::Serialize;
use std::hint::black_box;
use std::io;
use std::thread::Builder;
use std::time::Instant;

/// Bytes that are read: far more than any cache holds.
const BYTES: usize = 1 << 30;

/// Passes over them; the best one counts.
const PASSES: usize = 9;

/// Bytes of a line of a cache.
const LINE_BYTES: usize = 64;

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bandwidth {
    /// Threads that read.
    pub threads: u32,
    /// Bytes that they read in a second, in the best pass.
    pub bytes_per_second: f64,
}

/// Refuses to measure where a limit has no room for it beside `model_bytes`, which a model has when its engine is gone,
/// and the addresses of `process`. To be asked before the tests, whose results a refusal afterwards would lose.
pub fn check_room(model_bytes: u64, process: &ProcessMemory, limits: &[Limit]) -> Outcome<()> {
    let needed = |limit: &Limit| {
        let others = match limit.owner {
            LimitOwner::AddressSpace => process.address_space_bytes,
            LimitOwner::Data => process.data_bytes,
            LimitOwner::Chosen | LimitOwner::Machine | LimitOwner::ControlGroup { .. } => {
                model_bytes
            }
        };
        others.saturating_add(BYTES as u64)
    };
    let over = |limit: &&Limit| needed(limit).saturating_sub(limit.available_bytes);
    let Some(worst) = limits.iter().max_by_key(over).filter(|it| over(it) > 0) else {
        return Ok(());
    };
    let (needed, available) = (needed(worst), worst.available_bytes);
    let message = format!(
        "--roofline reads {} of its own beside the model: that is {} ({needed} bytes), and {} allows {} ({available} bytes)",
        ByteSize(BYTES as u64),
        ByteSize(needed),
        worst.owner.name(),
        ByteSize(available),
    );
    let hint =
        "leave --roofline out; --no-fit-check measures anyway, and the system may end the process";
    Err(Failure::new(Exit::Resource, message).hint(hint))
}

/// Measures for each number of threads. Each reads a part of its own from the first byte to the last, and adds
/// it up.
pub fn measure(threads: &[u32]) -> Outcome<Vec<Bandwidth>> {
    let mut buffer = MmapMut::map_anon(BYTES).map_err(|_| {
        let message = "there is no 1 GiB of memory to measure bandwidth with";
        Failure::new(Exit::Resource, message)
    })?;
    // In small pages a thread reads a fifth less on some machines.
    #[cfg(target_os = "linux")]
    drop(buffer.advise(memmap2::Advice::HugePage));
    // Zeroed pages could be one page, read again and again.
    buffer.fill(1);
    let (lines, _) = buffer.as_chunks::<LINE_BYTES>();
    let measured = threads.iter().map(|threads| {
        let mut best = f64::INFINITY;
        for _ in 0..PASSES {
            let started = Instant::now();
            let sum = read(lines, *threads).map_err(|error| {
                let message = format!("{threads} threads can't be started: {error}");
                Failure::new(Exit::Resource, message)
            })?;
            best = best.min(started.elapsed().as_secs_f64());
            black_box(sum);
        }
        Ok(Bandwidth {
            threads: *threads,
            bytes_per_second: BYTES as f64 / best,
        })
    });
    measured.collect()
}

/// The sum of all lines, of as many parts as there are threads; this thread takes the first.
fn read(lines: &[[u8; LINE_BYTES]], threads: u32) -> io::Result<u64> {
    let length = lines.len().div_ceil(threads.max(1) as usize).max(1);
    let (mine, others) = lines.split_at(length.min(lines.len()));
    std::thread::scope(|scope| {
        let others = others
            .chunks(length)
            .map(|part| Builder::new().spawn_scoped(scope, || sum(part)))
            .collect::<io::Result<Vec<_>>>()?;
        let mut total = sum(mine);
        for other in others {
            let part = other
                .join()
                .map_err(|_| io::Error::other("one ended early"))?;
            total = total.wrapping_add(part);
        }
        Ok(total)
    })
}

fn sum(lines: &[[u8; LINE_BYTES]]) -> u64 {
    let mut sums = [0u64; LINE_BYTES / 8];
    for line in lines {
        let (words, _) = line.as_chunks::<8>();
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum = sum.wrapping_add(u64::from_ne_bytes(*word));
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::limits::limits;
    use crate::system::SystemFiles;

    const MODEL_BYTES: u64 = 100 << 20;

    /// Whether there is room on a machine with so much available, in a group with such a limit and use.
    fn room(
        available_kib: u64,
        group_limit: u64,
        group_use: u64,
        chosen: Option<u64>,
    ) -> Outcome<()> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            (
                "proc/meminfo",
                format!("MemAvailable: {available_kib} kB\n"),
            ),
            ("proc/self/cgroup", "0::/\n".to_owned()),
            (
                "proc/self/mountinfo",
                "1 0 0:1 / /g rw - cgroup2 none rw\n".to_owned(),
            ),
            ("g/memory.max", format!("{group_limit}\n")),
            ("g/memory.current", format!("{group_use}\n")),
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let (files, process) = (SystemFiles::below(folder.path()), ProcessMemory::default());
        check_room(
            MODEL_BYTES,
            &process,
            &limits(&files, chosen.map(ByteSize), &process),
        )
    }

    #[test]
    fn what_has_no_room_beside_the_model_is_refused_with_the_tightest_limit() {
        const NEEDED: u64 = MODEL_BYTES + BYTES as u64;
        let kib = NEEDED / 1024;
        assert!(room(kib, NEEDED, 0, Some(NEEDED)).is_ok());
        for (outcome, name) in [
            (room(kib - 1, NEEDED, 0, Some(NEEDED)), "the machine"),
            (room(kib, NEEDED, 0, Some(NEEDED - 1)), "--memory-limit"),
            (room(kib, NEEDED + 7, 8, Some(NEEDED)), "control group /g"),
            (
                room(kib - 1, NEEDED, 2000, Some(NEEDED - 1)),
                "control group /g",
            ),
        ] {
            let refused = outcome.unwrap_err();
            assert_eq!(refused.exit, Exit::Resource);
            let text = format!("({NEEDED} bytes), and {name} allows");
            assert!(refused.message.contains(&text), "{}", refused.message);
        }
    }

    #[test]
    fn addresses_count_where_addresses_are_limited() {
        let process = ProcessMemory {
            address_space_bytes: 5000,
            data_bytes: 300,
            ..ProcessMemory::default()
        };
        for (owner, addresses) in [(LimitOwner::AddressSpace, 5000), (LimitOwner::Data, 300)] {
            let with = |available_bytes| {
                let owner = owner.clone();
                check_room(
                    u64::MAX,
                    &process,
                    &[Limit {
                        owner,
                        available_bytes,
                    }],
                )
            };
            let needed = addresses + BYTES as u64;
            assert!(
                with(needed).is_ok() && with(needed - 1).is_err(),
                "{owner:?}"
            );
        }
    }

    #[test]
    fn every_line_is_read_once_by_any_number_of_threads() {
        let lines: Vec<[u8; LINE_BYTES]> = (0..1001u64)
            .map(|number| std::array::from_fn(|at| number.to_ne_bytes()[at % 8]))
            .collect();
        for threads in [1, 2, 3, 7, 1024] {
            assert_eq!(read(&lines, threads).unwrap(), 8 * 1001 * 1000 / 2);
        }
        assert_eq!(read(&[], 2).unwrap(), 0);
    }
}
