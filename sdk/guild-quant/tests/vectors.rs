//! Every format against byte vectors that ggml made (`tests/data/quants`): same bits, no tolerance.

use std::path::PathBuf;

use guild_numerics::convert::{f32_to_bf16, f32_to_f16};
use guild_quant::format::grid::{self, Grid};
use guild_quant::{Format, formats};
use serde_json::Value;

fn read(file: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data/quants")
        .join(file);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read_f32(file: &str) -> Vec<f32> {
    read(file)
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

fn read_json(file: &str) -> Value {
    serde_json::from_slice(&read(file)).expect("the file is JSON")
}

#[test]
fn every_vector_decodes_to_the_same_bits() {
    let index = read_json("index.json");
    let types = index["types"].as_object().expect("types is an object");
    assert_eq!(
        types.len(),
        formats().len() - 1,
        "every format but F32 has a vector"
    );
    for (name, entry) in types {
        let format = formats()
            .iter()
            .find(|format| u64::from(format.ggml_type) == entry["ggml_type"])
            .unwrap_or_else(|| panic!("{name} has a format"));
        assert_eq!(
            format.name.to_lowercase(),
            format!("ggml.{}", name.to_lowercase())
        );
        assert_eq!(entry["block_elems"], format.block_elems as u64, "{name}");
        assert_eq!(entry["block_bytes"], format.block_bytes as u64, "{name}");
        check(
            format,
            &read(entry["blocks"].as_str().expect("a file name")),
            &read_f32(entry["decoded"].as_str().expect("a file name")),
        );
    }
}

#[test]
fn f32_rows_are_their_own_bytes() {
    let format = guild_quant::format_by_name("ggml.f32").expect("F32 exists");
    check(format, &read("source.f32"), &read_f32("source.f32"));
}

/// The same vectors, the other way: ggml rounded these values to 16 bits.
#[test]
fn narrowing_gives_the_same_16_bits() {
    let source = read_f32("source.f32");
    for (file, narrow) in [
        ("F16.blocks", f32_to_f16 as fn(f32) -> u16),
        ("BF16.blocks", f32_to_bf16),
    ] {
        let want: Vec<u16> = read(file)
            .chunks_exact(2)
            .map(|b| u16::from_le_bytes([b[0], b[1]]))
            .collect();
        let got: Vec<u16> = source.iter().map(|&x| narrow(x)).collect();
        assert_eq!(got, want, "{file}");
    }
}

/// The vectors name some of the points; gguf-py's checksums (`make_grids.py`) cover all.
#[test]
fn every_point_of_the_lattices_has_its_elements() {
    let sums = read_json("grids.json");
    assert_eq!(sums.as_object().map(|sums| sums.len()), Some(6));
    check_grid("IQ2_XXS", &grid::IQ2_XXS, &sums);
    check_grid("IQ2_XS", &grid::IQ2_XS, &sums);
    check_grid("IQ2_S", &grid::IQ2_S, &sums);
    check_grid("IQ3_XXS", &grid::IQ3_XXS, &sums);
    check_grid("IQ3_S", &grid::IQ3_S, &sums);
    check_grid("IQ1", &grid::IQ1, &sums);
}

/// Each element times its number, counted from 1 through all points.
fn check_grid<const POINTS: usize>(name: &str, grid: &Grid<POINTS>, sums: &Value) {
    let elements =
        (0..POINTS).flat_map(|point| (0..grid.elems()).map(move |elem| grid.value(point, elem)));
    let sum: i64 = (1..).zip(elements).map(|(n, x)| n * i64::from(x)).sum();
    let want = &sums[name];
    assert_eq!(want["points"], POINTS as u64, "{name}");
    assert_eq!(want["elems"], grid.elems() as u64, "{name}");
    assert_eq!(want["checksum"], sum, "{name}");
}

fn check(format: &Format, blocks: &[u8], want: &[f32]) {
    let mut got = vec![f32::NAN; want.len()];
    (format.decode_row)(blocks, &mut got).expect("the vector is whole blocks");
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        assert_eq!(
            got.to_bits(),
            want.to_bits(),
            "{} element {i}: {got} for {want}",
            format.name
        );
    }
}
