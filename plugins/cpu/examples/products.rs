//! Speed of the products of weights with activations, by format, set and number of rows.
//!
//! `cargo run --release -p guild-plugin-cpu --example products -- [SET [THREADS [FORMAT]]]` prints, for one
//! row (weights from memory, and from a cache) and for 512 rows, weight bytes and multiplications a second.

use guild_plugin_cpu::block::{
    Activations, CHUNK_ROWS, GemvSpace, Line, RECORD_ELEMS, TILE_ROWS, TileRows, Workspace,
    WriteRecord, product,
};
use guild_plugin_cpu::detect::{Detected, IsaName};
use guild_plugin_cpu::isa::{Isa, Portable};
use guild_sdk::format::{WEIGHT_FORMATS, name, storage};
use std::time::Instant;

/// Elements of a row of weights.
const ELEMS: usize = 2048;
/// Weight rows that a call for one row takes.
const BAND_ROWS: usize = 96;
/// Weight bytes of the test with one row: well above the caches.
const STREAM_BYTES: usize = 256 << 20;
/// Weight rows of the test that reads them from a cache.
const NEAR_ROWS: usize = 512;
/// How often they are read, so that starting threads takes no part of the time.
const NEAR_TURNS: usize = 64;
/// Weight rows of the test with many rows.
const DENSE_ROWS: usize = 1024;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let detected = Detected::new();
    let set = arguments.next().and_then(|text| IsaName::parse(&text));
    let threads: usize = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(2);
    let set = set.unwrap_or(detected.best());
    let wanted = arguments.next();
    println!("{} with {threads} threads", set.text());
    match set {
        IsaName::Portable => run(Portable, threads, wanted.as_deref()),
        #[cfg(target_arch = "x86_64")]
        IsaName::Avx2 => run(
            detected.avx2().expect("the machine has it"),
            threads,
            wanted.as_deref(),
        ),
        #[cfg(target_arch = "x86_64")]
        IsaName::AvxVnni => run(
            detected.avx_vnni().expect("the machine has it"),
            threads,
            wanted.as_deref(),
        ),
        #[cfg(target_arch = "x86_64")]
        IsaName::Avx512 => run(
            detected.avx512().expect("the machine has it"),
            threads,
            wanted.as_deref(),
        ),
        #[cfg(target_arch = "x86_64")]
        IsaName::Avx512Vnni => run(
            detected.avx512_vnni().expect("the machine has it"),
            threads,
            wanted.as_deref(),
        ),
        #[cfg(target_arch = "x86_64")]
        IsaName::Amx => run(
            detected.amx().expect("the machine has it"),
            threads,
            wanted.as_deref(),
        ),
        #[cfg(not(target_arch = "x86_64"))]
        _ => unreachable!("the machine hasn't the set"),
    }
}

fn run<S: Isa>(isa: S, threads: usize, wanted: Option<&str>) {
    let wants = |format: &u32| wanted.is_none_or(|wanted| wanted == name(*format));
    for &format in WEIGHT_FORMATS.iter().filter(|format| wants(format)) {
        let storage = storage(format).expect("a weight format has a size");
        let row_bytes = storage.row_bytes(ELEMS).expect("whole blocks");
        let stream_rows = STREAM_BYTES / row_bytes / (TILE_ROWS * threads) * TILE_ROWS * threads;
        let mut state = 1u64;
        let weights: Vec<u8> = (0..stream_rows * row_bytes)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 56) as u8 & 0x1b | 0x20
            })
            .collect();
        let one = best(|| multiply(isa, format, &weights, row_bytes, [1, 1], threads));
        let dense = &weights[..DENSE_ROWS * row_bytes];
        let near = &weights[..NEAR_ROWS * row_bytes];
        let cached = best(|| multiply(isa, format, near, row_bytes, [1, NEAR_TURNS], threads));
        let many = best(|| multiply(isa, format, dense, row_bytes, [512, 1], threads));
        println!(
            "{:10} 1 row {:6.1} GB/s, from cache {:6.1} GB/s   512 rows {:7.1} G multiplications/s",
            name(format),
            weights.len() as f64 / one / 1e9,
            (NEAR_TURNS * near.len()) as f64 / cached / 1e9,
            (512 * DENSE_ROWS * ELEMS) as f64 / many / 1e9,
        );
    }
}

/// The shortest of nine runs, in seconds.
fn best(mut seconds: impl FnMut() -> f64) -> f64 {
    (0..9).map(|_| seconds()).fold(f64::INFINITY, f64::min)
}

/// Multiplies all weights `turns` times with `rows` rows, whose rounding doesn't count; gives the seconds that took.
fn multiply<S: Isa>(
    isa: S,
    format: u32,
    weights: &[u8],
    row_bytes: usize,
    [rows, turns]: [usize; 2],
    threads: usize,
) -> f64 {
    let product = product::<S>(format).expect("a weight format has a product");
    let rounding = product.rounding;
    let steps = ELEMS / RECORD_ELEMS;
    let used = steps * rows * rounding.record_bytes();
    // As scratch is: at a cache line.
    let mut buffer = vec![0; rounding.buffer_bytes(steps * rows) + 64];
    let at = buffer.as_ptr().align_offset(64);
    let records = &mut buffer[at..];
    let x: Vec<f32> = (0..RECORD_ELEMS).map(|i| (i % 17) as f32 - 8.0).collect();
    for record in records[..used].chunks_exact_mut(rounding.record_bytes()) {
        isa.vectorize::<WriteRecord, _>((rounding, &x[..], record));
    }
    let activations = Activations {
        steps,
        rows,
        records,
    };
    let tile_bytes = TILE_ROWS * row_bytes;
    let start = Instant::now();
    std::thread::scope(|scope| {
        for part in weights.chunks(weights.len() / threads) {
            let activations = &activations;
            scope.spawn(move || {
                if rows == 1 {
                    let mut space = GemvSpace::new(isa);
                    let mut line = [0.0; BAND_ROWS];
                    for bytes in (0..turns).flat_map(|_| part.chunks(BAND_ROWS * row_bytes)) {
                        let line = &mut line[..bytes.len() / row_bytes];
                        let elems = ELEMS;
                        let weight = TileRows {
                            bytes,
                            row_bytes,
                            elems,
                        };
                        (product.gemv)(isa, &mut space, &weight, activations, line);
                        std::hint::black_box(line);
                    }
                    return;
                }
                let mut space = Workspace::new(isa);
                let mut lines = [Line::ZERO; CHUNK_ROWS];
                let tiles = (0..part.len()).step_by(tile_bytes);
                for at in (0..turns).flat_map(|_| tiles.clone()) {
                    let tile_rows = TileRows {
                        bytes: &part[at..][..tile_bytes],
                        row_bytes,
                        elems: ELEMS,
                    };
                    for first in (0..rows).step_by(CHUNK_ROWS) {
                        let lines = &mut lines[..(rows - first).min(CHUNK_ROWS)];
                        (product.gemm)(isa, &mut space, &tile_rows, activations, first, lines);
                        std::hint::black_box(lines);
                    }
                }
            });
        }
    });
    start.elapsed().as_secs_f64()
}
