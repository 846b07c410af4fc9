//! Chosen tokens against those of a Python script that was written from `docs/sampling.md`
//! (`tests/data/sampling/make_vectors.py`).

use guild_engine::{LogitBias, Sampler, Sampling};
use serde_json::Value;

const VECTORS: &str = include_str!("../../../tests/data/sampling/vectors.json");

fn sampling(case: &Value) -> Sampling {
    let float = |name: &str| case[name].as_f64().unwrap() as f32;
    let count = |name: &str| case[name].as_u64().unwrap() as u32;
    let biases = case["logit_bias"].as_array().unwrap().iter();
    let biases = biases.map(|pair| LogitBias {
        token: pair[0].as_u64().unwrap() as u32,
        bias: pair[1]
            .as_f64()
            .map_or(f32::NEG_INFINITY, |bias| bias as f32),
    });
    Sampling {
        temperature: float("temperature"),
        top_k: count("top_k"),
        typical: float("typical"),
        top_p: float("top_p"),
        min_p: float("min_p"),
        min_keep: count("min_keep"),
        repeat_penalty: float("repeat_penalty"),
        presence_penalty: float("presence_penalty"),
        frequency_penalty: float("frequency_penalty"),
        repeat_last_n: count("repeat_last_n"),
        logit_bias: biases.collect(),
        seed: case["seed"].as_u64().unwrap(),
    }
}

fn ids(list: &Value) -> Vec<u32> {
    let ids = list.as_array().unwrap().iter();
    ids.map(|id| id.as_u64().unwrap() as u32).collect()
}

#[test]
fn chains_choose_the_tokens_of_the_outside_script() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let rows = vectors["logits"].as_array().unwrap().iter();
    let rows = rows.map(|row| {
        let values = row.as_array().unwrap().iter();
        values.map(|value| value.as_f64().unwrap() as f32).collect()
    });
    let rows: Vec<Vec<f32>> = rows.collect();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!((rows.len(), cases.len()), (24, 27));
    for case in cases {
        let mut sampler = Sampler::new(sampling(case), rows[0].len()).unwrap();
        sampler.remember(&ids(&case["prompt"]));
        let chosen: Vec<u32> = rows
            .iter()
            .map(|row| sampler.sample(row).unwrap())
            .collect();
        assert_eq!(chosen, ids(&case["tokens"]), "{}", case["name"]);
    }
}
