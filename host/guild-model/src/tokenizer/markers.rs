//! Cuts marker tokens out of a text before the rest is merged.
//!
//! From left to right, the longest marker that starts at a place wins.

use super::vocabulary::{TokenKind, Vocabulary};

/// A vocabulary's markers.
pub(super) struct Markers {
    /// Ascending by text, which is unique.
    markers: Vec<Marker>,
    /// Whether a marker begins with each byte.
    begins: [bool; 256],
}

struct Marker {
    text: Vec<u8>,
    id: u32,
    kind: TokenKind,
}

/// A piece of a text: a marker, or what is between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// The marker with this id.
    Marker(u32),
    /// Text that begins at byte `start` of the whole.
    Text { text: &'t str, start: usize },
}

impl Markers {
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let marker = |id| {
            let kind = vocabulary.kind(id).filter(|kind| kind.is_marker())?;
            Some(Marker {
                text: vocabulary.bytes(id)?.to_vec(),
                id,
                kind,
            })
        };
        let mut markers: Vec<Marker> = (0..vocabulary.len()).filter_map(marker).collect();
        markers.sort_by(|a, b| a.text.cmp(&b.text));
        let mut begins = [false; 256];
        for first in markers.iter().filter_map(|marker| marker.text.first()) {
            begins[usize::from(*first)] = true;
        }
        Self { markers, begins }
    }

    /// The parts of `text` in order. Empty text is left out. Without `parse_special` only user-defined markers count.
    pub(super) fn split<'t>(&self, text: &'t str, parse_special: bool) -> Vec<Part<'t>> {
        let mut parts = Vec::new();
        let (mut start, mut at) = (0, 0);
        while let Some(rest) = text.as_bytes().get(at..).filter(|rest| !rest.is_empty()) {
            let Some(marker) = self.longest_prefix(rest, parse_special) else {
                at += 1;
                continue;
            };
            push_text(&mut parts, text, start, at);
            parts.push(Part::Marker(marker.id));
            at += marker.text.len();
            start = at;
        }
        push_text(&mut parts, text, start, at);
        parts
    }

    fn longest_prefix(&self, rest: &[u8], parse_special: bool) -> Option<&Marker> {
        if !self.begins[usize::from(*rest.first()?)] {
            return None;
        }
        let mut longest = None;
        // The markers that begin with the first `matched` bytes.
        let mut candidates = self.markers.as_slice();
        for (matched, &byte) in (1..).zip(rest) {
            let place = |marker: &Marker| marker.text.get(matched - 1).copied();
            let from = candidates.partition_point(|marker| place(marker) < Some(byte));
            let end = candidates.partition_point(|marker| place(marker) <= Some(byte));
            candidates = candidates.get(from..end)?;
            let Some(shortest) = candidates.first() else {
                break;
            };
            let counts = parse_special || shortest.kind == TokenKind::UserDefined;
            if shortest.text.len() == matched && counts {
                longest = Some(shortest);
            }
        }
        longest
    }
}

/// Appends the text between two places. Markers are whole characters, so both are character boundaries.
fn push_text<'t>(parts: &mut Vec<Part<'t>>, text: &'t str, start: usize, end: usize) {
    if let Some(between) = text.get(start..end).filter(|between| !between.is_empty()) {
        parts.push(Part::Text {
            text: between,
            start,
        });
    }
}
