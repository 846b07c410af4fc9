//! The audit log under many refusals: what is written, what is counted, and what goes first when there is no room.

use std::fs;

use guild_package::Digest;
use guild_package::audit::{Appended, FaultKind, RATE_LIMITED, Refusal};

use crate::audit::{Place, START_S, refusal};

#[test]
fn the_same_is_written_once_a_minute_and_counted_between() {
    let place = Place::new();
    let append = |at, package| place.log().append(&refusal(at, package)).unwrap();
    assert_eq!(append(START_S, 1), Appended::Written);
    for later in [0, 1, 30, 59] {
        assert_eq!(append(START_S + later, 1), Appended::Counted);
    }
    // Another package is another matter, and doesn't take the count.
    assert_eq!(append(START_S + 59, 2), Appended::Written);
    assert_eq!(append(START_S + 60, 1), Appended::Written);
    assert_eq!(append(START_S + 61, 1), Appended::Counted);
    assert_eq!(place.log().verify().unwrap().counted, 1);
    let rows: Vec<_> = place.refusals();
    let counts: Vec<_> = rows
        .iter()
        .map(|row| (row.at - START_S, row.repeated))
        .collect();
    assert_eq!(counts, [(0, None), (59, None), (60, Some(4))]);
    // The count outlives a long silence.
    assert_eq!(append(START_S + 100_000, 1), Appended::Written);
    assert_eq!(place.refusals().last().unwrap().repeated, Some(1));
    assert_eq!(place.log().verify().unwrap().counted, 0);
    // A clock that was set back by more than a minute doesn't silence anybody.
    assert_eq!(append(START_S + 99_000, 1), Appended::Written);
}

#[test]
fn a_hundred_a_minute_are_written_and_one_says_that_there_were_more() {
    let place = Place::new();
    let log = place.log();
    let written = |at, packages: std::ops::Range<usize>| {
        let written = packages
            .filter(|package| log.append(&refusal(at, *package)).unwrap() == Appended::Written);
        written.count()
    };
    assert_eq!(written(START_S, 0..100), 100);
    assert_eq!(written(START_S + 1, 100..140), 1);
    let rows = place.refusals();
    assert_eq!(rows.len(), 101);
    let limited = rows.last().unwrap();
    assert_eq!(
        (limited.code.as_str(), &limited.subject),
        (RATE_LIMITED, &None)
    );
    assert_eq!(log.verify().unwrap().counted, 40);
    // The first hundred are a minute old.
    assert_eq!(written(START_S + 60, 200..201), 1);
    let rows = place.refusals();
    assert_eq!(rows.last().unwrap().dropped, Some(40));
    assert_eq!(log.verify().unwrap().counted, 0);
    assert!(log.verify().unwrap().faults.is_empty());
}

/// Kinds that are counted apart have a limit too; those that go are counted with the others.
#[test]
fn no_count_is_lost_where_there_are_many_kinds() {
    let place = Place::new();
    for _ in 0..3 {
        for package in 0..50 {
            place.log().append(&refusal(START_S, package)).unwrap();
        }
    }
    assert_eq!(place.log().verify().unwrap().counted, 100);
    let length = fs::metadata(place.segment(0)).unwrap().len();
    for package in 0..50 {
        place.log().append(&refusal(START_S, package)).unwrap();
    }
    assert_eq!(place.log().verify().unwrap().counted, 150);
    assert!(fs::metadata(place.segment(0)).unwrap().len() < length + 64);
    place.log().append(&refusal(START_S + 60, 60)).unwrap();
    let dropped = place.refusals().last().unwrap().dropped.unwrap();
    assert_eq!(place.log().verify().unwrap().counted + dropped, 150);
}

/// A record by this file's own hand.
fn record(previous: Digest, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_le_bytes();
    let covered = [&length, previous.as_bytes().as_slice(), body].concat();
    let hash = Digest::of(&covered);
    [&covered, hash.as_bytes().as_slice()].concat()
}

/// As many records as a segment has room for, and the hash of the last.
fn full_segment(mut previous: Digest, number: u64) -> (Vec<u8>, Digest, usize) {
    let (mut bytes, mut count) = (Vec::new(), 0);
    loop {
        let refusal = refusal(START_S + number, count);
        let next = record(previous, &refusal.encode().unwrap());
        if bytes.len() + next.len() > 1 << 20 {
            return (bytes, previous, count);
        }
        previous = Digest::from_bytes(*next.last_chunk().unwrap());
        bytes.extend(next);
        count += 1;
    }
}

#[test]
fn a_ninth_segment_takes_the_place_of_the_oldest_and_the_chain_goes_on() {
    let place = Place::new();
    place.log();
    let (mut previous, mut records) = (Digest::NONE, Vec::new());
    for number in 0..8 {
        let (bytes, last, count) = full_segment(previous, number);
        fs::write(place.segment(u32::try_from(number).unwrap()), bytes).unwrap();
        previous = last;
        records.push(count);
    }
    let log = place.log();
    let before = log.verify().unwrap();
    assert_eq!((before.segments, before.faults), (8, Vec::new()));
    let next: Vec<Refusal> = (1..=3).map(|n| refusal(START_S + 1000 * n, 1)).collect();
    for refusal in &next {
        assert_eq!(log.append(refusal).unwrap(), Appended::Written);
    }
    assert!(!place.segment(0).exists() && place.segment(8).exists());
    let after = log.verify().unwrap();
    // The first record that is kept names one that is gone, and is believed.
    assert_eq!((after.segments, after.faults), (8, Vec::new()));
    let kept: usize = records[1..].iter().sum();
    assert_eq!(after.records, kept + next.len());
    let read = place.refusals();
    assert_eq!(read[kept..], next);
    for number in 1..=8 {
        assert!(fs::metadata(place.segment(number)).unwrap().len() <= 1 << 20);
    }
    // One that goes missing from the middle is no deletion of the oldest.
    fs::remove_file(place.segment(4)).unwrap();
    let faults = place.faults();
    assert_eq!(faults.len(), 1);
    assert_eq!((faults[0].segment, faults[0].kind), (4, FaultKind::Missing));
}

/// The count of a minute doesn't begin anew with a segment, and a segment that was begun and not written is taken.
#[test]
fn limits_and_chain_reach_over_the_end_of_a_segment() {
    let place = Place::new();
    place.log();
    let (bytes, ..) = full_segment(Digest::NONE, 0);
    fs::write(place.segment(0), &bytes).unwrap();
    fs::write(place.segment(1), b"").unwrap();
    let log = place.log();
    let full = log.verify().unwrap().records;
    // The last hundred of the full segment are from this minute.
    let alike = refusal(START_S + 1, full - 1);
    assert_eq!(log.append(&alike).unwrap(), Appended::Counted);
    let other = refusal(START_S + 1, full + 1);
    assert_eq!(log.append(&other).unwrap(), Appended::Written);
    let rows = place.refusals();
    assert_eq!(rows[full].code, RATE_LIMITED);
    // Also now that the newest segment has a record.
    let alike = refusal(START_S + 1, full - 2);
    assert_eq!(log.append(&alike).unwrap(), Appended::Counted);
    assert_eq!(place.refusals().len(), full + 1);
    let verified = log.verify().unwrap();
    assert_eq!((verified.counted, verified.faults), (3, Vec::new()));
    assert_eq!(fs::read(place.segment(0)).unwrap(), bytes);
}
