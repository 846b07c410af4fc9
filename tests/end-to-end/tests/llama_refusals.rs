//! Every invariant of the llama runner, broken once in a made-up file: the refusal has its exit code
//! and names the key or the tensor and the numbers. The runner is an installed package in C.

use guild_end_to_end::{LLAMA, Site};
use guild_hostile::writer::{Encoded, Writer, boolean, f32, i32s, string, text, u32};

/// Tensors of the sample: name and axes, outermost first.
fn tensors() -> Vec<(String, Vec<u64>)> {
    let mut tensors = vec![
        ("token_embd.weight".to_owned(), vec![10, 16]),
        ("output_norm.weight".to_owned(), vec![16]),
    ];
    for layer in 0..2 {
        for (name, axes) in [
            ("attn_norm", &[16][..]),
            ("attn_q", &[16, 16]),
            ("attn_k", &[8, 16]),
            ("attn_v", &[8, 16]),
            ("attn_output", &[16, 16]),
            ("ffn_norm", &[16]),
            ("ffn_gate", &[24, 16]),
            ("ffn_up", &[24, 16]),
            ("ffn_down", &[16, 24]),
        ] {
            tensors.push((format!("blk.{layer}.{name}.weight"), axes.to_vec()));
        }
    }
    tensors
}

/// A file that the runner takes, until a test changes it.
struct Sample(Writer);

impl Sample {
    /// Two layers, 4 query heads of 4 on 2 KV heads, hidden 16, feed-forward 24, 10 tokens.
    fn new() -> Sample {
        let mut sample = Sample(Writer::new());
        sample.0.entry("general.architecture", 8, &string("llama"));
        for (key, value) in [
            ("block_count", 2),
            ("embedding_length", 16),
            ("feed_forward_length", 24),
            ("attention.head_count", 4),
            ("attention.head_count_kv", 2),
            ("rope.dimension_count", 4),
            ("vocab_size", 10),
        ] {
            sample.set(key, u32(value));
        }
        sample.set("attention.layer_norm_rms_epsilon", f32(1e-5));
        sample.set("rope.freq_base", f32(1e4));
        for (name, axes) in tensors() {
            sample.tensor(&name, &axes);
        }
        sample
    }

    /// Sets `llama.KEY`.
    fn set(&mut self, key: &str, value: Encoded) {
        self.0.set(&format!("llama.{key}"), value);
    }

    fn remove(&mut self, key: &str) {
        self.0.remove(&format!("llama.{key}"));
    }

    /// Adds or replaces an f32 tensor of zeros; axes outermost first.
    fn tensor(&mut self, name: &str, axes: &[u64]) {
        let axes: Vec<u64> = axes.iter().rev().copied().collect();
        let bytes = 4 * axes.iter().product::<u64>() as usize;
        self.0.remove_tensor(name);
        self.0.tensor(name, &axes, 0, vec![0; bytes]);
    }
}

/// The installed runner over the built-in kernels.
struct Runner {
    site: Site,
}

impl Runner {
    fn new() -> Runner {
        Runner {
            site: Site::with(&[LLAMA]),
        }
    }

    /// Exit code and answer of `guild plan` for the changed sample.
    fn plan(&self, change: impl FnOnce(&mut Sample)) -> (Option<i32>, serde_json::Value) {
        let mut sample = Sample::new();
        change(&mut sample);
        let path = self.site.path("sample.gguf");
        std::fs::write(&path, sample.0.bytes()).unwrap();
        let path = path.to_string_lossy();
        let output = self.site.output(&["plan", &path, "--no-builtin-llama"]);
        let answer = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), answer)
    }

    #[track_caller]
    fn refused(&self, exit: i32, parts: &[&str], change: impl FnOnce(&mut Sample)) {
        let (code, answer) = self.plan(change);
        let text = |field: &str| answer[field].as_str().unwrap_or_default();
        let said = format!("{}. {}", text("message"), text("hint"));
        assert_eq!(code, Some(exit), "{answer}");
        for part in parts {
            assert!(said.contains(part), "{part:?} isn't in {said:?}");
        }
    }
}

const DAMAGED: i32 = 3;
const UNSUPPORTED: i32 = 4;

