//! Reads arbitrary bytes as a segment of the audit log. Records and gaps are all of it, and what is read as a refusal has
//! one encoding.
#![no_main]

use guild_package::audit::{Refusal, Segment};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let segment = Segment::parse(data);
    let records: usize = segment.frames.iter().map(|frame| frame.end() - frame.offset).sum();
    let gaps: usize = segment.gaps.iter().map(|gap| gap.length).sum();
    assert_eq!(records + gaps, data.len());
    for body in segment.frames.iter().map(|frame| frame.body).chain([data]) {
        if let Ok(refusal) = Refusal::decode(body) {
            assert_eq!(refusal.encode().ok().as_deref(), Some(body));
        }
    }
});
