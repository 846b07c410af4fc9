//! Writes a matrix of f32 as a NumPy `.npy` file, version 1.0.

use crate::failure::{Failure, Outcome};
use std::io::Write;
use std::path::Path;

/// Writes `rows * columns` values in row order.
pub fn write_f32(path: &Path, rows: usize, columns: usize, values: &[f32]) -> Outcome<()> {
    let mut file = std::fs::File::create(path).map_err(|error| Failure::io(path, &error))?;
    let mut bytes = header(rows, columns);
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    file.write_all(&bytes)
        .map_err(|error| Failure::io(path, &error))
}

/// Magic, version, header length and the dictionary, padded so that the data starts at a multiple
/// of 64 bytes.
fn header(rows: usize, columns: usize) -> Vec<u8> {
    let dictionary =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    const PREFIX: usize = 10;
    let unpadded = PREFIX + dictionary.len() + 1;
    let padding = unpadded.next_multiple_of(64) - unpadded;
    let length = (dictionary.len() + padding + 1) as u16;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend(dictionary.as_bytes());
    bytes.extend(std::iter::repeat_n(b' ', padding));
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that `numpy.save` writes for a zero matrix of this shape.
    #[test]
    fn the_header_is_the_one_numpy_writes() {
        let header = header(96, 1024);
        let start = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (96, 1024), }";
        assert_eq!(header.len(), 128);
        assert!(header.starts_with(start));
        assert!(header[start.len()..127].iter().all(|byte| *byte == b' '));
        assert_eq!(header[127], b'\n');
    }
}
