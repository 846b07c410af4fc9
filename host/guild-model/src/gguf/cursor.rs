//! A position in bytes; every read says what it reads and is checked against what is left.

use crate::error::Damage;

/// Reads little-endian fields one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte.
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Bytes read so far.
    pub(crate) const fn position(&self) -> usize {
        self.position
    }

    /// The bytes that are left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// Length of all bytes, read or not.
    pub(crate) const fn total_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, what: &'static str, len: u64) -> Result<&'a [u8], Damage> {
        let rest = self.rest();
        let taken = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        let taken = taken.ok_or(Damage::Truncated {
            what,
            at: self.position as u64,
            need_bytes: len,
            have_bytes: rest.len() as u64,
        })?;
        self.position += taken.len();
        Ok(taken)
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Damage> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(what, N as u64)?);
        Ok(array)
    }

    /// A 32-bit number.
    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, Damage> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// A 64-bit number.
    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, Damage> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// A count of things that take at least `bytes_each`: neither beyond `limit` nor more than the rest can hold.
    pub(crate) fn count(
        &mut self,
        what: &'static str,
        limit: u64,
        bytes_each: u64,
    ) -> Result<u64, Damage> {
        let count = self.u64(what)?;
        check_limit(what, count, limit)?;
        check_count(self, what, count, bytes_each)?;
        Ok(count)
    }

    /// A string: a 64-bit length of at most `limit`, then UTF-8.
    pub(crate) fn string(&mut self, what: &'static str, limit: u64) -> Result<&'a str, Damage> {
        let at = self.position as u64;
        let bytes = self.string_bytes(what, limit)?;
        std::str::from_utf8(bytes).map_err(|_| Damage::NotUtf8 { what, at })
    }

    /// As [`Cursor::string`], but copied before it is checked: bytes in a mapped file may change between the two.
    pub(crate) fn string_copy(&mut self, what: &'static str, limit: u64) -> Result<String, Damage> {
        let at = self.position as u64;
        let bytes = self.string_bytes(what, limit)?.to_vec();
        String::from_utf8(bytes).map_err(|_| Damage::NotUtf8 { what, at })
    }

    fn string_bytes(&mut self, what: &'static str, limit: u64) -> Result<&'a [u8], Damage> {
        let len = self.u64(what)?;
        check_limit(what, len, limit)?;
        self.take(what, len)
    }
}

/// Refuses a number beyond its limit.
pub(crate) fn check_limit(what: &'static str, found: u64, limit: u64) -> Result<(), Damage> {
    if found > limit {
        Err(Damage::OverLimit { what, found, limit })
    } else {
        Ok(())
    }
}

/// Refuses a count of things that the rest of the bytes cannot hold.
fn check_count(
    cursor: &Cursor<'_>,
    what: &'static str,
    count: u64,
    bytes_each: u64,
) -> Result<(), Damage> {
    let have_bytes = cursor.rest().len() as u64;
    let need_bytes = count.saturating_mul(bytes_each);
    if need_bytes > have_bytes {
        return Err(Damage::Truncated {
            what,
            at: cursor.position() as u64,
            need_bytes,
            have_bytes,
        });
    }
    Ok(())
}
