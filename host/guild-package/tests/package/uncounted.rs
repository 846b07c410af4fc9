//! A bundle with too few signatures is refused with each one that is there and doesn't count, and why.

use guild_package::countersign::Addition;
use guild_package::error::NotCounted;
use guild_package::trust::{Grant, KeyStatus, Policy, Right, Role, Scope, Withdrawal};
use guild_package::{Code, Error, KeyId};

use crate::external::{countersigner, review, with};
use crate::fixture::{Bench, NOW_S, Publisher, grant};
use crate::versions::CPU;

/// A store whose policy wants so many publishers and reviewers, and a bundle by its publisher alone.
struct Vote {
    bench: Bench,
    bundle: Vec<u8>,
}

impl Vote {
    fn new(publish: u64, reviewer: u64, distinct_operators: bool) -> Self {
        let bench = Bench::new();
        let policy = Policy {
            prefix: "org.guild.kernels".parse().unwrap(),
            publish,
            reviewer,
            distinct_operators,
            strict_ambient: false,
            allow_ptx_jit: false,
        };
        bench.store.trust_policy(policy).unwrap();
        let bundle = bench.package(CPU, "1.0.0");
        Self { bench, bundle }
    }

    fn key(&self, name: &str) -> Publisher {
        Publisher::new(self.bench.path(), name)
    }

    fn trust(&self, key: &Publisher, grant: &Grant) {
        self.bench.store.trust_add(&key.record, grant).unwrap();
    }

    fn add(&mut self, key: &Publisher, addition: &Addition) {
        self.bundle = with(&self.bench, &self.bundle, key, addition);
    }

    fn revoke(&self, key: &Publisher, withdrawal: Withdrawal) {
        self.bench.revoke(key, withdrawal);
    }

    /// The bundle is refused, as one that lacks signatures of `role`, and these don't count.
    #[track_caller]
    fn refuses(&self, expected_role: &str, expected: &[(&Publisher, NotCounted)]) {
        let refused = self.bench.install(&self.bundle).unwrap_err();
        assert_eq!(refused.code(), Code::KeyUntrusted);
        let message = refused.to_string();
        let named = refused.refused().unwrap().keys;
        let Error::ThresholdNotMet {
            role, uncounted, ..
        } = refused
        else {
            panic!("{message}");
        };
        let expected: Vec<(KeyId, NotCounted)> = expected
            .iter()
            .map(|(key, why)| (key.record.id, why.clone()))
            .collect();
        let found: Vec<_> = uncounted
            .iter()
            .map(|it| (it.key, it.why.clone()))
            .collect();
        assert_eq!((role, &found), (expected_role, &expected), "{message}");
        for (key, why) in &expected {
            let words = format!("{} ({why})", key.short());
            assert!(message.contains(&words), "no `{words}` in: {message}");
        }
        assert_eq!(message.contains("not counted"), !expected.is_empty());
        assert_eq!(
            named,
            expected.iter().map(|(key, _)| *key).collect::<Vec<_>>()
        );
    }
}

fn lasting_until(until_s: u64, grant: Grant) -> Grant {
    Grant {
        not_after: Some(until_s),
        ..grant
    }
}

fn denied(detail: &str) -> NotCounted {
    NotCounted::Denied(detail.to_owned())
}

#[test]
fn a_publisher_that_doesn_t_count_is_named_with_the_reason() {
    let epoch_only = Scope {
        rights: vec![Right::Epoch],
        ..grant("org.guild").scopes[0].clone()
    };
    let epoch_only = Grant {
        scopes: vec![epoch_only],
        ..grant("org.guild")
    };
    let lacks = denied("scope org.guild lacks the right publish");
    for (rights, why) in [
        (None, NotCounted::Unknown),
        (Some(grant("org.other")), denied("no scope covers it")),
        (Some(epoch_only), lacks),
        (
            Some(lasting_until(NOW_S, grant("org.guild"))),
            NotCounted::OutOfTime,
        ),
    ] {
        let mut vote = Vote::new(2, 0, false);
        let second = vote.key("second");
        if let Some(rights) = rights {
            vote.trust(&second, &rights);
        }
        vote.add(&second, &Addition::Release);
        vote.refuses("publish", &[(&second, why)]);
    }
    for (withdrawal, status) in [
        (Withdrawal::Superseded, KeyStatus::Retired),
        (
            Withdrawal::Compromised { since_gen: 0 },
            KeyStatus::Compromised,
        ),
    ] {
        let mut vote = Vote::new(2, 0, false);
        let second = vote.key("second");
        vote.trust(&second, &grant("org.guild"));
        vote.add(&second, &Addition::Release);
        vote.revoke(&second, withdrawal);
        vote.refuses("publish", &[(&second, NotCounted::Withdrawn(status))]);
    }
    // Nobody else signed.
    Vote::new(2, 0, false).refuses("publish", &[]);
}

