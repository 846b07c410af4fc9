//! The audit log: its bytes, and what any of them being wrong costs.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use guild_package::audit::{
    Appended, Attempt, AuditLog, Fault, FaultKind, RECORD_MAX_BYTES, Refusal, Refused, Segment,
    Subject,
};
use guild_package::{Code, Digest, Error, KeyId};
use proptest::prelude::*;

/// When the first refusal of a test is.
pub const START_S: u64 = 1_800_000_000;
/// Longer than refusals that are alike are counted instead of written.
const APART_S: u64 = 60;

/// A log in a folder of its own.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    pub fn dir(&self) -> PathBuf {
        self.folder.path().join("audit")
    }

    pub fn log(&self) -> AuditLog {
        AuditLog::open_or_make(&self.dir(), false).unwrap()
    }

    pub fn segment(&self, number: u32) -> PathBuf {
        self.dir().join(format!("{number:08}.log"))
    }

    /// The only segment is this.
    fn with_segment(bytes: &[u8]) -> Self {
        let place = Self::new();
        place.log();
        fs::write(place.segment(0), bytes).unwrap();
        place
    }

    pub fn refusals(&self) -> Vec<Refusal> {
        let records = self.log().read().unwrap();
        records.into_iter().map(|record| record.refusal).collect()
    }

    pub fn faults(&self) -> Vec<Fault> {
        self.log().verify().unwrap().faults
    }
}

/// A refusal of one of the packages, by number.
pub fn refusal(at: u64, package: usize) -> Refusal {
    let refused = Refused::new("PREFLIGHT_REFUSED");
    let subject: Subject = format!("org.example.p{package}@1.0.0").parse().unwrap();
    let refused = refused.about(Some(subject));
    Refusal::new(at, Attempt::Enable, refused, "it breaks a rule")
}

fn key(name: &str) -> KeyId {
    format!("gk1-{}", Digest::of(name.as_bytes()))
        .parse()
        .unwrap()
}

/// Three records and a tally. The expected bytes come from a Python program that knows only the description:
///
/// ```python
/// import hashlib, struct
/// def record(previous, body):
///     head = struct.pack("<I", len(body)) + previous + body
///     return head + hashlib.sha256(head).digest()
/// hexsha = lambda data: hashlib.sha256(data).hexdigest()
/// bundle, key = hexsha(b"bundle"), "gk1-" + hexsha(b"key")
/// body = ('{"schema":1,"at":%d,"code":"KEY_UNTRUSTED","command":"install","subject":"' + bundle + '","keys":["' + key
///         + '"],"uid":0,"detail":"signed by \\"nobody\\""%s}')
/// a = record(bytes(32), (body % (1800000000, "")).encode())
/// b = record(a[-32:], (body % (1800000060, ',"repeated":2')).encode())
/// c = record(b[-32:], b'{"schema":1,"at":1800000061,"code":"PROBE_FAILED","command":"load",'
///            b'"subject":"org.example.kernels@1.2.3","keys":[],"uid":0,"detail":"it ended"}')
/// kind = hexsha(('["KEY_UNTRUSTED","install","' + bundle + '",["' + key + '"]]').encode())
/// t = record(c[-32:], ('{"schema":1,"repeats":[{"kind":"' + kind + '","count":1}],"dropped":0}').encode())
/// print(len(a + b + c + t), hexsha(a + b + c + t))
/// ```
#[test]
fn the_bytes_are_the_documented_ones() {
    let place = Place::new();
    let log = place.log();
    let untrusted = |at| {
        let refused = Refused {
            code: Code::KeyUntrusted.name(),
            subject: Some(Subject::Bundle(Digest::of(b"bundle"))),
            keys: vec![key("key")],
        };
        let refusal = Refusal::new(at, Attempt::Install, refused, "signed by \"nobody\"\nmore");
        Refusal { uid: 0, ..refusal }
    };
    let failed = Refused {
        code: Code::ProbeFailed.name(),
        subject: Some("org.example.kernels@1.2.3".parse().unwrap()),
        keys: Vec::new(),
    };
    let failed = Refusal::new(START_S + 61, Attempt::Load, failed, "it ended");
    let failed = Refusal { uid: 0, ..failed };
    for (refusal, appended) in [
        (untrusted(START_S), Appended::Written),
        (untrusted(START_S + 1), Appended::Counted),
        (untrusted(START_S + 59), Appended::Counted),
        (untrusted(START_S + 60), Appended::Written),
        (failed, Appended::Written),
        (untrusted(START_S + 62), Appended::Counted),
    ] {
        assert_eq!(log.append(&refusal).unwrap(), appended, "{refusal:?}");
    }
    let bytes = fs::read(place.segment(0)).unwrap();
    assert_eq!(bytes.len(), 1086);
    assert_eq!(
        Digest::of(&bytes).to_string(),
        "32a3ca8209b82423b2639f30aee833d948bdcfee9e31d02223967fabe1bf3fd7"
    );
    let verified = log.verify().unwrap();
    assert_eq!((verified.records, verified.counted), (3, 1));
    assert!(verified.faults.is_empty(), "{:?}", verified.faults);
}

