//! What a package error says to do next: never nothing, and every `guild` command in it is one that the program has.

use clap::Parser;
use clap::error::ErrorKind;
use guild_cli::args::Cli;
use guild_cli::failure::Failure;
use guild_package::preflight::Refusal;
use guild_package::sign::Mistake;
use guild_package::trust::{Right, Role};
use guild_package::{Digest, Error};
use std::collections::BTreeSet;
use std::io;

/// Words that stand for something else in a message, and one of what they stand for.
const WORDS: [(&str, &str); 7] = [
    ("KEY.json", "key.json"),
    ("PREFIX", "org.example"),
    ("SECONDS", "5"),
    ("VERSION", "1.0.0"),
    ("BUNDLE", "package.gkernel"),
    ("FILE", "file"),
    ("KEY", "gk1-0123456789ab"),
];

const KEY: &str = "gk1-7192b85d6165b0426b9937394181d772405c81fc0495db133c4b9b822ec1cb54";

/// One error of each kind, and more of those whose advice depends on what they hold.
fn errors() -> Vec<Error> {
    let all = [
        of_signatures(),
        of_trust(),
        of_versions(),
        of_advisories(),
        of_stores(),
    ];
    all.into_iter().flatten().collect()
}

fn of_signatures() -> Vec<Error> {
    vec![
        Error::Usage {
            what: "what".into(),
            next: "next".into(),
        },
        Error::Unsigned { detail: "none" },
        Error::SignatureInvalid {
            key: KEY.parse().unwrap(),
            reason: "another",
        },
        Error::ExternalSignature {
            key: KEY.parse().unwrap(),
            signature: "sig".into(),
            request: "request".into(),
            mistake: Mistake::Prehash,
        },
        Error::KeyUntrusted {
            keys: vec![KEY.parse().unwrap()],
        },
        Error::KeyUnacceptable { reason: "weak" },
        Error::KeyRevoked {
            key: KEY.parse().unwrap(),
            status: "retired",
            reason: "old".into(),
        },
        Error::Malformed {
            what: "it".into(),
            detail: "x".into(),
        },
        Error::DigestMismatch {
            what: "it".into(),
            expected: Digest::NONE,
            found: Digest::NONE,
            next: "Get it again",
        },
        Error::OtherPackage {
            wanted: "a".into(),
            found: "b".into(),
        },
    ]
}

fn of_trust() -> Vec<Error> {
    let threshold = |role| Error::ThresholdNotMet {
        id: "org.example.a".parse().unwrap(),
        role,
        needed: 2,
        found: 1,
        uncounted: Vec::new(),
    };
    let publisher = |followed: &[&str], may: Option<&str>| Error::PublisherChanged {
        id: "org.example.a".parse().unwrap(),
        pinned: vec![KEY.parse().unwrap()],
        offered: vec![KEY.parse().unwrap()],
        followed_by: followed.iter().map(|key| key.parse().unwrap()).collect(),
        may_hand_on: may.map(|key| Box::new(key.parse().unwrap())),
    };
    let scope = |right, scope: &str| Error::ScopeDenied {
        key: KEY.parse().unwrap(),
        id: "org.example.a".parse().unwrap(),
        detail: "x".into(),
        right,
        scopes: vec![scope.parse().unwrap()],
    };
    vec![
        threshold("publish"),
        threshold("reviewer"),
        publisher(&[], Some(KEY)),
        publisher(&[KEY], None),
        publisher(&[], None),
        scope(Right::Publish, "org.other"),
        scope(Right::Epoch, "org.example"),
        scope(Right::Countersign(Role::Reviewer), "org.example"),
        scope(Right::Publish, "org.example.a"),
        Error::Checkpoint {
            detail: "x".into(),
            next: "Look at both",
        },
        Error::RotationDenied {
            key: KEY.parse().unwrap(),
            detail: "x".into(),
        },
    ]
}

fn of_versions() -> Vec<Error> {
    let (id, dependency) = ("org.example.a", "org.example.b");
    let still_needed = |becomes: Option<&str>| Error::StillNeeded {
        id: id.parse().unwrap(),
        by: vec![format!("{dependency} (^1)")],
        becomes: becomes.map(|version| version.parse().unwrap()),
    };
    let host = |min: &str, max: &str| Error::HostAbi {
        id: id.parse().unwrap(),
        version: Box::new("1.0.0".parse().unwrap()),
        host: "1.5".parse().unwrap(),
        host_min: min.parse().unwrap(),
        host_max: max.parse().unwrap(),
    };
    vec![
        Error::VersionImmutable {
            id: id.parse().unwrap(),
            version: Box::new("1.0.0".parse().unwrap()),
            pinned: Digest::NONE,
            offered: Digest::NONE,
        },
        Error::DowngradeRefused {
            id: id.parse().unwrap(),
            installed: "1.0.1".parse().unwrap(),
            offered: "1.0.0".parse().unwrap(),
        },
        Error::EpochBelowFloor {
            id: id.parse().unwrap(),
            version: "1.0.0".parse().unwrap(),
            epoch: 1,
            floor: 2,
        },
        Error::Expired {
            what: "it".into(),
            now_s: 5,
            from_s: 0,
            until_s: 4,
        },
        Error::Incompatible {
            id: id.parse().unwrap(),
            version: "1.0.0".parse().unwrap(),
            wanted: "linux-x".into(),
            offered: Vec::new(),
        },
        host("2.0", "2.0"),
        host("1.0", "1.0"),
        Error::DependencyMissing {
            id: id.parse().unwrap(),
            dependency: dependency.parse().unwrap(),
            requirement: "^1".into(),
            found: None,
        },
        still_needed(None),
        still_needed(Some("1.0.0")),
    ]
}

