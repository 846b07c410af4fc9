//! Bound plans: what they compute, how they fail, and when instances begin and end.

use std::sync::Arc;

use guild_abi::abi::*;
use guild_graph::error::ErrorCode;
use guild_graph::{
    BindOptions, BoundPlan, Candidate, GraphError, ParallelFor, Phase, SequenceRows, bind,
    describe, plan,
};

use crate::model::{TestModel, embedding};
use crate::plugin::{TestPlugin, TestRegistry, package};
use crate::script::whole;

fn options() -> BindOptions {
    BindOptions {
        max_sequences: 2,
        snapshot_slots: 1,
        ..BindOptions::single_sequence(8, 300)
    }
}

fn bound(plugins: Vec<&'static TestPlugin>) -> Result<BoundPlan, GraphError> {
    let (model, registry) = (Arc::new(TestModel::new()), TestRegistry(plugins));
    let described = describe(&*model, &registry, 300)?;
    bind(
        &described,
        model,
        &registry,
        &options(),
        ParallelFor::none(),
    )
}

fn push(plan: &mut BoundPlan, slot: u32, position: u64, tokens: &[i32]) {
    let pages: &[u32] = if slot == 0 { &[0, 1] } else { &[2, 3] };
    let rows = SequenceRows {
        slot,
        position,
        tokens,
        pages,
        snapshot_slots: &[],
    };
    plan.batch_mut().push(&rows).unwrap();
}

/// Three times the embedding, and how many tokens the sequence had before.
fn expected(token: usize, before: usize) -> [f32; 4] {
    embedding(token).map(|x| 3.0 * x + before as f32)
}

/// Runs one sequence's tokens and gives the logits of the last.
fn last(plan: &mut BoundPlan, phase: Phase, slot: u32, tokens: &[i32]) -> Vec<f32> {
    plan.batch_mut().clear();
    push(plan, slot, 0, tokens);
    plan.batch_mut()
        .set_output_rows(&[tokens.len() as i32 - 1])
        .unwrap();
    plan.run(phase).unwrap();
    plan.logits().to_vec()
}

#[test]
fn two_sequences_share_a_pass_and_keep_their_states() {
    let mut plan = bound(vec![TestPlugin::new(whole).leak()]).unwrap();
    assert_eq!(plan.vocabulary(), 4);
    push(&mut plan, 1, 0, &[2, 0, 3]);
    push(&mut plan, 0, 0, &[1]);
    plan.batch_mut().set_output_rows(&[3, 2]).unwrap();
    plan.run(Phase::Prefill).unwrap();
    assert_eq!(plan.logits(), [expected(1, 0), expected(3, 2)].concat());
    let rows = [
        expected(2, 0),
        expected(0, 1),
        expected(3, 2),
        expected(1, 0),
    ];
    assert_eq!(plan.hidden(), rows.concat());
    assert_eq!(last(&mut plan, Phase::Decode, 1, &[1]), expected(1, 3));
    assert_eq!(last(&mut plan, Phase::Verify, 0, &[2]), expected(2, 1));
}

#[test]
fn slots_are_reset_saved_and_restored() {
    let mut plan = bound(vec![TestPlugin::new(whole).leak()]).unwrap();
    assert_eq!(
        last(&mut plan, Phase::Prefill, 0, &[1, 1, 1]),
        expected(1, 2)
    );
    plan.states_mut().copy_slot(0, 2);
    assert_eq!(last(&mut plan, Phase::Decode, 0, &[1]), expected(1, 3));
    plan.states_mut().copy_slot(2, 0);
    assert_eq!(last(&mut plan, Phase::Decode, 0, &[1]), expected(1, 3));
    plan.states_mut().reset_slot(2);
    plan.states_mut().copy_slot(2, 0);
    assert_eq!(last(&mut plan, Phase::Decode, 0, &[1, 1]), expected(1, 1));
    plan.states_mut().copy_slot(0, 3);
    plan.states_mut().reset_slot(9);
    plan.states_mut().reset_slot(0);
    assert_eq!(last(&mut plan, Phase::Decode, 0, &[1]), expected(1, 0));
}

