//! What taking an advisory does: it only ever adds. Row 48.

use guild_package::Code;
use guild_package::advisory::WithdrawnAs::{Compromised, Superseded};
use guild_package::store::AdvisoryOptions;
use guild_package::trust::{KeyStatus, Right};

use crate::desk::{Desk, body, publishing, revoking, scope, withdrawal};
use crate::fixture::{Publisher, options};
use crate::versions::{CPU, OTHER, id};

#[test]
fn a_publisher_withdraws_its_stolen_key_and_raises_a_floor() {
    let desk = Desk::new();
    let store = &desk.bench.store;
    let said = body(&[(&desk.author, Compromised)], &[(CPU, 2)]);
    let before = (desk.bench.listing(), desk.generation());
    let dry_run = AdvisoryOptions {
        dry_run: true,
        ..AdvisoryOptions::default()
    };
    let preview = desk.take_with(&said, &[&desk.author], &dry_run).unwrap();
    assert_eq!(desk.bench.listing(), before.0, "a preview changed it");
    assert_eq!((preview.is_new(), preview.generation), (true, before.1));

    let trust_n = store.trust().unwrap().body().n;
    let taken = desk.take(&said, &[&desk.author]).unwrap();
    assert_eq!((&taken.stopped, taken.signers.len()), (&preview.stopped, 1));
    let stopped: Vec<_> = taken.stopped.iter().map(ToString::to_string).collect();
    assert_eq!(stopped, [format!("{CPU}@1.0.0")]);
    let (line, raised) = &taken.floors[0];
    assert_eq!((line, raised.previous), (&said.floors[0], 0));
    assert_eq!(raised.enabled_below, Some(taken.stopped[0].clone()));
    // One generation puts both in force.
    let generation = store.generation().unwrap();
    assert_eq!(
        (generation.n, taken.generation, raised.generation),
        (before.1 + 1, generation.n, generation.n)
    );
    assert_eq!(generation.trust.n, trust_n + 1);
    assert_eq!(desk.floor(CPU), Some(2));
    assert_eq!(desk.status(&desk.author), (KeyStatus::Compromised, 0));
    assert_eq!(store.enabled().unwrap_err().code(), Code::KeyRevoked);
    let entry = store.log(1).unwrap().remove(0);
    assert_eq!(entry.op.to_string(), "trust-advisory");
    assert_eq!(
        (entry.floors, entry.trust),
        (vec![(id(CPU), 2)], Some(trust_n + 1))
    );
    store.verify_chain().unwrap();
    let reason = store.trust().unwrap().key(&desk.author.record.id).cloned();
    let reason = reason.and_then(|key| key.reason);
    assert_eq!(reason, Some("stolen in May".parse().unwrap()));
    // The key has no say any more, and its own word that says nothing new is no mistake.
    desk.says_nothing_new(&said, &[&desk.author]);
    let more = body(&[], &[(CPU, 3)]);
    desk.refuses(&more, &[&desk.author], Code::KeyRevoked, &["stolen in May"]);
}

#[test]
fn a_superseded_key_s_packages_load_on() {
    let desk = Desk::new();
    let site = desk.key("site", &[revoking("org")]);
    let said = body(&[(&desk.author, Superseded)], &[]);
    let taken = desk.take(&said, &[&site]).unwrap();
    assert_eq!((taken.stopped.len(), taken.floors.len()), (0, 0));
    let retired = (KeyStatus::Retired, taken.generation);
    assert_eq!(desk.status(&desk.author), retired);
    assert_eq!(desk.bench.enabled_version().unwrap(), "1.0.0");
    let late = desk.bench.package_by(&desk.author, CPU, "1.0.1", "");
    desk.bench
        .install_refuses(&late, &options(), Code::KeyRevoked);
}