#[test]
fn the_largest_record_has_room() {
    let place = Place::new();
    let id = format!("org.{}", "a".repeat(92));
    let version = format!("1.0.0-{}", "b".repeat(58));
    let refused = Refused {
        code: "A_CODE_THAT_IS_AS_LONG_AS_IT_CAN",
        subject: Some(format!("{id}@{version}").parse().unwrap()),
        keys: (0..40).map(|n| key(&n.to_string())).collect(),
    };
    let mut largest = Refusal::new(
        guild_package::limits::JSON_MAX_INTEGER,
        Attempt::Rollback,
        refused,
        &"\"\\".repeat(600),
    );
    largest.uid = u32::MAX;
    place.log().append(&largest).unwrap();
    assert_eq!(largest.keys.len(), 32);
    assert_eq!(place.refusals(), [largest]);
    let length = fs::metadata(place.segment(0)).unwrap().len();
    assert!(
        length > 3500 && length <= RECORD_MAX_BYTES as u64,
        "{length}"
    );
}

/// A log of four records and a tally, with where each begins.
fn small_log() -> (Vec<Refusal>, Vec<u8>, Vec<usize>) {
    let place = Place::new();
    let refusals: Vec<_> = (0..4).map(|n| refusal(START_S + n as u64, n)).collect();
    for refusal in refusals.iter().chain(&refusals[..1]) {
        place.log().append(refusal).unwrap();
    }
    let bytes = fs::read(place.segment(0)).unwrap();
    let segment = Segment::parse(&bytes);
    let starts = segment.frames.iter().map(|frame| frame.offset).collect();
    assert_eq!(place.refusals(), refusals);
    (refusals, bytes, starts)
}

#[test]
fn a_log_cut_anywhere_keeps_its_whole_records_and_takes_more() {
    let (refusals, bytes, starts) = small_log();
    assert_eq!(starts.len(), 5);
    for length in 0..bytes.len() {
        let place = Place::with_segment(&bytes[..length]);
        let ends = starts.iter().skip(1);
        let whole = ends.filter(|end| **end <= length).count();
        assert_eq!(place.refusals(), refusals[..whole], "cut at {length}");
        let is_torn = !starts.contains(&length);
        let faults = place.faults();
        assert_eq!(faults.len(), usize::from(is_torn), "cut at {length}");
        for fault in faults {
            assert_eq!((fault.kind, fault.place), (FaultKind::Torn, whole + 1));
            assert_eq!(fault.offset, starts[whole]);
        }
        let next = refusal(START_S + 2 * APART_S, 9);
        place.log().append(&next).unwrap();
        let expected = [&refusals[..whole], &[next]].concat();
        assert_eq!(place.refusals(), expected, "cut at {length}");
        assert!(place.faults().is_empty(), "cut at {length}");
        assert!(!place.segment(1).exists());
    }
}

#[test]
fn a_flipped_byte_is_named_and_costs_its_own_record_alone() {
    let (refusals, bytes, starts) = small_log();
    for offset in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[offset] ^= 1 << (offset % 8);
        let place = Place::with_segment(&flipped);
        let hit = starts.iter().filter(|start| **start <= offset).count() - 1;
        let mut left = refusals.clone();
        left.splice(hit..(hit + 1).min(refusals.len()), []);
        assert_eq!(place.refusals(), left, "byte {offset}");
        let kind = match hit == starts.len() - 1 {
            true => FaultKind::Torn,
            false => FaultKind::Damaged,
        };
        let fault = Fault {
            segment: 0,
            place: hit + 1,
            offset: starts[hit],
            kind,
        };
        assert_eq!(place.faults(), [fault], "byte {offset}");
        let next = refusal(START_S + 2 * APART_S, 9);
        place.log().append(&next).unwrap();
        left.push(next);
        assert_eq!(place.refusals(), left, "byte {offset}");
        // What isn't the end is evidence, and stays.
        let is_kept = kind == FaultKind::Damaged;
        assert_eq!(place.segment(1).exists(), is_kept, "byte {offset}");
        assert_eq!(place.faults().len(), usize::from(is_kept));
        if is_kept {
            assert_eq!(fs::read(place.segment(0)).unwrap(), flipped);
        }
    }
}

