//! CRC-32 as zip uses it (IEEE 802.3, reflected), eight bytes a step. It guards against nothing that the
//! signed digests do not; it is here because a zip reader wants it, and it must be the right one.

/// A running CRC-32.
#[derive(Clone, Copy)]
pub struct Crc32(u32);

impl Default for Crc32 {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Crc32 {
    /// Adds `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        let (chunks, rest) = bytes.as_chunks::<8>();
        let mut crc = self.0;
        for chunk in chunks {
            let word = u64::from_le_bytes(*chunk) ^ u64::from(crc);
            crc = 0;
            for (table, byte) in TABLES.iter().rev().zip(word.to_le_bytes()) {
                crc ^= table[usize::from(byte)];
            }
        }
        for byte in rest {
            let [low, ..] = (crc ^ u32::from(*byte)).to_le_bytes();
            crc = TABLES[0][usize::from(low)] ^ (crc >> 8);
        }
        self.0 = crc;
    }

    /// The checksum.
    #[must_use]
    pub const fn finish(self) -> u32 {
        !self.0
    }

    /// The checksum of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> u32 {
        let mut crc = Self::default();
        crc.update(bytes);
        crc.finish()
    }
}

/// `TABLES[k][b]`: the effect of byte `b` followed by `k` zero bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 {
                POLYNOMIAL ^ (crc >> 1)
            } else {
                crc >> 1
            };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut step = 1;
    while step < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[step - 1][byte];
            tables[step][byte] = tables[0][(before & 255) as usize] ^ (before >> 8);
            byte += 1;
        }
        step += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values are the catalogue's and RFC 3720-era test strings, not our own output.
    #[test]
    fn published_check_values() {
        assert_eq!(Crc32::of(b""), 0);
        assert_eq!(Crc32::of(b"123456789"), 0xcbf4_3926);
        assert_eq!(
            Crc32::of(b"The quick brown fox jumps over the lazy dog"),
            0x414f_a339
        );
    }

    #[test]
    fn pieces_and_whole_agree() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for split in [0, 1, 7, 8, 9, 500, 1000] {
            let mut crc = Crc32::default();
            crc.update(&bytes[..split]);
            crc.update(&bytes[split..]);
            assert_eq!(crc.finish(), Crc32::of(&bytes), "split at {split}");
        }
    }
}
