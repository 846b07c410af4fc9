//! All segments read as one chain: the records, and whatever doesn't fit.

use std::fmt;

use serde::Serialize;

use crate::audit::record::Segment;
use crate::audit::refusal::Refusal;
use crate::audit::tally::Tally;
use crate::digest::Digest;
use crate::limits::AUDIT_SEGMENTS_MAX;

/// A whole record of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The number of its segment.
    pub segment: u32,
    /// Its place among the records of the segment, from 1.
    pub place: usize,
    /// Its hash, which the next record names.
    pub hash: Digest,
    /// What it says.
    pub refusal: Refusal,
}

/// What was found out about the log as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// How many segments there are.
    pub segments: usize,
    /// How many records are whole.
    pub records: usize,
    /// How many refusals have no record yet, and are counted at the end.
    pub counted: u64,
    /// What doesn't fit, in order.
    pub faults: Vec<Fault>,
}

impl Verified {
    /// How many faults no append that was cut off explains.
    #[must_use]
    pub fn damage(&self) -> usize {
        let faults = self.faults.iter();
        faults.filter(|fault| fault.kind != FaultKind::Torn).count()
    }
}

/// Something that doesn't fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The number of the segment.
    pub segment: u32,
    /// The place of the record in the segment, from 1: the damaged one, or the first of several.
    pub place: usize,
    /// Where it begins, in bytes.
    pub offset: usize,
    /// What it is.
    pub kind: FaultKind,
}

/// The ways in which a log can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FaultKind {
    /// The last record isn't whole, as after an append that was cut off. The next append removes it.
    Torn,
    /// Bytes that are no whole record, where no append that was cut off leaves them.
    Damaged,
    /// A whole record that doesn't name the one before it.
    Unlinked,
    /// A whole record whose text is none of this format.
    Unknown,
    /// The segment is no file of the size that one may have.
    Unreadable,
    /// There is no segment of this number between others, or before them though nothing had to go for room.
    Missing,
}

/// The segments that were read so far.
#[derive(Debug, Default)]
pub(super) struct Chain {
    records: Vec<Record>,
    faults: Vec<Fault>,
    /// Of the newest segment.
    counted: u64,
    /// The number of the oldest segment.
    oldest: Option<u32>,
    /// The number of the newest segment.
    newest: Option<u32>,
    /// What the next record must name; `None` where that isn't known, and it is believed.
    expected: Option<Digest>,
}

impl Chain {
    /// All records, and what was found out about the whole.
    pub fn finish(self, segments: usize) -> (Vec<Record>, Verified) {
        let mut faults = self.faults;
        // Only at the very end is it what a cut-off append leaves.
        for fault in &mut faults {
            if fault.kind == FaultKind::Torn && Some(fault.segment) != self.newest {
                fault.kind = FaultKind::Damaged;
            }
        }
        // The oldest go when there are as many as there may be; one less is what a killed command leaves.
        let is_short = segments + 1 < AUDIT_SEGMENTS_MAX;
        if let Some(before) = self.oldest.and_then(|oldest| oldest.checked_sub(1))
            && is_short
        {
            let fault = Fault {
                segment: before,
                place: 1,
                offset: 0,
                kind: FaultKind::Missing,
            };
            faults.insert(0, fault);
        }
        let verified = Verified {
            segments,
            records: self.records.len(),
            counted: self.counted,
            faults,
        };
        (self.records, verified)
    }

    /// Adds the next segment.
    pub fn add(&mut self, number: u32, segment: &Segment<'_>) {
        self.begin(number);
        let mut gaps = segment.gaps.iter().peekable();
        for (index, frame) in segment.frames.iter().enumerate() {
            while let Some(gap) = gaps.next_if(|gap| gap.frames_before <= index) {
                self.fault(number, index + 1, gap.offset, FaultKind::Damaged);
                self.expected = None;
            }
            let place = index + 1;
            if self.expected.is_some_and(|it| it != frame.previous) {
                self.fault(number, place, frame.offset, FaultKind::Unlinked);
            }
            // It stands at the end and no record names it.
            if let Some(tally) = Tally::decode(frame.body) {
                self.counted = tally.total();
                self.expected = Some(frame.previous);
                continue;
            }
            self.expected = Some(frame.hash);
            match Refusal::decode(frame.body) {
                Ok(refusal) => self.records.push(Record {
                    segment: number,
                    place,
                    hash: frame.hash,
                    refusal,
                }),
                Err(_) => self.fault(number, place, frame.offset, FaultKind::Unknown),
            }
        }
        for gap in gaps {
            let kind = match segment.torn() == Some(gap) {
                true => FaultKind::Torn,
                false => FaultKind::Damaged,
            };
            self.fault(number, segment.frames.len() + 1, gap.offset, kind);
            self.expected = None;
        }
    }

    /// There is no segment under this name that could be read.
    pub fn unreadable(&mut self, number: u32) {
        self.begin(number);
        self.fault(number, 1, 0, FaultKind::Unreadable);
        self.expected = None;
    }

    fn begin(&mut self, number: u32) {
        match self.newest {
            // Nothing comes before the first one of all.
            None if number == 0 => self.expected = Some(Digest::NONE),
            None => {}
            Some(before) if before + 1 < number => {
                self.fault(before + 1, 1, 0, FaultKind::Missing);
                self.expected = None;
            }
            Some(_) => {}
        }
        self.oldest = self.oldest.or(Some(number));
        self.newest = Some(number);
        self.counted = 0;
    }

    fn fault(&mut self, segment: u32, place: usize, offset: usize, kind: FaultKind) {
        self.faults.push(Fault {
            segment,
            place,
            offset,
            kind,
        });
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            segment,
            place,
            offset,
            kind,
        } = self;
        write!(
            f,
            "{segment:08}.log, record {place} (byte {offset}): {kind}"
        )
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Torn => "it was cut off, and the next record takes its place",
            Self::Damaged => "it is damaged",
            Self::Unlinked => "it doesn't name the record before it",
            Self::Unknown => "its text is none of this format",
            Self::Unreadable => "the segment can't be read",
            Self::Missing => "the segment is missing",
        })
    }
}
