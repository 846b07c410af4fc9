//! What the host accepts of a runner's description, and how it refuses the rest.

use guild_abi::abi::*;
use guild_abi::formats::{GUILD_FORMAT_F16, GUILD_FORMAT_F32, GUILD_FORMAT_Q8_0};
use guild_abi::runner::*;
use guild_graph::error::{DescriptionFault, ErrorCode, GraphError};
use guild_graph::graph::{OutputKind, SectionKind};
use guild_graph::{Described, describe};

use crate::model::TestModel;
use crate::plugin::{TestPlugin, TestRegistry, package};
use crate::script::{OUTPUTS, ROWS, Said, Script, hidden, value, whole};

const ADD: &str = "guild.core.add@1";

fn outcome(plugins: Vec<TestPlugin>) -> Result<Described, GraphError> {
    let plugins = plugins.into_iter().map(TestPlugin::leak).collect();
    describe(&TestModel::new(), &TestRegistry(plugins), 64)
}

/// The script must be refused with a text that has every part; gives the fault.
#[track_caller]
fn refused(script: fn(&Script) -> Said<()>, parts: &[&str]) -> DescriptionFault {
    let error = outcome(vec![TestPlugin::new(script)]).expect_err("must be refused");
    let text = error.to_string();
    for part in [&["test.package 1.2.3", "test.runner.v1"], parts].concat() {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
    match error {
        GraphError::Description { fault, .. } => *fault,
        other => panic!("another error: {other}"),
    }
}

#[test]
fn a_whole_model_becomes_a_graph() {
    let described = outcome(vec![TestPlugin::new(whole)]).unwrap();
    let [section] = &described.graph.sections[..] else {
        panic!("one section was described");
    };
    assert_eq!(section.kind, SectionKind::Main);
    let names: Vec<&str> = section
        .nodes
        .iter()
        .map(|node| node.name.as_str())
        .collect();
    assert_eq!(names, ["embed", "double", "count", "sum", "select"]);
    assert_eq!(section.nodes[1].alias, Some((0, 0)));
    assert_eq!(section.nodes[1].layer, 7);
    let logits = section.output(OutputKind::Logits).unwrap();
    assert_eq!(section.values[logits].shape.to_string(), "[outputs, 4]");
    assert_eq!(
        (described.architecture.as_str(), described.runner.score),
        ("test", 10)
    );
}

#[test]
fn metadata_and_tensors_reach_the_runner() {
    fn script(script: &Script) -> Said<()> {
        assert_eq!(script.integer("test.layers", 0), Ok(3));
        assert_eq!(
            script.integer("test.name", 0),
            Err(GUILD_STATUS_ERR_INVALID)
        );
        assert_eq!(
            script.integer("test.layers", 1),
            Err(GUILD_STATUS_ERR_NOT_FOUND)
        );
        assert_eq!(script.length("test.scale"), Ok(1));
        assert_eq!(script.number("test.scale", 0), Ok(0.5));
        assert_eq!(script.number("test.layers", 0), Ok(3.0));
        assert_eq!(script.text("test.name", 0), Ok("tiny"));
        // The file says [8, 4], contiguous axis first.
        let wide = script.tensor("wide")?;
        assert_eq!((wide.rank, &wide.shape[..2]), (2, &[4, 8][..]));
        assert_eq!((wide.format, wide.byte_len), (GUILD_FORMAT_F32, 128));
        assert_eq!(script.tensor_at(3)?.byte_len, 128);
        assert_eq!(script.tensor_at(8).err(), Some(GUILD_STATUS_ERR_NOT_FOUND));
        whole(script)
    }
    outcome(vec![TestPlugin::new(script)]).unwrap();
}

#[test]
fn the_best_score_wins_then_the_installed_package_then_the_lower_id() {
    let plugin = |id, builtin, score| TestPlugin {
        package: package(id, builtin),
        score,
        ..TestPlugin::new(whole)
    };
    let winner = |plugins| outcome(plugins).unwrap().runner.package.id;
    let all = || vec![plugin("a.b.c", true, 5), plugin("a.b.z", false, 5)];
    assert_eq!(winner(all()), "a.b.z");
    let better = [all(), vec![plugin("z.z.z", true, 6)]].concat_plugins();
    assert_eq!(winner(better), "z.z.z");
    let lower = [all(), vec![plugin("a.b.d", false, 5)]].concat_plugins();
    assert_eq!(winner(lower), "a.b.d");
    assert_eq!(
        winner(vec![plugin("no.no.no", false, 0), plugin("a.b.c", true, 1)]),
        "a.b.c"
    );
}

trait ConcatPlugins {
    fn concat_plugins(self) -> Vec<TestPlugin>;
}

impl ConcatPlugins for [Vec<TestPlugin>; 2] {
    fn concat_plugins(self) -> Vec<TestPlugin> {
        self.into_iter().flatten().collect()
    }
}

#[test]
fn without_a_runner_the_architecture_the_known_ones_and_absent_packages_are_named() {
    let plugin = TestPlugin {
        score: 0,
        ..TestPlugin::new(whole)
    };
    let error = outcome(vec![plugin]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unsupported);
    let text = error.to_string();
    for part in [
        "\"test\"",
        "known architectures: test;",
        "org.guild.runners.qwen",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_runner_that_fails_to_match_ends_the_call() {
    let broken = TestPlugin {
        score: -1,
        refusal_text: "out of luck",
        ..TestPlugin::new(whole)
    };
    let error = outcome(vec![TestPlugin::new(whole), broken]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Internal);
    assert!(
        error
            .to_string()
            .contains("(`matches` gave status -6): out of luck"),
        "{error}"
    );
}

#[test]
fn a_runners_own_refusal_passes_through() {
    let refuse = |_: &Script| Err(GUILD_STATUS_ERR_UNSUPPORTED);
    let text = "blk.3: 7 heads, 4 wanted";
    let plugin = TestPlugin {
        refusal_text: text,
        ..TestPlugin::new(refuse)
    };
    let error = outcome(vec![plugin]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unsupported);
    let shown = error.to_string();
    assert!(
        shown.contains(text) && shown.contains("test.package"),
        "{shown}"
    );
}

#[test]
fn a_missing_weight_is_named() {
    let fault = refused(
        |s| s.main().and_then(|()| s.weight("gone")).map(drop),
        &["\"gone\""],
    );
    assert!(matches!(fault, DescriptionFault::MissingWeight { .. }));
}

#[test]
fn an_optional_weight_may_be_missing() {
    let script = |s: &Script| {
        let embedded = s.embedded()?;
        assert_eq!(s.weight("gone"), Err(GUILD_STATUS_ERR_NOT_FOUND));
        s.logits(embedded)
    };
    outcome(vec![TestPlugin::new(script)]).unwrap();
}

#[test]
fn a_weight_of_an_unknown_type_is_unsupported() {
    let script = |s: &Script| s.main().and_then(|()| s.weight("strange")).map(drop);
    let fault = refused(script, &["\"strange\"", "Q2_0"]);
    assert!(matches!(fault, DescriptionFault::WeightFormat { .. }));
}

#[test]
fn a_weight_with_a_scale_of_its_own_is_unsupported() {
    let script = |s: &Script| {
        s.main()?;
        s.weight("alone.weight")?;
        s.weight("scaled.weight").map(drop)
    };
    let fault = refused(script, &["\"scaled.weight\"", "\"scaled.scale\""]);
    assert!(matches!(fault, DescriptionFault::WeightScale { .. }));
}

#[test]
fn a_wrong_shape_names_node_layer_operand_and_numbers() {
    let script = |s: &Script| {
        let embedded = s.embedded()?;
        let wide = value(GUILD_FORMAT_F32, &[ROWS, 5]);
        s.op(ADD, "sum", &[embedded, embedded], &[], &[wide])
            .map(drop)
    };
    refused(
        script,
        &[
            ADD,
            "\"sum\"",
            "layer 7",
            "y: wanted [n = rows, 4], offered [rows, 5]",
        ],
    );
}

#[test]
fn a_wrong_format_is_refused() {
    let script = |s: &Script| {
        s.main()?;
        let table = s.weight("table")?;
        let rows = s.input(GUILD_INPUT_OUTPUT_ROWS)?;
        let op = "guild.core.embedding@1";
        s.op(op, "embed", &[table, rows], &[], &[hidden(OUTPUTS)])
            .map(drop)
    };
    refused(script, &["ids: wanted [rows], offered [outputs]"]);
    let script = |s: &Script| {
        let embedded = s.embedded()?;
        let half = value(GUILD_FORMAT_F16, &[ROWS, 4]);
        s.op(ADD, "sum", &[embedded, embedded], &[], &[half])
            .map(drop)
    };
    refused(script, &["y: wanted format f32, offered f16"]);
}

#[test]
fn an_unknown_core_operation_is_refused() {
    let script = |s: &Script| {
        let embedded = s.embedded()?;
        s.op(
            "guild.core.frobnicate@1",
            "x",
            &[embedded],
            &[],
            &[hidden(ROWS)],
        )
        .map(drop)
    };
    let fault = refused(script, &["\"guild.core.frobnicate@1\"", "layer 7"]);
    assert!(matches!(fault, DescriptionFault::UnknownOperation { .. }));
    refused(
        |s| {
            let embedded = s.embedded()?;
            s.op("guild.core.add", "x", &[embedded], &[], &[hidden(ROWS)])
                .map(drop)
        },
        &["has no version"],
    );
    refused(
        |s| {
            let embedded = s.embedded()?;
            s.op("Org.test.add@1", "x", &[embedded], &[], &[hidden(ROWS)])
                .map(drop)
        },
        &["in lower case"],
    );
}

#[test]
fn a_state_has_one_use() {
    let script = |s: &Script| {
        let embedded = s.embedded()?;
        let state = s.counter("window")?;
        s.op(
            "test.ops.count@1",
            "one",
            &[embedded],
            &[state],
            &[hidden(ROWS)],
        )?;
        s.op(
            "test.ops.count@1",
            "two",
            &[embedded],
            &[state],
            &[hidden(ROWS)],
        )
        .map(drop)
    };
    refused(script, &["\"window\"", "\"one\"", "\"two\""]);
    let script = |s: &Script| {
        let embedded = s.embedded()?;
        let state = s.counter("window")?;
        let states = &[state, state];
        s.op(
            "test.ops.count@1",
            "one",
            &[embedded],
            states,
            &[hidden(ROWS)],
        )
        .map(drop)
    };
    refused(script, &["used by node \"one\" and again by node \"one\""]);
    let script = |s: &Script| {
        let embedded = s.embedded()?;
        s.counter("window")?;
        s.logits(embedded)
    };
    refused(script, &["\"window\"", "used by no node"]);
}

#[test]
fn states_are_checked() {
    refused(
        |s| {
            s.main()
                .and_then(|()| s.state_of(GUILD_STATE_APPEND, 0, &[2, 3, 4], "kv"))
                .map(drop)
        },
        &["\"kv\" has 3 axes"],
    );
    refused(
        |s| {
            s.main()
                .and_then(|()| s.state_of(GUILD_STATE_RECURRENT, 0, &[2], "s"))
                .map(drop)
        },
        &["\"s\" has format 0"],
    );
    refused(
        |s| {
            s.main()
                .and_then(|()| s.state_of(3, GUILD_FORMAT_F32, &[2], "s"))
                .map(drop)
        },
        &["unknown kind 3"],
    );
    let rank = |s: &Script| {
        s.main()?;
        s.state_of(GUILD_STATE_RECURRENT, GUILD_FORMAT_F32, &[1; 5], "s")
            .map(drop)
    };
    refused(rank, &["more than 4 axes"]);
}

#[test]
fn views_stay_inside_their_rows() {
    let script = |s: &Script| {
        let embedded = s.embedded()?;
        let half = s.view(embedded, 2, &[ROWS, 2], &[0, 1])?;
        s.op(
            ADD,
            "a",
            &[half, half],
            &[],
            &[value(GUILD_FORMAT_F32, &[ROWS, 2])],
        )?;
        let tail = s.view(half, 1, &[ROWS, 1, 1], &[0, 1, 1])?;
        let one = value(GUILD_FORMAT_F32, &[ROWS, 1, 1]);
        s.op(ADD, "b", &[tail, tail], &[], &[one])?;
        s.logits(embedded)
    };
    let described = outcome(vec![TestPlugin::new(script)]).unwrap();
    let section = &described.graph.sections[0];
    let tail = section.nodes[2].inputs[0];
    // A view of a view: the root is the embedding's output, the offsets add up.
    assert_eq!(section.root(tail), section.nodes[0].outputs[0]);
    let origin = format!("{:?}", section.values[tail].origin);
    assert!(origin.contains("offset: 3"), "{origin}");
    assert_eq!(section.values[tail].strides, [4, 1, 1]);
}

#[test]
fn a_view_out_of_bounds_is_refused() {
    refused(
        |s| {
            s.embedded()
                .and_then(|e| s.view(e, 3, &[ROWS, 2], &[0, 1]))
                .map(drop)
        },
        &["needs 5 elements", "a row has 4"],
    );
    refused(
        |s| {
            s.embedded()
                .and_then(|e| s.view(e, u64::MAX, &[ROWS, 2], &[0, 1]))
                .map(drop)
        },
        &["a row has 4"],
    );
    let overflow = |s: &Script| {
        let embedded = s.embedded()?;
        s.view(embedded, 0, &[ROWS, 1 << 40, 1], &[0, u64::MAX / 2, 1])
            .map(drop)
    };
    refused(overflow, &["a row has 4"]);
    refused(
        |s| {
            s.embedded()
                .and_then(|e| s.view(e, 0, &[ROWS, 2], &[0, 2]))
                .map(drop)
        },
        &["the last axis must be contiguous"],
    );
    refused(
        |s| {
            s.embedded()
                .and_then(|e| s.view(e, 0, &[4, 1], &[0, 1]))
                .map(drop)
        },
        &["axis 0 must be as in [rows, 4]"],
    );
    refused(
        |s| {
            s.embedded()
                .and_then(|_| s.view(0, 0, &[4, 1], &[0, 1]))
                .map(drop)
        },
        &["\"table\""],
    );
}

#[test]
fn numbers_of_nothing_are_refused() {
    refused(
        |s| {
            s.embedded()
                .and_then(|_| s.op(ADD, "a", &[0, 99], &[], &[hidden(ROWS)]))
                .map(drop)
        },
        &["value 99 doesn't exist", "which has 3"],
    );
    let state = |s: &Script| {
        let embedded = s.embedded()?;
        s.op("test.ops.count@1", "c", &[embedded], &[5], &[hidden(ROWS)])
            .map(drop)
    };
    refused(state, &["state 5 doesn't exist"]);
}

#[test]
fn outputs_are_made_by_operations_once_and_in_the_right_shape() {
    refused(
        |s| s.embedded().and_then(|e| s.output(GUILD_OUTPUT_LOGITS, e)),
        &["is f32 [rows, 4]; f32 [outputs, length] is needed"],
    );
    refused(
        |s| {
            s.embedded()
                .and_then(|e| s.logits(e).and_then(|()| s.logits(e)))
        },
        &["the input OutputRows twice"],
    );
    let twice = |s: &Script| {
        let embedded = s.embedded()?;
        s.output(GUILD_OUTPUT_HIDDEN, embedded)?;
        s.output(GUILD_OUTPUT_HIDDEN, embedded)
    };
    refused(twice, &["it had before"]);
    let viewed = |s: &Script| {
        let embedded = s.embedded()?;
        let view = s.view(embedded, 0, &[ROWS, 4], &[0, 1])?;
        s.output(GUILD_OUTPUT_HIDDEN, view)
    };
    refused(viewed, &["no operation makes"]);
    refused(|s| s.embedded().map(drop), &["has no output Logits"]);
    refused(
        |s| {
            s.embedded()
                .and_then(|e| s.op("a.b.c@1", "x", &[e], &[], &[]))
                .map(drop)
        },
        &["output 0 of node \"x\" is missing"],
    );
    let fixed = |s: &Script| {
        let embedded = s.embedded()?;
        s.op(
            "a.b.c@1",
            "x",
            &[embedded],
            &[],
            &[value(GUILD_FORMAT_F32, &[4])],
        )
        .map(drop)
    };
    refused(fixed, &["axis 0 must be rows or outputs"]);
    let blocks = |s: &Script| {
        let embedded = s.embedded()?;
        s.op(
            "a.b.c@1",
            "x",
            &[embedded],
            &[],
            &[value(GUILD_FORMAT_Q8_0, &[ROWS, 32])],
        )
        .map(drop)
    };
    refused(blocks, &["has q8_0; only weights have such"]);
}

#[test]
fn sections_come_in_order() {
    refused(
        |s| s.weight("table").map(drop),
        &["a section must be started first"],
    );
    refused(|_| Ok(()), &["nothing was described"]);
    refused(
        |s| s.section_of(GUILD_SECTION_DRAFT, "mtp"),
        &["a draft before the main section"],
    );
    refused(
        |s| whole(s).and_then(|()| s.main()),
        &["a second main section"],
    );
    refused(
        |s| {
            s.main()
                .and_then(|()| s.input(GUILD_INPUT_HIDDEN))
                .map(drop)
        },
        &["makes itself"],
    );
    refused(
        |s| s.main().and_then(|()| s.input(9)).map(drop),
        &["unknown input 9"],
    );
}

#[test]
fn draft_sections_are_checked_too() {
    let script = |s: &Script| {
        whole(s)?;
        s.section_of(GUILD_SECTION_DRAFT, "mtp")?;
        let hidden = s.input(GUILD_INPUT_HIDDEN)?;
        s.logits(hidden)
    };
    let described = outcome(vec![TestPlugin::new(script)]).unwrap();
    assert_eq!(described.graph.sections[1].kind, SectionKind::Draft);
    let script = |s: &Script| {
        whole(s)?;
        s.section_of(GUILD_SECTION_DRAFT, "mtp")?;
        // A number of the main section means nothing here.
        s.output(GUILD_OUTPUT_HIDDEN, 2)
    };
    refused(
        script,
        &["value 2 doesn't exist in section \"mtp\", which has 0"],
    );
}

#[test]
fn a_fault_that_the_runner_ignores_is_a_fault() {
    let script = |s: &Script| {
        let embedded = s.embedded()?;
        assert!(s.view(embedded, 9, &[ROWS, 2], &[0, 1]).is_err());
        assert_eq!(s.logits(embedded), Err(GUILD_STATUS_ERR_INVALID));
        Ok(())
    };
    refused(script, &["a row has 4"]);
}

#[test]
fn limits_hold_before_anything_is_copied() {
    refused(
        |s| {
            let embedded = s.embedded()?;
            let params = [0; 4097];
            s.op_with("a.b.c@1", "x", &params, &[embedded], &[], &[hidden(ROWS)])
                .map(drop)
        },
        &["parameters is 4097; the limit is 4096"],
    );
    refused(
        |s| {
            let embedded = s.embedded()?;
            s.op("a.b.c@1", "x", &[embedded; 65], &[], &[hidden(ROWS)])
                .map(drop)
        },
        &["is 65; the limit is 64"],
    );
    refused(
        |s| s.section_of(GUILD_SECTION_MAIN, &"x".repeat(257)),
        &["bytes of a name is 257; the limit is 256"],
    );
    refused(
        |s| {
            whole(s)?;
            (0..16).try_for_each(|_| {
                s.section_of(GUILD_SECTION_DRAFT, "mtp")?;
                let hidden = s.input(GUILD_INPUT_HIDDEN)?;
                s.logits(hidden)
            })
        },
        &["number of sections is 17; the limit is 16"],
    );
}

#[test]
fn structs_are_read_by_their_own_size() {
    let null = |s: &Script| s.raw_section(core::ptr::null());
    refused(null, &["a null or misaligned struct"]);
    fn desc() -> guild_section_desc {
        guild_section_desc {
            h: guild_hdr::new(size_of::<guild_section_desc>(), GUILD_KIND_RECORD),
            kind: GUILD_SECTION_MAIN,
            reserved0: 0,
            name: guild_str::new("main"),
            reserved: 0,
        }
    }
    // A section of an older header ends before its name, which then reads as empty.
    let short = |s: &Script| {
        let mut desc = desc();
        desc.h.size = 24;
        s.raw_section(&desc)
    };
    refused(short, &["section \"\" has no output Logits"]);
    let tiny = |s: &Script| {
        let mut desc = desc();
        desc.h.size = 8;
        s.raw_section(&desc)
    };
    refused(tiny, &["size field is too small"]);
    let kind = |s: &Script| {
        let mut desc = desc();
        desc.h.kind = GUILD_KIND_HOST;
        s.raw_section(&desc)
    };
    refused(kind, &["another kind"]);
    let flags = |s: &Script| {
        let mut desc = desc();
        desc.h.flags = 0x0100;
        s.raw_section(&desc)
    };
    refused(flags, &["flags that this host doesn't know"]);
}