#[test]
fn the_receiver_says_what_is_believed_of_a_stolen_key() {
    let desk = Desk::new();
    let installed = desk.generation();
    let said = body(&[(&desk.author, Compromised)], &[]);
    let believing = |since_gen| AdvisoryOptions {
        since_gen: Some(since_gen),
        dry_run: false,
    };
    desk.bench.store_refuses(Code::Usage, || {
        desk.take_with(&said, &[&desk.author], &believing(installed + 1))
    });
    let take = |since_gen| desk.take_with(&said, &[&desk.author], &believing(since_gen));
    let taken = take(installed).unwrap();
    assert_eq!((&taken.stopped, taken.is_new()), (&Vec::new(), true));
    assert_eq!(desk.bench.enabled_version().unwrap(), "1.0.0");
    // The same again, and a milder one.
    for since_gen in [installed, installed + 1] {
        assert!(!take(since_gen).unwrap().is_new());
    }
    // The file names no generation, so it isn't stricter than what the receiver said, whoever signed it.
    desk.says_nothing_new(&said, &[&desk.author]);
    let site = desk.key("site", &[revoking("org.guild")]);
    desk.says_nothing_new(&said, &[&site]);
    assert_eq!(
        desk.status(&desk.author),
        (KeyStatus::Compromised, installed)
    );
    // Less is believed where the receiver says so; by then the author has no say.
    desk.bench.store_refuses(Code::KeyRevoked, || {
        desk.take_with(&said, &[&desk.author], &believing(0))
    });
    let taken = desk.take_with(&said, &[&site], &believing(0)).unwrap();
    assert_eq!(taken.stopped.len(), 1);
    assert_eq!(desk.status(&desk.author), (KeyStatus::Compromised, 0));
}

#[test]
fn row_48_an_advisory_only_ever_adds() {
    let desk = Desk::new();
    let site_rights = [Right::Revoke, Right::Epoch];
    let site = desk.key("site", &[scope("org.guild", &site_rights)]);
    let old = body(&[(&desk.author, Superseded)], &[(CPU, 2)]);
    let strict = body(&[(&desk.author, Compromised)], &[(CPU, 4)]);
    desk.take(&old, &[&site]).unwrap();
    desk.says_nothing_new(&old, &[&site]);
    desk.take(&strict, &[&site]).unwrap();
    // An old one that somebody kept.
    desk.says_nothing_new(&old, &[&site]);
    desk.says_nothing_new(&strict, &[&site]);
    assert_eq!(desk.status(&desk.author), (KeyStatus::Compromised, 0));
    assert_eq!(desk.floor(CPU), Some(4));
    // One that is new in one line only changes that.
    let mixed = body(&[(&desk.author, Superseded)], &[(CPU, 3), (OTHER, 1)]);
    let taken = desk.take(&mixed, &[&site]).unwrap();
    let changed: Vec<_> = taken.floors.iter().map(|(line, _)| &line.id).collect();
    assert_eq!((changed, taken.withdrawals.len()), (vec![&id(OTHER)], 0));
    assert_eq!((desk.floor(CPU), desk.floor(OTHER)), (Some(4), Some(1)));
    assert_eq!(desk.status(&desk.author).0, KeyStatus::Compromised);
    // What changes no key makes no trust file.
    assert_eq!(desk.bench.store.log(1).unwrap()[0].trust, None);
    desk.bench.store.verify_chain().unwrap();
}

#[test]
fn a_key_that_isn_t_known_is_passed_over_and_nothing_is_noted() {
    let desk = Desk::new();
    let stranger = Publisher::new(desk.bench.path(), "stranger");
    let said = body(&[(&stranger, Compromised)], &[]);
    let taken = desk.says_nothing_new(&said, &[&desk.author]);
    assert_eq!(taken.unknown, [stranger.record.id]);
    // Beside something new too.
    let mixed = body(&[(&stranger, Compromised), (&desk.author, Superseded)], &[]);
    let taken = desk.take(&mixed, &[&desk.author]).unwrap();
    assert_eq!(taken.unknown, [stranger.record.id]);
    assert_eq!(
        taken.withdrawals,
        [withdrawal(desk.author.record.id, Superseded)]
    );
    // Trusted later, it is good: the advisory is to be taken again.
    desk.trust(&stranger, &[publishing("org.guild.kernels")]);
    assert_eq!(desk.status(&stranger).0, KeyStatus::Active);
    let site = desk.key("site", &[revoking("org.guild")]);
    let taken = desk.take(&said, &[&site]).unwrap();
    assert_eq!((taken.withdrawals.len(), taken.unknown.len()), (1, 0));
}
