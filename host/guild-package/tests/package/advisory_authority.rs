//! Who may say what in an advisory. Rows 34, 50 and 52.

use guild_package::advisory::WithdrawnAs::{Compromised, Superseded};
use guild_package::limits::EPOCH_RISE_MAX;
use guild_package::manifest::Kind;
use guild_package::trust::{Grant, Right, Scope, Withdrawal};
use guild_package::{Code, Error};

use crate::desk::{Desk, body, grant, publishing, revoking, scope};
use crate::fixture::{NOW_S, Publisher};
use crate::versions::CPU;

#[test]
fn a_signer_is_active_and_inside_its_time() {
    let desk = Desk::new();
    let said = body(&[], &[(CPU, 2)]);
    let rights = [Right::Epoch, Right::Revoke];
    // Times are compared with the real clock, which is far from both.
    let timed = |name: &str, not_before, not_after| {
        let key = Publisher::new(desk.bench.path(), name);
        let grant = Grant {
            not_before,
            not_after,
            ..grant(&[scope("org.guild", &rights)])
        };
        desk.bench.store.trust_add(&key.record, &grant).unwrap();
        key
    };
    let late = timed("late", None, Some(NOW_S - 1_000_000_000));
    let early = timed("early", Some(NOW_S * 10), None);
    desk.refuses(&said, &[&late], Code::Expired, &[]);
    desk.refuses(&said, &[&early], Code::Expired, &[]);
    let names = ["superseded", "compromised"];
    let [superseded, compromised] = names.map(|name| timed(name, None, None));
    desk.revoke(&superseded, Withdrawal::Superseded);
    desk.revoke(&compromised, Withdrawal::Compromised { since_gen: 0 });
    desk.refuses(&said, &[&superseded], Code::KeyRevoked, &["retired"]);
    desk.refuses(&said, &[&compromised], Code::KeyRevoked, &["compromised"]);
    // One that may sign doesn't make up for another.
    for other in [&late, &superseded] {
        let before = desk.bench.listing();
        assert!(desk.take(&said, &[&desk.author, other]).is_err());
        assert_eq!(desk.bench.listing(), before);
    }
    desk.take(&said, &[&desk.author]).unwrap();
}

#[test]
fn row_52_a_signer_s_time_is_judged_by_the_newest_that_was_seen() {
    let desk = Desk::without_package();
    let until_s = 1 << 40;
    let key = Publisher::new(desk.bench.path(), "until");
    let grant = Grant {
        not_after: Some(until_s),
        ..grant(&[scope("org.guild", &[Right::Epoch])])
    };
    desk.bench.store.trust_add(&key.record, &grant).unwrap();
    desk.take(&body(&[], &[(CPU, 1)]), &[&key]).unwrap();
    // The clock stood there once, and was turned back.
    desk.bench
        .force_generation(|generation| generation.time_seen = until_s);
    desk.refuses(&body(&[], &[(CPU, 2)]), &[&key], Code::Expired, &[]);
}

#[test]
fn each_line_needs_its_right() {
    let desk = Desk::new();
    let epoch = desk.key("epoch", &[scope("org.guild", &[Right::Epoch])]);
    let revoke = desk.key("revoke", &[revoking("org.guild")]);
    let publish = desk.key("publish", &[publishing("org.guild")]);
    let withdraws = body(&[(&desk.author, Superseded)], &[]);
    let raises = body(&[], &[(CPU, 2)]);
    let author = desk.author.record.id.to_string();
    for signer in [&epoch, &publish] {
        let id = signer.record.id.to_string();
        let words = [&author, &id, "withdrawal", "lacks the right revoke"];
        desk.refuses(&withdraws, &[signer], Code::ScopeDenied, &words);
    }
    for signer in [&revoke, &publish] {
        let id = signer.record.id.to_string();
        let words = ["floor of", CPU, &id, "lacks the right epoch"];
        desk.refuses(&raises, &[signer], Code::ScopeDenied, &words);
    }
    // Not even itself.
    let itself = body(&[(&publish, Compromised)], &[]);
    desk.refuses(&itself, &[&publish], Code::ScopeDenied, &["right revoke"]);
    // All of it or nothing: one line that isn't covered refuses the others.
    let both = body(&[(&desk.author, Superseded)], &[(CPU, 2)]);
    desk.refuses(&both, &[&revoke], Code::ScopeDenied, &["floor of"]);
    desk.refuses(&both, &[&epoch], Code::ScopeDenied, &["withdrawal of"]);
    let two = body(&[], &[(CPU, 2), ("org.other.kernels", 2)]);
    desk.refuses(&two, &[&epoch], Code::ScopeDenied, &["org.other.kernels"]);
    // Each line by another signer will do.
    let taken = desk.take(&both, &[&revoke, &epoch]).unwrap();
    assert_eq!((taken.withdrawals.len(), taken.floors.len()), (1, 1));
}