#[test]
fn without_output_rows_the_head_does_not_run() {
    let plugin = TestPlugin::new(whole).leak();
    let mut plan = bound(vec![plugin]).unwrap();
    plan.run(Phase::Prefill).unwrap();
    push(&mut plan, 0, 0, &[1, 2]);
    plan.run(Phase::Prefill).unwrap();
    let heads = || {
        plugin
            .log()
            .iter()
            .filter(|line| line.starts_with("execute select"))
            .count()
    };
    assert_eq!(heads(), 0);
    assert!(plan.logits().is_empty());
    assert_eq!(plan.hidden(), [expected(1, 0), expected(2, 1)].concat());
    plan.batch_mut().set_output_rows(&[0]).unwrap();
    plan.run(Phase::Prefill).unwrap();
    assert_eq!(heads(), 1);
}

#[test]
fn in_place_operations_give_the_same_numbers() {
    let edit = |c: &mut Candidate| c.caps[0] = GUILD_CAP_INPLACE;
    let plugin = TestPlugin {
        edit,
        ..TestPlugin::new(whole)
    };
    let mut plan = bound(vec![plugin.leak()]).unwrap();
    let mut apart = bound(vec![TestPlugin::new(whole).leak()]).unwrap();
    let arena = |plan: &BoundPlan| plan.report().memory.arena_bytes;
    assert!(arena(&plan) <= arena(&apart));
    let logits = last(&mut plan, Phase::Prefill, 0, &[3, 2, 1]);
    assert_eq!(logits, last(&mut apart, Phase::Prefill, 0, &[3, 2, 1]));
    assert_eq!(logits, expected(1, 2));
}

#[test]
fn timed_passes_count_each_operation_and_give_the_same_numbers() {
    let mut plan = bound(vec![TestPlugin::new(whole).leak()]).unwrap();
    assert!(plan.operation_times(Phase::Prefill).is_empty());
    let logits = last(&mut plan, Phase::Prefill, 0, &[3, 2]);
    plan.time_steps(true);
    assert_eq!(last(&mut plan, Phase::Prefill, 0, &[3, 2]), expected(2, 3));
    last(&mut plan, Phase::Prefill, 1, &[3, 2, 1]);
    assert!(plan.operation_times(Phase::Decode).is_empty());
    let times = plan.operation_times(Phase::Prefill);
    assert_eq!(logits, expected(2, 1));
    let find = |name: &str| times.iter().find(|one| one.operation == name).unwrap();
    let embedding = find("guild.core.embedding@1");
    assert_eq!((embedding.calls, embedding.rows), (2, 5));
    assert_eq!(embedding.provider.implementation, "test.package.impl");
    assert_eq!(embedding.weights_read_bytes, 0);
    last(&mut plan, Phase::Decode, 0, &[1]);
    last(&mut plan, Phase::Decode, 1, &[1]);
    let decode = plan.operation_times(Phase::Decode);
    let read = decode
        .iter()
        .map(|one| (one.operation.as_str(), one.weights_read_bytes));
    // Each of the two calls reads a row of the table.
    assert!(
        read.clone()
            .any(|one| one == ("guild.core.embedding@1", 32)),
        "{decode:?}"
    );
    assert_eq!(read.map(|one| one.1).sum::<u64>(), 32);
    // The head runs on output rows alone.
    assert_eq!(find("guild.core.select_rows@1").rows, 2);
    assert!(times.iter().all(|one| one.seconds > 0.0));
    assert!(times.is_sorted_by(|a, b| a.seconds >= b.seconds));
    plan.time_steps(false);
    last(&mut plan, Phase::Decode, 0, &[1]);
    assert!(plan.operation_times(Phase::Decode).is_empty());
}

