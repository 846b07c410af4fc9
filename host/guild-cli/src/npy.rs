//! Writes a matrix of f32 as a NumPy `.npy` file, version 1.0.

use crate::failure::{Failure, Outcome};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file under way: rows are appended, so that a large matrix needs no memory.
pub struct NpyWriter {
    path: PathBuf,
    file: BufWriter<File>,
}

impl NpyWriter {
    /// Starts a file that is to hold `rows * columns` values. A command that fails leaves it short.
    pub fn create(path: &Path, rows: usize, columns: usize) -> Outcome<NpyWriter> {
        let file = File::create(path).map_err(|error| Failure::io(path, &error))?;
        let mut writer = NpyWriter {
            path: path.to_owned(),
            file: BufWriter::new(file),
        };
        writer.write(&header(rows, columns))?;
        Ok(writer)
    }

    /// Appends values in row order.
    pub fn append(&mut self, values: &[f32]) -> Outcome<()> {
        values
            .iter()
            .try_for_each(|value| self.write(&value.to_le_bytes()))
    }

    /// Hands the last bytes to the system.
    pub fn finish(mut self) -> Outcome<()> {
        let flushed = self.file.flush();
        flushed.map_err(|error| Failure::io(&self.path, &error))
    }

    fn write(&mut self, bytes: &[u8]) -> Outcome<()> {
        let written = self.file.write_all(bytes);
        written.map_err(|error| Failure::io(&self.path, &error))
    }
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

    #[test]
    fn rows_follow_the_header_in_order() {
        let path = std::env::temp_dir().join(format!("guild-npy-{}", std::process::id()));
        let mut writer = NpyWriter::create(&path, 2, 2).unwrap();
        writer.append(&[1.0, -2.0]).unwrap();
        writer.append(&[0.5, 3.0]).unwrap();
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let values = [1.0f32, -2.0, 0.5, 3.0];
        let values: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        assert_eq!(bytes, [header(2, 2), values].concat());
    }

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