fn not_found() -> Error {
    Error::NotFound {
        what: "x".into(),
        next: "y".into(),
    }
}

fn of_advisories() -> Vec<Error> {
    vec![
        Error::AdvisoryDenied {
            line: "floor of x".into(),
            right: Right::Epoch,
            denials: Vec::new(),
        },
        Error::FloorRise {
            id: "org.example.a".parse().unwrap(),
            floor: 1,
            epoch: 5000,
        },
    ]
}

fn of_stores() -> Vec<Error> {
    let id = "org.example.a";
    let version = || Box::new("1.0.0".parse().unwrap());
    let refused = |below| Error::EnabledRefused {
        id: id.parse().unwrap(),
        version: version(),
        below,
        error: Box::new(Error::KeyRevoked {
            key: KEY.parse().unwrap(),
            status: "compromised",
            reason: "lost".into(),
        }),
    };
    let io = |kind: io::ErrorKind| Error::Io {
        action: "read",
        path: "x".into(),
        source: kind.into(),
    };
    vec![
        Error::Preflight {
            id: id.parse().unwrap(),
            version: version(),
            library: "lib/x.so".parse().unwrap(),
            refusal: Box::new(Refusal::NoteMissing),
        },
        Error::ProbeFailed {
            id: id.parse().unwrap(),
            version: version(),
            reason: "x".into(),
            next: "Ask",
        },
        refused(false),
        refused(true),
        Error::SessionsActive {
            id: id.parse().unwrap(),
            version: version(),
            sessions: Vec::new(),
            next: "End them",
        },
        Error::NothingSelected,
        Error::RollbackUnavailable {
            id: id.parse().unwrap(),
            wanted: None,
            reason: "x".into(),
            next: "y".into(),
            possible: Vec::new(),
            cause: None,
        },
        Error::StoreLocked {
            path: "x".into(),
            waited_ms: 1,
        },
        Error::StoreCorrupt {
            path: "x".into(),
            detail: "y".into(),
            next: "z",
        },
        Error::StoreUnsafe {
            path: "x".into(),
            detail: "y".into(),
            next: "z".into(),
        },
        not_found(),
        io(io::ErrorKind::NotFound),
        io(io::ErrorKind::PermissionDenied),
        io(io::ErrorKind::Other),
    ]
}

#[test]
fn every_kind_of_package_error_says_what_to_do_next() {
    let source = include_str!("../../guild-package/src/error.rs");
    let (_, body) = source.split_once("pub enum Error {").unwrap();
    let (body, _) = body.split_once("\n}\n").unwrap();
    let name = |line: &str| {
        let name = line.strip_prefix("    ")?;
        let name = name.strip_suffix(" {").or(name.strip_suffix(','))?;
        let is_name = name.starts_with(|c: char| c.is_ascii_uppercase());
        is_name.then(|| name.to_owned())
    };
    let kinds: BTreeSet<String> = body.lines().filter_map(name).collect();
    let kind = |error: &Error| {
        let text = format!("{error:?}");
        text.split([' ', '{']).next().unwrap_or_default().to_owned()
    };
    let seen: BTreeSet<String> = errors().iter().map(kind).collect();
    assert_eq!(seen, kinds, "an error without a sample here");
    for error in errors() {
        let (message, next) = (error.to_string(), error.next_step());
        assert!(!next.is_empty(), "{message}");
        // What happened and what to do stand apart.
        assert!(!message.contains(&next), "{message}");
        let failure = Failure::from(error);
        assert_eq!((failure.message, failure.hint), (message, next));
    }
}

/// Commands that are named without what they need are held to their options all the same.
#[test]
fn every_command_in_a_next_step_exists() {
    let mut checked = 0;
    for error in errors() {
        let next = error.next_step();
        let commands = next.split('`').skip(1).step_by(2);
        for line in commands.filter(|line| line.starts_with("guild ")) {
            let mut filled = line.to_owned();
            for (word, value) in WORDS {
                filled = filled.replace(word, value);
            }
            let parsed = Cli::try_parse_from(filled.split(' '));
            let fault = parsed.err().map(|error| error.kind());
            let lacks_only = fault.is_none_or(|kind| kind == ErrorKind::MissingRequiredArgument);
            assert!(lacks_only, "{line}: {fault:?}");
            checked += 1;
        }
    }
    assert!(checked >= 15, "only {checked} commands were found");
}
