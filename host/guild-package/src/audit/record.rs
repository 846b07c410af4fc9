//! The bytes of a segment: records, each with the hash of the one before and its own. A whole record is one whose hash
//! fits; everything else is a gap. The reader takes any bytes, and its work grows with their number alone.

use crate::digest::Digest;
use crate::limits::AUDIT_BODY_MAX_BYTES;

/// The length of the body, and the hash of the record before.
const HEAD_BYTES: usize = LENGTH_BYTES + HASH_BYTES;
const LENGTH_BYTES: usize = 4;
const HASH_BYTES: usize = 32;
/// A record with the largest body.
pub const RECORD_MAX_BYTES: usize = HEAD_BYTES + AUDIT_BODY_MAX_BYTES + HASH_BYTES;
/// What one append writes at most: a record, and the counts behind it.
const APPEND_MAX_BYTES: usize = 2 * RECORD_MAX_BYTES;
/// What each body begins with, as canonical JSON of version 1. Only a place with it is looked at behind a gap.
const BODY_START: &[u8] = b"{\"schema\":1,";

/// A whole record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Where it begins.
    pub offset: usize,
    /// The hash of the record before; zeros in the first one of a log.
    pub previous: Digest,
    /// The JSON text.
    pub body: &'a [u8],
    /// SHA-256 of all before it in the record.
    pub hash: Digest,
}

/// Bytes that belong to no whole record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Where they begin.
    pub offset: usize,
    /// How many there are.
    pub length: usize,
    /// How many whole records are before them.
    pub frames_before: usize,
}

/// What a segment's bytes are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment<'a> {
    /// The whole records, in order.
    pub frames: Vec<Frame<'a>>,
    /// What lies between and behind them, in order.
    pub gaps: Vec<Gap>,
    length: usize,
}

/// The bytes of a record.
#[must_use]
pub fn encode(previous: Digest, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len() + HASH_BYTES);
    // A longer body is refused before it comes here; a wrong length would make the record a gap.
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(previous.as_bytes());
    bytes.extend_from_slice(body);
    let hash = Digest::of(&bytes);
    bytes.extend_from_slice(hash.as_bytes());
    bytes
}

impl<'a> Frame<'a> {
    /// The whole record that begins at `offset`, if one does.
    fn at(bytes: &'a [u8], offset: usize) -> Option<Self> {
        let bytes = bytes.get(offset..)?;
        let length = u32::from_le_bytes(*bytes.first_chunk::<LENGTH_BYTES>()?);
        let length = usize::try_from(length).ok()?;
        if length == 0 || length > AUDIT_BODY_MAX_BYTES {
            return None;
        }
        let (covered, rest) = bytes.split_at_checked(HEAD_BYTES + length)?;
        let hash = Digest::from_bytes(*rest.first_chunk::<HASH_BYTES>()?);
        let (head, body) = covered.split_at_checked(HEAD_BYTES)?;
        let previous = Digest::from_bytes(*head.last_chunk::<HASH_BYTES>()?);
        (Digest::of(covered) == hash).then_some(Self {
            offset,
            previous,
            body,
            hash,
        })
    }

    /// Where the next record begins.
    #[must_use]
    pub const fn end(&self) -> usize {
        self.offset + HEAD_BYTES + self.body.len() + HASH_BYTES
    }
}

impl<'a> Segment<'a> {
    /// Reads `bytes`. A record whose length is wrong doesn't take those behind it along.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Self {
        let mut segment = Self {
            length: bytes.len(),
            ..Self::default()
        };
        let mut offset = 0;
        while offset < bytes.len() {
            if let Some(frame) = Frame::at(bytes, offset) {
                offset = frame.end();
                segment.frames.push(frame);
                continue;
            }
            let end = next_frame(bytes, offset + 1).unwrap_or(bytes.len());
            segment.gaps.push(Gap {
                offset,
                length: end - offset,
                frames_before: segment.frames.len(),
            });
            offset = end;
        }
        segment
    }

    /// The gap at the end that an append which was cut off may have left: no longer than what one writes.
    #[must_use]
    pub fn torn(&self) -> Option<&Gap> {
        let last = self.gaps.last()?;
        let reaches_end = last.offset + last.length == self.length;
        (reaches_end && last.length <= APPEND_MAX_BYTES).then_some(last)
    }

    /// Whether bytes were lost that no cut-off append explains.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.gaps.len() > usize::from(self.torn().is_some())
    }
}

/// Where the first whole record begins, from `offset` on.
fn next_frame(bytes: &[u8], offset: usize) -> Option<usize> {
    let begins = |offset: &usize| {
        let body = bytes.get(offset + HEAD_BYTES..);
        body.is_some_and(|body| body.starts_with(BODY_START))
    };
    let mut places = (offset..bytes.len()).filter(begins);
    places.find(|offset| Frame::at(bytes, *offset).is_some())
}
