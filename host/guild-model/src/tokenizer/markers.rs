//! Cuts marker tokens out of a text before the rest is merged.
//!
//! From left to right, the longest marker that starts at a place wins.

use super::vocabulary::{TokenKind, Vocabulary};

/// A vocabulary's markers.
pub(super) struct Markers {
    /// Ascending by first byte, then descending by length.
    markers: Vec<Marker>,
}

struct Marker {
    text: Vec<u8>,
    id: u32,
    kind: TokenKind,
}

/// A piece of a text: a marker, or what is between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'t> {
    Marker(u32),
    Text(&'t str),
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
        markers.sort_by_key(|marker| {
            (
                marker.text.first().copied(),
                std::cmp::Reverse(marker.text.len()),
            )
        });
        Self { markers }
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
        let first = rest.first().copied();
        let from = self
            .markers
            .partition_point(|marker| marker.text.first().copied() < first);
        self.markers
            .get(from..)?
            .iter()
            .take_while(|marker| marker.text.first().copied() == first)
            .filter(|marker| parse_special || marker.kind == TokenKind::UserDefined)
            .find(|marker| rest.starts_with(&marker.text))
    }
}

/// Appends the text between two places. Markers are whole characters, so both are character boundaries.
fn push_text<'t>(parts: &mut Vec<Part<'t>>, text: &'t str, start: usize, end: usize) {
    if let Some(between) = text.get(start..end).filter(|between| !between.is_empty()) {
        parts.push(Part::Text(between));
    }
}
