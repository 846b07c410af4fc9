//! Who is chosen, why the others lost, and what memory the plan needs.

use std::sync::Arc;

use guild_abi::abi::*;
use guild_graph::error::{ErrorCode, GraphError};
use guild_graph::report::{Class, RefusalReason};
use guild_graph::{BindOptions, Candidate, Phase, PlanReport, describe, plan};

use crate::model::TestModel;
use crate::plugin::{TestPlugin, TestRegistry, package};
use crate::script::{ROWS, Said, Script, hidden, whole};

fn planned(
    plugins: Vec<&'static TestPlugin>,
    options: &BindOptions,
) -> Result<PlanReport, GraphError> {
    let (model, registry) = (Arc::new(TestModel::new()), TestRegistry(plugins));
    let described = describe(&*model, &registry, options.max_positions)?;
    Ok(plan(&described, model, &registry, options)?
        .report()
        .clone())
}

fn small() -> BindOptions {
    BindOptions::single_sequence(8, 300)
}

/// A plugin that is asked before the working one and must lose for `reason` in every phase.
#[track_caller]
fn loses(edit: fn(&mut Candidate), reason: RefusalReason, part: &str) {
    let loser = TestPlugin {
        package: package("a.loser.x", false),
        edit,
        ..TestPlugin::new(whole)
    };
    let report = planned(vec![loser.leak(), TestPlugin::new(whole).leak()], &small()).unwrap();
    for phase in &report.steps[1].phases {
        assert_eq!(phase.chosen.package.id, "test.package");
        assert_eq!(phase.refused[0].provider.package.id, "a.loser.x");
        assert_eq!(phase.refused[0].reason, reason);
        let text = &phase.refused[0].text;
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn the_hosts_own_checks_have_reasons() {
    loses(
        |c| c.contract[0] ^= 1,
        RefusalReason::Contract,
        "another contract text",
    );
    loses(
        |c| (c.op_min, c.op_max) = (2, 3),
        RefusalReason::Version,
        "versions 2 to 3, wanted 1",
    );
    loses(|c| c.phases = 0, RefusalReason::Phase, "phase");
    loses(
        |c| c.exactness = GUILD_CLASS_TOLERANT,
        RefusalReason::Policy,
        "class is tolerant",
    );
    loses(
        |c| c.caps[0] = GUILD_CAP_NEEDS_PREPACK,
        RefusalReason::Host,
        "prepacked",
    );
    loses(
        |c| c.caps[0] = GUILD_CAP_HOST_ASYNC,
        RefusalReason::Host,
        "after `execute`",
    );
    loses(
        |c| c.caps[0] = GUILD_CAP_ACCUMULATES,
        RefusalReason::Host,
        "adds to its output",
    );
}

/// A tolerant candidate that is asked first serves where the policy accepts its class, and nowhere else.
#[test]
fn only_a_policy_that_accepts_it_takes_a_tolerant_candidate() {
    for (classes, id, class) in [
        (GUILD_CLASS_EXACT, "test.package", Class::Exact),
        (
            GUILD_CLASS_EXACT | GUILD_CLASS_TOLERANT,
            "a.tolerant.x",
            Class::Tolerant,
        ),
    ] {
        let tolerant = TestPlugin {
            package: package("a.tolerant.x", false),
            edit: |c| c.exactness = GUILD_CLASS_TOLERANT,
            ..TestPlugin::new(whole)
        };
        let options = BindOptions { classes, ..small() };
        let plugins = vec![tolerant.leak(), TestPlugin::new(whole).leak()];
        let report = planned(plugins, &options).unwrap();
        for phase in report.steps.iter().flat_map(|step| &step.phases) {
            assert_eq!(phase.chosen.package.id, id);
            assert_eq!(phase.class, class);
        }
    }
    assert_eq!(small().classes, GUILD_CLASS_EXACT, "the default policy");
}

#[test]
fn a_foreign_operation_has_no_contract_to_compare() {
    let edit = |c: &mut Candidate| {
        if c.implementation.starts_with("test") && c.index == 3 {
            c.contract = [9; 32];
        }
    };
    let plugin = TestPlugin {
        edit,
        ..TestPlugin::new(whole)
    };
    assert!(planned(vec![plugin.leak()], &small()).is_ok());
}

#[test]
fn the_first_candidate_wins_and_the_rest_is_not_asked() {
    let first = TestPlugin {
        package: package("a.first.x", false),
        ..TestPlugin::new(whole)
    };
    let (first, second) = (first.leak(), TestPlugin::new(whole).leak());
    let report = planned(vec![first, second], &small()).unwrap();
    let chosen = report.steps.iter().flat_map(|step| &step.phases);
    assert!(chosen.clone().count() == 15);
    assert!(
        chosen
            .clone()
            .all(|phase| phase.chosen.package.id == "a.first.x")
    );
    assert!(second.log().is_empty(), "{:?}", second.log());
}

#[test]
fn a_refusal_by_supports_is_kept_with_its_words_or_numbers() {
    let plugin = |text| TestPlugin {
        package: package("a.loser.x", false),
        declines: Some((3, GUILD_REFUSAL_SHAPE, text)),
        ..TestPlugin::new(whole)
    };
    for (text, shown) in [("no", "no"), ("", "operand 0: wanted 4, offered 8")] {
        let plugins = vec![plugin(text).leak(), TestPlugin::new(whole).leak()];
        let report = planned(plugins, &small()).unwrap();
        let refused = &report.steps[2].phases[0].refused;
        assert_eq!(
            (refused.len(), refused[0].reason),
            (1, RefusalReason::Shape)
        );
        assert_eq!(refused[0].text, shown);
        assert_eq!(report.steps[1].phases[0].chosen.package.id, "a.loser.x");
    }
}

#[test]
fn without_a_provider_the_operation_and_the_packages_are_named() {
    let edit = |c: &mut Candidate| {
        if c.index == 1 {
            c.phases = GUILD_PHASE_PREFILL;
        }
    };
    let plugin = TestPlugin {
        edit,
        ..TestPlugin::new(whole)
    };
    let error = planned(vec![plugin.leak()], &small()).unwrap_err();
    assert_eq!(
        (error.code(), error.code().exit()),
        (ErrorCode::Unsupported, 4)
    );
    let text = error.to_string();
    for part in [
        "guild.core.add@1",
        "decode phase",
        "\"double\"",
        "layer 7",
        "inputs f32 [rows, 4], f32 [rows, 4]",
        "org.guild.kernels.cpu",
        "test.package 1.2.3: phase: doesn't serve the decode phase",
    ] {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

#[test]
fn an_operation_that_nobody_knows_is_a_missing_provider() {
    let script = |s: &Script| {
        let embedded = s.embedded()?;
        let strange = s.op("org.far.away@2", "x", &[embedded], &[], &[hidden(ROWS)])?;
        s.logits(strange)
    };
    let error = planned(vec![TestPlugin::new(script).leak()], &small()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("org.far.away@2") && text.contains("refused: none"),
        "{text}"
    );
}

#[test]
fn planning_makes_instances_and_ends_them_without_preparing_any() {
    let plugin = TestPlugin::new(whole).leak();
    planned(vec![plugin], &small()).unwrap();
    let log = plugin.log();
    let lines = |start: &str| log.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!(
        (lines("supports"), lines("create"), lines("destroy")),
        (15, 5, 5)
    );
    assert_eq!(lines("prepare") + lines("execute"), 0, "{log:?}");
}

/// A chain of `n` additions; every value but the last is read once.
fn chain<const N: usize>(s: &Script) -> Said<()> {
    let embedded = s.embedded()?;
    let mut last = embedded;
    for _ in 0..N {
        let other = s.op("test.ops.count@1", "c", &[embedded], &[], &[hidden(ROWS)])?;
        last = s.op(
            "guild.core.add@1",
            "a",
            &[last, other],
            &[],
            &[hidden(ROWS)],
        )?;
    }
    s.logits(last)
}

#[test]
fn memory_is_counted_by_purpose_and_shared() {
    // A row is 16 bytes, a value of 8 rows 128; the logits are 8 rows of 16 bytes.
    let report = planned(vec![TestPlugin::new(chain::<6>).leak()], &small()).unwrap();
    let memory = report.memory;
    // Of the table one row a token.
    assert_eq!((memory.weights_bytes, memory.weights_read_bytes), (64, 16));
    assert_eq!(memory.values_bytes, 13 * 128);
    assert_eq!(memory.outputs_bytes, 128);
    // The embedding, the running sum, the next term and the next sum.
    assert_eq!(memory.arena_bytes, 4 * 128);
    assert_eq!(
        (memory.kv_bytes, memory.state_bytes, memory.scratch_bytes),
        (0, 0, 0)
    );
}

#[test]
fn outputs_take_their_inputs_memory_only_in_place() {
    let edit = |c: &mut Candidate| c.caps[0] = GUILD_CAP_INPLACE;
    let plugin = TestPlugin {
        edit,
        ..TestPlugin::new(chain::<6>)
    };
    let report = planned(vec![plugin.leak()], &small()).unwrap();
    // The next sum lies where the running sum was.
    assert_eq!(report.memory.arena_bytes, 3 * 128);
}

#[test]
fn memory_is_shared_in_place_only_where_every_phase_can() {
    let decode_in_place = |c: &mut Candidate| {
        (c.caps[0], c.phases) = (GUILD_CAP_INPLACE, GUILD_PHASE_DECODE);
    };
    let decode = TestPlugin {
        package: package("a.decode.x", false),
        edit: decode_in_place,
        ..TestPlugin::new(chain::<6>)
    };
    let all = TestPlugin::new(chain::<6>);
    let report = planned(vec![decode.leak(), all.leak()], &small()).unwrap();
    assert_eq!(report.memory.arena_bytes, 4 * 128);
}

#[test]
fn states_are_counted() {
    let script = |s: &Script| {
        let embedded = s.embedded()?;
        let kv = s.state_of(GUILD_STATE_APPEND, 0, &[2, 3], "kv")?;
        let slots = s.counter("slots")?;
        let op = "test.ops.count@1";
        let out = s.op(op, "c", &[embedded], &[kv, slots], &[hidden(ROWS)])?;
        s.logits(out)
    };
    let options = BindOptions {
        max_sequences: 3,
        snapshot_slots: 2,
        ..small()
    };
    let memory = planned(vec![TestPlugin::new(script).leak()], &options)
        .unwrap()
        .memory;
    // Two pages a sequence of [2, 256, 3] f16; five slots of [4] f32, padded to 64 bytes.
    assert_eq!(memory.kv_bytes, 3 * 2 * 2 * 256 * 3 * 2);
    assert_eq!(memory.state_bytes, 5 * 64);
}

#[test]
fn options_out_of_range_are_the_callers() {
    let options = BindOptions {
        max_rows: 0,
        ..small()
    };
    let error = planned(vec![TestPlugin::new(whole).leak()], &options).unwrap_err();
    assert_eq!((error.code(), error.code().exit()), (ErrorCode::Usage, 2));
}

#[test]
fn the_report_is_json() {
    let report = planned(vec![TestPlugin::new(whole).leak()], &small()).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    let step = &json["steps"][0];
    assert_eq!(step["operation"], "guild.core.embedding");
    assert_eq!(step["layer"], 7);
    let phases = step["phases"].as_array().unwrap();
    let names: Vec<&str> = phases
        .iter()
        .map(|p| p["phase"].as_str().unwrap())
        .collect();
    assert_eq!(names, Phase::ALL.map(Phase::name));
    assert_eq!(phases[0]["chosen"]["implementation"], "test.package.impl");
    assert_eq!(phases[0]["chosen"]["package"]["digest"], "ab".repeat(32));
    assert_eq!(json["runner"]["id"], "test.runner.v1");
    assert_eq!(json["sections"][0]["kind"], "main");
}
