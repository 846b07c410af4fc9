//! The bandwidth of memory that a number of threads can read with.

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
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