#[test]
fn the_sample_and_its_harmless_variants_are_described() {
    let runner = Runner::new();
    let taken = |change: fn(&mut Sample)| {
        let (code, answer) = runner.plan(change);
        assert_eq!(code, Some(0), "{answer}");
    };
    taken(|_| {});
    taken(|sample| sample.remove("rope.dimension_count"));
    taken(|sample| sample.remove("rope.freq_base"));
    taken(|sample| sample.remove("vocab_size"));
    taken(|sample| sample.set("rope.scaling.type", text("none")));
    taken(|sample| sample.set("rope.dimension_count", u32(2)));
    taken(|sample| sample.set("expert_count", u32(0)));
    taken(|sample| sample.set("attention.causal", boolean(true)));
    taken(|sample| sample.tensor("output.weight", &[10, 16]));
    taken(|sample| {
        let factors = [1.0f32, 32.0].map(f32::to_le_bytes).concat();
        sample.0.tensor("rope_freqs.weight", &[2], 0, factors);
    });
    taken(|sample| {
        sample.remove("attention.head_count_kv");
        for layer in 0..2 {
            sample.tensor(&format!("blk.{layer}.attn_k.weight"), &[16, 16]);
            sample.tensor(&format!("blk.{layer}.attn_v.weight"), &[16, 16]);
        }
    });
}

#[test]
fn a_missing_key_is_named() {
    let runner = Runner::new();
    for key in [
        "block_count",
        "embedding_length",
        "feed_forward_length",
        "attention.head_count",
        "attention.layer_norm_rms_epsilon",
    ] {
        let full = format!("llama.{key}");
        runner.refused(DAMAGED, &[&full], |sample| sample.remove(key));
    }
}

#[test]
fn a_number_that_cant_be_is_named_with_its_range() {
    let runner = Runner::new();
    for (key, value, parts) in [
        ("block_count", 0, "block_count is 0; 1 to 1024"),
        ("block_count", 1025, "block_count is 1025; 1 to 1024"),
        ("embedding_length", 0, "embedding_length is 0; 1 to 1048576"),
        ("embedding_length", u32::MAX, "is 4294967295; 1 to 1048576"),
        ("feed_forward_length", 0, "feed_forward_length is 0"),
        ("attention.head_count", 0, "head_count is 0"),
        ("attention.head_count_kv", 0, "head_count_kv is 0"),
        ("attention.key_length", 0, "key_length is 0"),
        ("rope.dimension_count", 0, "dimension_count is 0; 2 to 4"),
        ("rope.dimension_count", 6, "dimension_count is 6; 2 to 4"),
        ("rope.dimension_count", 3, "dimension_count is 3, which"),
        ("vocab_size", 11, "llama.vocab_size is 11, but the number"),
    ] {
        runner.refused(DAMAGED, &[parts], |sample| {
            sample.set(key, u32(value));
        });
    }
    for (key, value) in [
        ("rope.freq_base", 0.0),
        ("rope.freq_base", f32::INFINITY),
        ("attention.layer_norm_rms_epsilon", -1.0),
        ("attention.layer_norm_rms_epsilon", f32::NAN),
    ] {
        runner.refused(DAMAGED, &[key, "above 0 and finite"], |sample| {
            sample.set(key, f32(value));
        });
    }
}

#[test]
fn a_value_of_another_type_is_named() {
    let runner = Runner::new();
    runner.refused(DAMAGED, &["llama.block_count isn't an integer"], |sample| {
        sample.set("block_count", text("two"));
    });
    runner.refused(
        DAMAGED,
        &["llama.rope.freq_base isn't a number"],
        |sample| {
            sample.set("rope.freq_base", text("high"));
        },
    );
    runner.refused(DAMAGED, &["llama.expert_count isn't a number"], |sample| {
        sample.set("expert_count", text("some"));
    });
    runner.refused(DAMAGED, &["llama.rope.scaling.type isn't text"], |sample| {
        sample.set("rope.scaling.type", u32(1));
    });
    let lists = ["attention.head_count", "feed_forward_length"];
    for key in lists {
        let parts = [key, "has 2 values", "one for all layers"];
        runner.refused(UNSUPPORTED, &parts, |sample| {
            sample.set(key, i32s(&[4, 4]));
        });
    }
}

#[test]
fn heads_that_dont_divide_are_named() {
    let runner = Runner::new();
    let parts = ["head_count is 4", "llama.attention.head_count_kv = 3"];
    runner.refused(DAMAGED, &parts, |sample| {
        sample.set("attention.head_count_kv", u32(3));
    });
    let parts = ["embedding_length is 16", "llama.attention.head_count = 6"];
    runner.refused(DAMAGED, &parts, |sample| {
        sample.set("attention.head_count", u32(6));
    });
    let parts = ["value_length is 8", "the length of a key is 4"];
    runner.refused(DAMAGED, &parts, |sample| {
        sample.set("attention.value_length", u32(8));
    });
}