/// Zeros too, which a power loss leaves where a file had grown.
#[test]
fn a_tail_that_one_append_can_t_have_left_is_kept() {
    let (refusals, bytes, _) = small_log();
    for fill in [0, b'x', 1] {
        for (length, kind) in [
            (2 * RECORD_MAX_BYTES, FaultKind::Torn),
            (2 * RECORD_MAX_BYTES + 1, FaultKind::Damaged),
        ] {
            let tail = vec![fill; length];
            let place = Place::with_segment(&[bytes.as_slice(), &tail].concat());
            let found = place.faults()[0];
            assert_eq!((found.kind, found.offset), (kind, bytes.len()));
            let next = refusal(START_S + 2 * APART_S, 9);
            place.log().append(&next).unwrap();
            let expected = [refusals.as_slice(), &[next]].concat();
            assert_eq!(place.refusals(), expected);
            let is_kept = kind == FaultKind::Damaged;
            assert_eq!(place.segment(1).exists(), is_kept);
            assert_eq!(place.faults().len(), usize::from(is_kept));
        }
    }
}

#[test]
fn a_record_that_was_taken_out_or_moved_is_named() {
    let (_, bytes, starts) = small_log();
    let part = |index: usize| &bytes[starts[index]..starts[index + 1]];
    for (parts, place) in [
        (vec![part(1), part(2)], 1),
        (vec![part(0), part(2)], 2),
        (vec![part(0), part(1), part(1)], 3),
        (vec![part(0), part(2), part(1), part(3)], 2),
    ] {
        let faults = Place::with_segment(&parts.concat()).faults();
        let fault = faults.first().map(|fault| (fault.kind, fault.place));
        assert_eq!(fault, Some((FaultKind::Unlinked, place)));
    }
}

/// Two files that strangers signed have no other subject.
#[test]
fn refusals_of_other_signers_are_others() {
    let place = Place::new();
    let by = |name: &str, at| {
        let refused = Refused {
            code: Code::KeyUntrusted.name(),
            subject: None,
            keys: vec![key(name)],
        };
        Refusal::new(at, Attempt::Trust, refused, "nobody knows the signer")
    };
    for (refusal, appended) in [
        (by("one", START_S), Appended::Written),
        (by("two", START_S), Appended::Written),
        (by("one", START_S + 1), Appended::Counted),
    ] {
        assert_eq!(place.log().append(&refusal).unwrap(), appended);
    }
}

#[test]
fn what_is_no_segment_stays_and_another_one_begins() {
    let long = vec![b'x'; (1 << 20) + 1];
    let make = |what: &str, path: &Path| match what {
        "a link" => symlink("elsewhere", path).unwrap(),
        "a long file" => fs::write(path, &long).unwrap(),
        _ => fs::create_dir(path).unwrap(),
    };
    for what in ["a link", "a long file", "a folder"] {
        let place = Place::new();
        place.log();
        let outside = place.dir().join("elsewhere");
        fs::write(&outside, "untouched").unwrap();
        make(what, &place.segment(0));
        let next = refusal(START_S, 1);
        place.log().append(&next).unwrap();
        assert_eq!(place.refusals(), [next], "{what}");
        let faults = place.faults();
        assert_eq!(faults.len(), 1, "{what}");
        assert_eq!(faults[0].kind, FaultKind::Unreadable, "{what}");
        assert_eq!(fs::read(&outside).unwrap(), b"untouched");
    }
}

#[test]
fn the_folder_is_private_and_no_link_is_followed() {
    let place = Place::new();
    place.log().append(&refusal(START_S, 1)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&place.dir()), 0o700);
    assert_eq!(mode(&place.segment(0)), 0o600);

    // In a folder that others may read too.
    fs::remove_file(place.segment(0)).unwrap();
    fs::set_permissions(place.dir(), fs::Permissions::from_mode(0o755)).unwrap();
    place.log().append(&refusal(START_S, 1)).unwrap();
    assert_eq!(mode(&place.segment(0)), 0o600);
    fs::set_permissions(place.dir(), fs::Permissions::from_mode(0o722)).unwrap();
    let refused = AuditLog::open(&place.dir()).unwrap_err();
    assert_eq!(refused.code(), Code::StoreCorrupt, "{refused}");

    // Above the log is the folder that the store will be in.
    for (shared, above) in [(false, 0o700), (true, 0o755)] {
        let new = place.folder.path().join(format!("{above:o}/guild"));
        AuditLog::open_or_make(&new.join("audit"), shared).unwrap();
        assert_eq!((mode(&new), mode(&new.join("audit"))), (above, 0o700));
    }

    let linked = Place::new();
    fs::set_permissions(place.dir(), fs::Permissions::from_mode(0o700)).unwrap();
    symlink(place.dir(), linked.dir()).unwrap();
    let refused = AuditLog::open_or_make(&linked.dir(), false).unwrap_err();
    assert_eq!(refused.code(), Code::Io, "{refused}");
    // A link that leads nowhere isn't followed either.
    fs::remove_file(linked.dir()).unwrap();
    symlink(linked.folder.path().join("nowhere"), linked.dir()).unwrap();
    assert!(AuditLog::open_or_make(&linked.dir(), false).is_err());
    assert!(!linked.folder.path().join("nowhere").exists());
}

