//! The bytes of the three zip records, with every field that is not a name, a size, a checksum or an
//! offset fixed. Both the writer and the acceptance check take their bytes from here.

/// Bytes of a local header before the name.
pub const LOCAL_HEADER_BYTES: u64 = 30;
/// Bytes of a central record before the name.
pub const CENTRAL_RECORD_BYTES: u64 = 46;
/// Bytes of the end record.
pub const END_RECORD_BYTES: u64 = 22;

/// What a local header begins with.
pub const LOCAL_MAGIC: u32 = 0x0403_4b50;
const CENTRAL_MAGIC: u32 = 0x0201_4b50;
/// What the end record begins with.
pub const END_MAGIC: u32 = 0x0605_4b50;
/// Unix, zip specification 1.0.
const MADE_BY: u16 = 0x030a;
const VERSION_NEEDED: u16 = 10;
/// 1980-01-01, the earliest date the format has.
const DOS_DATE: u16 = 0x0021;
/// A regular file with mode 0644.
const EXTERNAL_ATTRIBUTES: u32 = 0o100_644 << 16;

/// What may differ between two entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Entry name; the grammar keeps it under 2^16 bytes.
    pub name: &'a str,
    /// CRC-32 of the data.
    pub crc32: u32,
    /// Bytes of data.
    pub size: u32,
    /// Where the local header begins.
    pub offset: u32,
}

impl Record<'_> {
    /// The local header and name, as they stand before the data.
    pub fn local_header(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LOCAL_HEADER_BYTES as usize + self.name.len());
        bytes.extend(LOCAL_MAGIC.to_le_bytes());
        self.shared_fields(&mut bytes);
        bytes.extend(self.name.as_bytes());
        bytes
    }

    /// The record and name in the central directory.
    pub fn central_record(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(CENTRAL_RECORD_BYTES as usize + self.name.len());
        bytes.extend(CENTRAL_MAGIC.to_le_bytes());
        bytes.extend(MADE_BY.to_le_bytes());
        self.shared_fields(&mut bytes);
        bytes.extend([0; 2]); // comment length
        bytes.extend([0; 2]); // disk number
        bytes.extend([0; 2]); // internal attributes
        bytes.extend(EXTERNAL_ATTRIBUTES.to_le_bytes());
        bytes.extend(self.offset.to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes
    }

    /// Version needed to extra length: the same 26 bytes in both headers.
    fn shared_fields(&self, bytes: &mut Vec<u8>) {
        bytes.extend(VERSION_NEEDED.to_le_bytes());
        bytes.extend([0; 2]); // flags
        bytes.extend([0; 2]); // method: stored
        bytes.extend([0; 2]); // time
        bytes.extend(DOS_DATE.to_le_bytes());
        bytes.extend(self.crc32.to_le_bytes());
        bytes.extend(self.size.to_le_bytes());
        bytes.extend(self.size.to_le_bytes());
        bytes.extend((self.name.len() as u16).to_le_bytes());
        bytes.extend([0; 2]); // extra length
    }
}

/// The last 22 bytes of the file.
pub fn end_record(entries: u16, directory_bytes: u32, directory_offset: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(END_RECORD_BYTES as usize);
    bytes.extend(END_MAGIC.to_le_bytes());
    bytes.extend([0; 4]); // this disk, disk of the directory
    bytes.extend(entries.to_le_bytes());
    bytes.extend(entries.to_le_bytes());
    bytes.extend(directory_bytes.to_le_bytes());
    bytes.extend(directory_offset.to_le_bytes());
    bytes.extend([0; 2]); // comment length
    bytes
}