#[test]
fn what_would_change_the_mathematics_is_named() {
    let runner = Runner::new();
    for (key, value, shown) in [
        ("expert_count", u32(8), "8"),
        ("attention.sliding_window", u32(4096), "4096"),
        ("attention.causal", boolean(false), "0"),
        ("attention.scale", f32(0.5), "0.5"),
        ("attention.clamp_kqv", f32(8.0), "8"),
        ("attention.max_alibi_bias", f32(8.0), "8"),
        ("use_parallel_residual", boolean(true), "1"),
        ("embedding_scale", f32(12.0), "12"),
        ("residual_scale", f32(0.5), "0.5"),
        ("logit_scale", f32(0.25), "0.25"),
        ("attn_logit_softcapping", f32(50.0), "50"),
        ("final_logit_softcapping", f32(30.0), "30"),
        ("rope.scale_linear", f32(4.0), "4"),
        ("rope.scaling.factor", f32(4.0), "4"),
        ("rope.scaling.attn_factor", f32(2.0), "2"),
    ] {
        let found = format!("llama.{key} is {shown}; this runner computes");
        runner.refused(UNSUPPORTED, &[&found, "only"], |sample| {
            sample.set(key, value)
        });
    }
    for name in ["linear", "yarn", "longrope"] {
        let parts = ["llama.rope.scaling.type is", name, "\"none\" only"];
        runner.refused(UNSUPPORTED, &parts, |sample| {
            sample.set("rope.scaling.type", text(name));
        });
    }
}

#[test]
fn every_missing_tensor_is_named() {
    let runner = Runner::new();
    for (name, _) in tensors() {
        let change = |sample: &mut Sample| {
            sample.0.remove_tensor(&name);
        };
        runner.refused(DAMAGED, &[&name, "missing"], change);
    }
}

#[test]
fn every_tensor_of_another_shape_is_named_with_both_shapes() {
    let runner = Runner::new();
    for (name, axes) in tensors() {
        let wanted = match axes[..] {
            // The embedding's rows are the vocabulary, whatever they are.
            [_, columns] if name == "token_embd.weight" => format!("[10, {columns}]"),
            [rows, columns] => format!("[{rows}, {columns}]"),
            [length] => format!("[{length}]"),
            _ => String::new(),
        };
        let found = if axes.len() == 1 {
            vec![5]
        } else {
            vec![10, 5]
        };
        let change = |sample: &mut Sample| sample.tensor(&name, &found);
        runner.refused(DAMAGED, &[&name, "5", &wanted], change);
    }
    for (name, axes, wanted) in [
        ("output.weight", &[16, 10][..], "[10, 16]"),
        ("output.weight", &[10, 16, 2], "[10, 16, 2]"),
        ("rope_freqs.weight", &[4], "[2]"),
        ("blk.1.attn_norm.weight", &[16, 2], "[16, 2]"),
    ] {
        let change = |sample: &mut Sample| sample.tensor(name, axes);
        runner.refused(DAMAGED, &[name, wanted], change);
    }
}

/// Its values are the kernel's to see: the runner sees no weights.
#[test]
fn a_frequency_factor_that_is_none_is_the_files_fault() {
    let runner = Runner::new();
    let parts = ["attn_q_rope", "a frequency factor isn't finite", "convert"];
    runner.refused(DAMAGED, &parts, |sample| {
        sample.tensor("rope_freqs.weight", &[2]);
    });
}

#[test]
fn a_tensor_that_would_be_left_out_is_named() {
    let runner = Runner::new();
    for (name, axes) in [
        ("blk.0.attn_q.bias", &[16][..]),
        ("blk.1.attn_output.bias", &[16]),
        ("blk.0.attn_q_norm.weight", &[4]),
        ("blk.0.ffn_gate_inp.weight", &[8, 16]),
        ("blk.2.attn_norm.weight", &[16]),
        // A layer's number in another spelling is no layer's.
        ("blk.00.attn_q.weight", &[16, 16]),
        ("blk.+0.attn_q.weight", &[16, 16]),
        ("blk.18446744073709551616.attn_q.weight", &[16, 16]),
        ("output.bias", &[10]),
    ] {
        let change = |sample: &mut Sample| sample.tensor(name, axes);
        runner.refused(UNSUPPORTED, &[name, "none that this runner"], change);
    }
}