#[test]
fn errors_say_what_is_a_refusal_and_of_what() {
    let (id, version) = ("org.example.p1".parse().unwrap(), "1.0.0".parse().unwrap());
    let failed = Error::ProbeFailed {
        id,
        version: Box::new(version),
        reason: "it ended".to_owned(),
        next: "",
    };
    let refused = failed.refused().unwrap();
    assert_eq!(refused.code, "PROBE_FAILED");
    assert_eq!(refused.subject, "org.example.p1@1.0.0".parse().ok());
    // A rollback has the code of what stands in its way.
    let rollback = |cause| Error::RollbackUnavailable {
        id: "org.example.p1".parse().unwrap(),
        wanted: Some(Box::new("1.0.1".parse().unwrap())),
        next: "go on without it".to_owned(),
        reason: String::new(),
        possible: Vec::new(),
        cause,
    };
    let revoked = Error::KeyRevoked {
        key: key("old"),
        status: "compromised",
        reason: String::new(),
    };
    let refused = rollback(Some(Box::new(revoked))).refused().unwrap();
    assert_eq!(refused.code, "KEY_REVOKED");
    assert_eq!(refused.keys, [key("old")]);
    assert_eq!(refused.subject, "org.example.p1@1.0.1".parse().ok());
    let missing = Error::NotFound {
        what: String::new(),
        next: String::new(),
    };
    for error in [rollback(None), rollback(Some(Box::new(missing)))] {
        assert_eq!(error.refused(), None, "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is appended and whenever: what was written reads back in order, and what wasn't is counted once.
    #[test]
    fn any_sequence_of_appends_reads_back(appends in prop::collection::vec((0_usize..4, 0_u64..100), 1..40)) {
        let place = Place::new();
        let (mut at, mut written) = (START_S, Vec::new());
        for (package, later) in &appends {
            at += later;
            let refusal = refusal(at, *package);
            if place.log().append(&refusal).unwrap() == Appended::Written {
                written.push(refusal);
            }
        }
        let read = place.refusals();
        let plain = |refusal: &Refusal| Refusal { repeated: None, ..refusal.clone() };
        prop_assert_eq!(read.iter().map(plain).collect::<Vec<_>>(), written);
        let verified = place.log().verify().unwrap();
        prop_assert!(verified.faults.is_empty());
        let repeated: u64 = read.iter().filter_map(|refusal| refusal.repeated).sum();
        prop_assert_eq!(read.len() as u64 + repeated + verified.counted, appends.len() as u64);
    }

    /// Any bytes are whole records and gaps, without anything left over.
    #[test]
    fn any_bytes_are_records_and_gaps(pieces in prop::collection::vec(prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        (0_usize..5).prop_map(|index| {
            let (_, bytes, starts) = small_log_once();
            let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
            let (start, end) = starts.iter().copied().zip(ends).nth(index).unwrap();
            bytes[start..end].to_vec()
        }),
    ], 0..8)) {
        let bytes = pieces.concat();
        let segment = Segment::parse(&bytes);
        let mut parts: Vec<(usize, usize)> = segment.gaps.iter().map(|gap| (gap.offset, gap.offset + gap.length)).collect();
        parts.extend(segment.frames.iter().map(|frame| (frame.offset, frame.end())));
        parts.sort_unstable();
        let mut end = 0;
        for (start, next) in parts {
            prop_assert_eq!(start, end);
            prop_assert!(next > start);
            end = next;
        }
        prop_assert_eq!(end, bytes.len());
    }
}

fn small_log_once() -> &'static (Vec<Refusal>, Vec<u8>, Vec<usize>) {
    static LOG: std::sync::OnceLock<(Vec<Refusal>, Vec<u8>, Vec<usize>)> =
        std::sync::OnceLock::new();
    LOG.get_or_init(small_log)
}
