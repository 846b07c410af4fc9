//! Arbitrary bytes as a segment of the audit log.

use guild_package::audit::{Refusal, Segment};

/// Whether there is a refusal in `data`, or `data` is one.
///
/// # Panics
/// If records and gaps aren't all of it, or what is read as a refusal has another encoding.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    let segment = Segment::parse(data);
    let records = segment.frames.iter();
    let records: usize = records.map(|frame| frame.end() - frame.offset).sum();
    let gaps: usize = segment.gaps.iter().map(|gap| gap.length).sum();
    assert_eq!(records + gaps, data.len());
    let mut refusals = 0;
    for body in segment.frames.iter().map(|frame| frame.body).chain([data]) {
        if let Ok(refusal) = Refusal::decode(body) {
            assert_eq!(refusal.encode().ok().as_deref(), Some(body));
            refusals += 1;
        }
    }
    refusals > 0
}