#[test]
fn a_failing_step_is_named() {
    let mut plan = bound(vec![TestPlugin::new(whole).leak()]).unwrap();
    push(&mut plan, 0, 0, &[77]);
    let error = plan.run(Phase::Prefill).unwrap_err();
    assert_eq!(error.operation, "guild.core.embedding@1");
    assert_eq!((error.layer, error.status), (7, GUILD_STATUS_ERR_INVALID));
    assert_eq!(error.provider.package, package("test.package", false));
    assert_eq!(error.provider.implementation, "test.package.impl");
    assert_eq!(error.text, "token 77 doesn't exist");
    // A failure without a text doesn't show the text of the one before.
    plan.batch_mut().clear();
    push(&mut plan, 0, 0, &[-1]);
    let error = plan.run(Phase::Prefill).unwrap_err();
    assert_eq!(
        (error.status, error.text.as_str()),
        (GUILD_STATUS_ERR_INTERNAL, "")
    );
    assert_eq!(last(&mut plan, Phase::Prefill, 0, &[1]), expected(1, 0));
}

#[test]
fn phases_that_agree_share_an_instance_and_all_end_with_the_plan() {
    let plugin = TestPlugin::new(whole).leak();
    let plan = bound(vec![plugin]).unwrap();
    drop(plan);
    let log = plugin.log();
    let lines = |start: &str| log.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!(
        (lines("supports"), lines("create"), lines("destroy")),
        (15, 5, 5)
    );
    assert!(log.contains(&"create count 1".to_owned()), "{log:?}");
}

#[test]
fn phases_may_have_different_providers() {
    let edit = |c: &mut Candidate| c.phases = GUILD_PHASE_DECODE;
    let decode = TestPlugin {
        package: package("a.decode.x", false),
        edit,
        ..TestPlugin::new(whole)
    };
    let (decode, all) = (decode.leak(), TestPlugin::new(whole).leak());
    let mut plan = bound(vec![decode, all]).unwrap();
    assert_eq!(last(&mut plan, Phase::Prefill, 0, &[1, 1]), expected(1, 1));
    assert!(decode.seen.lock().unwrap().is_empty());
    assert_eq!(last(&mut plan, Phase::Decode, 0, &[1]), expected(1, 2));
    assert_eq!(decode.seen.lock().unwrap().len(), 1);
    assert_eq!(all.seen.lock().unwrap().len(), 1);
    assert!(decode.log().contains(&"create add 2".to_owned()));
}

fn slot(lifetime: u8, bytes: u64, align: u64) -> guild_scratch_slot {
    guild_scratch_slot {
        size: size_of::<guild_scratch_slot>() as u32,
        space: GUILD_SPACE_HOST,
        lifetime,
        pad: [0; 2],
        bytes,
        align,
        reserved: 0,
    }
}

#[test]
fn scratch_is_laid_out_once_and_aligned() {
    let scratch = vec![
        slot(GUILD_SCRATCH_CALL, 100, 1),
        slot(GUILD_SCRATCH_PERSIST, 10, 256),
        slot(GUILD_SCRATCH_CALL, 8, 4096),
    ];
    let plugin = TestPlugin {
        scratch,
        ..TestPlugin::new(whole)
    }
    .leak();
    let mut plan = bound(vec![plugin]).unwrap();
    assert_eq!(plan.report().memory.scratch_bytes, 4104 + 10);
    last(&mut plan, Phase::Prefill, 0, &[1, 2]);
    last(&mut plan, Phase::Decode, 0, &[1]);
    let seen = plugin.seen.lock().unwrap();
    let [call, persist, aligned] = seen[0][..] else {
        panic!("three buffers were asked for: {seen:?}");
    };
    assert_eq!(
        (persist % 256, aligned % 4096, aligned - call),
        (0, 0, 4096)
    );
    assert_eq!(seen[0], seen[1]);
}

/// Binding must fail at `count` with a text that has `part`, and leave no instance behind.
#[track_caller]
fn fails_to_bind(plugin: TestPlugin, part: &str, code: ErrorCode) {
    let plugin = plugin.leak();
    let error = bound(vec![plugin]).err().expect("binding must fail");
    let text = error.to_string();
    assert!(text.contains(part), "{text}");
    assert_eq!(error.code(), code);
    for name in [
        "test.ops.count@1",
        "\"count\"",
        "layer 7",
        "test.package 1.2.3",
    ] {
        assert!(text.contains(name), "{text}");
    }
    let log = plugin.log();
    let lines = |start: &str| log.iter().filter(|line| line.starts_with(start)).count();
    let ended = if part.contains("`create`") {
        lines("destroy") + 1
    } else {
        lines("destroy")
    };
    assert_eq!(lines("create"), ended, "{log:?}");
}