#[test]
fn publishers_of_one_operator_are_named_where_they_count_once() {
    let mut vote = Vote::new(2, 0, true);
    let twin = Publisher::like(vote.bench.path(), "twin", "publisher");
    vote.trust(&twin, &grant("org.guild"));
    vote.add(&twin, &Addition::Release);
    // The one with the lower id counts.
    let author = &vote.bench.publisher;
    let later = match author.record.id < twin.record.id {
        true => &twin,
        false => author,
    };
    vote.refuses("publish", &[(later, NotCounted::SameOperator)]);
}

#[test]
fn a_reviewer_that_doesn_t_count_is_named_with_the_reason() {
    let reviewer = countersigner(Role::Reviewer);
    let lacks = denied("scope org.guild lacks the right countersign:reviewer");
    let early = lasting_until(NOW_S, reviewer.clone());
    for (rights, why) in [
        (None, NotCounted::Unknown),
        (Some(countersigner(Role::Builder)), lacks),
        (Some(early), NotCounted::OutOfTime),
    ] {
        let mut vote = Vote::new(1, 1, false);
        let key = vote.key("reviewer");
        if let Some(rights) = rights {
            vote.trust(&key, &rights);
        }
        vote.add(&key, &review("good"));
        vote.refuses("reviewer", &[(&key, why)]);
    }
    let mut vote = Vote::new(1, 1, false);
    let key = vote.key("reviewer");
    vote.trust(&key, &reviewer);
    vote.add(&key, &review("good"));
    vote.revoke(&key, Withdrawal::Superseded);
    let retired = NotCounted::Withdrawn(KeyStatus::Retired);
    vote.refuses("reviewer", &[(&key, retired)]);
}

#[test]
fn a_reviewer_s_word_counts_for_its_time_and_its_role() {
    let mut vote = Vote::new(1, 2, false);
    let [key, other] = ["reviewer", "other"].map(|name| vote.key(name));
    vote.trust(&key, &countersigner(Role::Reviewer));
    vote.trust(&other, &countersigner(Role::Builder));
    let until = |expires_at| Addition::Statement {
        role: Role::Reviewer,
        statement: "good".parse().unwrap(),
        issued_at: 1,
        expires_at,
    };
    vote.add(&key, &until(Some(NOW_S)));
    vote.refuses("reviewer", &[(&key, NotCounted::StatementOver)]);
    // It counts by another statement, and a builder's isn't one of a reviewer.
    vote.add(&key, &until(None));
    let built = Addition::Statement {
        role: Role::Builder,
        statement: "same bytes".parse().unwrap(),
        issued_at: 1,
        expires_at: Some(NOW_S),
    };
    vote.add(&other, &built);
    vote.refuses("reviewer", &[]);
}

#[test]
fn publishers_and_their_operators_are_named_as_no_reviewers() {
    let mut vote = Vote::new(1, 1, true);
    let author = &vote.bench.publisher;
    let mut rights = grant("org.guild.kernels");
    rights.scopes[0]
        .rights
        .push(Right::Countersign(Role::Reviewer));
    vote.trust(author, &rights);
    let own = with(&vote.bench, &vote.bundle, author, &review("I wrote it"));
    vote.bundle = own;
    let author = &vote.bench.publisher;
    vote.refuses("reviewer", &[(author, NotCounted::Publisher)]);
    let mut vote = Vote::new(1, 2, true);
    let twin = Publisher::like(vote.bench.path(), "twin", "publisher");
    let [first, second] =
        ["first", "second"].map(|name| Publisher::like(vote.bench.path(), name, "reviewers"));
    for key in [&twin, &first, &second] {
        vote.trust(key, &countersigner(Role::Reviewer));
        vote.add(key, &review("good"));
    }
    let later = match first.record.id < second.record.id {
        true => &second,
        false => &first,
    };
    let expected = [
        (&twin, NotCounted::PublisherOperator),
        (later, NotCounted::SameOperator),
    ];
    vote.refuses("reviewer", &expected);
}
