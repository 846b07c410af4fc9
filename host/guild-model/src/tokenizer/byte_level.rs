//! GPT-2's spelling of bytes as printable characters, in which byte-level vocabularies are written.
//!
//! The printable bytes of Latin-1 stand for themselves; the other 68 are given the characters from U+0100 on, in
//! ascending order.

/// The character that spells `byte`.
pub(super) fn to_char(byte: u8) -> char {
    if spells_itself(byte) {
        return char::from(byte);
    }
    let rank = (0..byte).filter(|&lower| !spells_itself(lower)).count() as u32;
    // U+0100 + 67 is far below the surrogates, so every sum is a character.
    char::from_u32(0x100 + rank).unwrap_or(char::REPLACEMENT_CHARACTER)
}

const fn spells_itself(byte: u8) -> bool {
    matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff)
}

/// Turns spelled text back into bytes.
pub(super) struct Alphabet {
    /// The byte that each character below U+0200 spells.
    bytes: [Option<u8>; 0x200],
}

impl Alphabet {
    pub(super) fn new() -> Self {
        let mut bytes = [None; 0x200];
        for byte in 0..=u8::MAX {
            if let Some(slot) = bytes.get_mut(to_char(byte) as usize) {
                *slot = Some(byte);
            }
        }
        Self { bytes }
    }

    /// Appends the bytes that `text` spells. A character outside the alphabet stands for its own UTF-8.
    pub(super) fn decode(&self, text: &str, out: &mut Vec<u8>) {
        for c in text.chars() {
            match self.bytes.get(c as usize).copied().flatten() {
                Some(byte) => out.push(byte),
                None => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_well_known_spellings() {
        // As every published GPT-2 vocabulary has them.
        for (byte, c) in [
            (b' ', 'Ġ'),
            (b'\n', 'Ċ'),
            (b'\t', 'ĉ'),
            (0, 'Ā'),
            (0x7f, 'ġ'),
            (0xad, 'Ń'),
            (b'A', 'A'),
        ] {
            assert_eq!(to_char(byte), c);
        }
    }

    #[test]
    fn every_byte_has_its_own_character_and_comes_back() {
        let alphabet = Alphabet::new();
        let spelled: String = (0..=u8::MAX).map(to_char).collect();
        let mut bytes = Vec::new();
        alphabet.decode(&spelled, &mut bytes);
        assert_eq!(bytes, (0..=u8::MAX).collect::<Vec<_>>());
    }

    #[test]
    fn other_characters_stand_for_themselves() {
        let mut bytes = Vec::new();
        Alphabet::new().decode("a漢", &mut bytes);
        assert_eq!(bytes, "a漢".as_bytes());
    }
}