#[test]
fn a_chosen_provider_that_fails_ends_the_binding() {
    for call in ["create", "scratch", "prepare"] {
        let plugin = TestPlugin {
            fails: call,
            ..TestPlugin::new(whole)
        };
        let part = format!("`{call}` gave status -6: {call} broke");
        fails_to_bind(plugin, &part, ErrorCode::Incompatible);
    }
}

#[test]
fn absurd_scratch_is_refused() {
    let with = |scratch| TestPlugin {
        scratch,
        ..TestPlugin::new(whole)
    };
    let incompatible = ErrorCode::Incompatible;
    let nine = vec![slot(GUILD_SCRATCH_CALL, 1, 1); 9];
    fails_to_bind(with(nine), "9 slots asked for; 8 are allowed", incompatible);
    let odd = vec![slot(GUILD_SCRATCH_CALL, 1, 96)];
    fails_to_bind(with(odd), "slot 0 has an alignment", incompatible);
    let forever = vec![slot(3, 1, 1)];
    fails_to_bind(with(forever), "an unknown lifetime", incompatible);
    let huge = vec![
        slot(GUILD_SCRATCH_CALL, u64::MAX - 200, 1),
        slot(GUILD_SCRATCH_CALL, 300, 1),
    ];
    fails_to_bind(with(huge), "a size that overflows", incompatible);
    let device = guild_scratch_slot {
        space: GUILD_SPACE_DEVICE,
        ..slot(1, 1, 1)
    };
    fails_to_bind(with(vec![device]), "a memory space", incompatible);
}

#[test]
fn binding_reserves_what_the_plan_said_and_touching_keeps_it() {
    let scratch = vec![
        slot(GUILD_SCRATCH_CALL, 5000, 1),
        slot(GUILD_SCRATCH_PERSIST, 10, 64),
    ];
    let plugin = TestPlugin {
        scratch,
        ..TestPlugin::new(whole)
    }
    .leak();
    let (model, registry) = (Arc::new(TestModel::new()), TestRegistry(vec![plugin]));
    let described = describe(&*model, &registry, 300).unwrap();
    let planned = plan(&described, model, &registry, &options()).unwrap();
    let said = planned.report().memory;
    assert_eq!(said.scratch_bytes, 5000 + 10);
    let names: Vec<&str> = planned.weight_names().collect();
    assert_eq!(names, ["table"]);
    let mut bound = planned.bind(ParallelFor::none()).unwrap();
    assert_eq!(bound.reserved_bytes(), said.reserved_bytes);
    assert_eq!(bound.report().memory, said);
    let logits = last(&mut bound, Phase::Prefill, 0, &[3, 2]);
    bound.touch();
    assert_eq!(bound.logits(), logits);
    bound.batch_mut().clear();
    push(&mut bound, 0, 2, &[1]);
    bound.batch_mut().set_output_rows(&[0]).unwrap();
    bound.run(Phase::Decode).unwrap();
    assert_eq!(bound.logits(), expected(1, 2));
}

#[test]
fn too_much_memory_is_an_error_of_resources() {
    let scratch = vec![slot(GUILD_SCRATCH_PERSIST, u64::MAX / 2 + 2, 1)];
    let plugin = TestPlugin {
        scratch,
        ..TestPlugin::new(whole)
    };
    let error = bound(vec![plugin.leak()]).err().expect("binding must fail");
    assert_eq!(
        (error.code(), error.code().exit()),
        (ErrorCode::Resource, 5)
    );
}

#[test]
fn a_plan_may_move_to_another_thread() {
    let mut plan = bound(vec![TestPlugin::new(whole).leak()]).unwrap();
    let moved = std::thread::spawn(move || last(&mut plan, Phase::Prefill, 0, &[3]));
    assert_eq!(moved.join().unwrap(), expected(3, 0));
}