#[test]
fn row_34_a_withdrawal_is_covered_in_every_scope_of_the_key() {
    let desk = Desk::without_package();
    let mut count = 0;
    let mut case = |signer: &[Scope], of: &[Scope], is_covered: bool| {
        count += 1;
        let signer = desk.key(&format!("signer {count}"), signer);
        let key = desk.key(&format!("key {count}"), of);
        let said = body(&[(&key, Superseded)], &[]);
        match is_covered {
            true => assert!(desk.take(&said, &[&signer]).unwrap().is_new(), "{count}"),
            false => desk.refuses(&said, &[&signer], Code::ScopeDenied, &["withdrawal"]),
        }
    };
    let acme = || revoking("org.acme");
    case(&[acme()], &[publishing("org.acme")], true);
    case(&[acme()], &[publishing("org.acme.kernels")], true);
    case(&[revoking("*")], &[publishing("org.acme")], true);
    // Whole labels, and neither a sibling nor a parent.
    case(&[acme()], &[publishing("org.acmecorp")], false);
    case(
        &[revoking("org.acmecorp")],
        &[publishing("org.acme")],
        false,
    );
    case(&[acme()], &[publishing("org")], false);
    case(&[acme()], &[publishing("*")], false);
    // Every one of its scopes.
    let two = [publishing("org.acme"), publishing("org.other")];
    case(&[acme()], &two, false);
    case(&[acme(), revoking("org.other")], &two, true);
    // The longest prefix decides alone, also where it lies below the key's scope.
    let split = [acme(), publishing("org.acme.private")];
    case(&split, &[publishing("org.acme")], false);
    case(&split, &[publishing("org.acme.private.x")], false);
    case(&split, &[publishing("org.acme.public")], true);
    let split = [publishing("org.acme"), revoking("org.acme.private")];
    case(&split, &[publishing("org.acme.private")], true);
    // The same kinds of bundle and the same machines.
    let kernels = |scope: Scope| Scope {
        kinds: vec![Kind::GKernel],
        ..scope
    };
    case(&[kernels(acme())], &[publishing("org.acme")], false);
    case(&[kernels(acme())], &[kernels(publishing("org.acme"))], true);
    let on = |scope: Scope, targets: &[&str]| Scope {
        targets: targets.iter().map(|it| it.parse().unwrap()).collect(),
        ..scope
    };
    let both = ["linux-aarch64", "linux-x86_64"];
    case(&[on(acme(), &both)], &[publishing("org.acme")], false);
    let here = |scope| on(scope, &both[1..]);
    case(&[here(acme())], &[on(publishing("org.acme"), &both)], false);
    case(&[on(acme(), &both)], &[here(publishing("org.acme"))], true);
}

/// No two signers make up a right that none of them has.
#[test]
fn a_line_is_covered_by_one_signer() {
    let desk = Desk::without_package();
    let of = [publishing("org.acme"), publishing("org.other")];
    let key = desk.key("key", &of);
    let acme = desk.key("acme", &[revoking("org.acme")]);
    let other = desk.key("other", &[revoking("org.other")]);
    let said = body(&[(&key, Superseded)], &[]);
    let ids = [&acme, &other].map(|signer| signer.record.id.to_string());
    let words = [&ids[0][..], &ids[1]];
    desk.refuses(&said, &[&acme, &other], Code::ScopeDenied, &words);
}

#[test]
fn row_34_a_floor_is_raised_inside_a_scope_only() {
    let desk = Desk::without_package();
    let epoch = |prefix: &str| scope(prefix, &[Right::Epoch]);
    let acme = desk.key("acme", &[epoch("org.acme"), publishing("org.acme.private")]);
    for outside in ["org.acmecorp.x", "org.other", "org.acme.private.x"] {
        let said = body(&[], &[(outside, 1)]);
        desk.refuses(&said, &[&acme], Code::ScopeDenied, &[outside]);
    }
    // A floor counts for every kind and machine.
    let narrow = [
        Scope {
            kinds: vec![Kind::GKernel],
            ..epoch("org.kernels")
        },
        Scope {
            targets: vec!["linux-x86_64".parse().unwrap()],
            ..epoch("org.here")
        },
    ];
    let narrow = desk.key("narrow", &narrow);
    for inside in ["org.kernels.x", "org.here.x"] {
        let said = body(&[], &[(inside, 1)]);
        desk.refuses(&said, &[&narrow], Code::ScopeDenied, &["is not for"]);
    }
    let said = body(&[], &[("org.acme", 1), ("org.acme.x", 1)]);
    assert_eq!(desk.take(&said, &[&acme]).unwrap().floors.len(), 2);
}

#[test]
fn row_50_a_floor_rises_by_no_more_than_a_thousand() {
    let desk = Desk::new();
    let said = |epoch| body(&[], &[(CPU, epoch)]);
    let too_far = EPOCH_RISE_MAX + 1;
    let words = [CPU, "1001", "from 0"];
    desk.refuses(&said(too_far), &[&desk.author], Code::ScopeDenied, &words);
    let largest = (1 << 53) - 1;
    desk.refuses(&said(largest), &[&desk.author], Code::ScopeDenied, &[]);
    desk.take(&said(EPOCH_RISE_MAX), &[&desk.author]).unwrap();
    // Counted from the floor in force.
    desk.take(&said(too_far), &[&desk.author]).unwrap();
    assert_eq!(desk.floor(CPU), Some(too_far));
    // It refuses the withdrawal beside it too.
    let both = body(&[(&desk.author, Superseded)], &[(CPU, 2 * too_far)]);
    let refused = desk
        .bench
        .store_refuses(Code::ScopeDenied, || desk.take(&both, &[&desk.author]));
    assert!(matches!(refused, Error::FloorRise { .. }), "{refused}");
}
