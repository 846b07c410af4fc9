//! Each stage against a naive reading of its definition, the order of the stages, and the edges.

use super::*;
use proptest::prelude::*;

/// What the filters leave.
fn kept(sampling: &Sampling, logits: &[f32]) -> Vec<u32> {
    let mut candidates = Candidates::new(sampling, logits.len());
    narrow(&mut candidates, logits, sampling, &Weigher::new());
    candidates.ids().to_vec()
}

/// Ids from the largest logit down, the lower id first on a tie.
fn ranked(logits: &[f32]) -> Vec<u32> {
    let mut ids: Vec<u32> = (0..logits.len() as u32).collect();
    ids.sort_by(|a, b| {
        let (x, y) = (logits[*a as usize], logits[*b as usize]);
        y.partial_cmp(&x).unwrap().then(a.cmp(b))
    });
    ids
}

fn softmax(logits: &[f32]) -> Vec<f64> {
    let exps: Vec<f64> = logits.iter().map(|logit| f64::from(*logit).exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.iter().map(|exp| exp / sum).collect()
}

/// Whether `kept` is a front part of `order` that holds `wanted`, and no shorter one does.
fn is_smallest_front(kept: &[u32], order: &[u32], shares: &[f64], wanted: f64, at_least: usize) {
    let mut front = order[..kept.len()].to_vec();
    let held = |ids: &[u32]| ids.iter().map(|id| shares[*id as usize]).sum::<f64>();
    let (all, fewer) = (held(&front), held(&front[..front.len() - 1]));
    front.sort_unstable();
    assert_eq!(kept, front);
    assert!(kept.len() >= at_least.min(order.len()));
    assert!(
        all >= wanted - 1e-5 || kept.len() == order.len(),
        "{all} of {wanted}"
    );
    assert!(
        fewer < wanted + 1e-5 || kept.len() <= at_least.max(1),
        "{fewer} of {wanted}"
    );
}

/// Logits as a model's, and some with many ties.
fn logits() -> impl Strategy<Value = Vec<f32>> {
    let smooth = prop::collection::vec(-12.0f32..12.0, 1..700);
    let ties = prop::collection::vec((-8i8..8).prop_map(f32::from), 1..700);
    prop_oneof![smooth, ties]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn top_k_keeps_the_k_best(logits in logits(), top_k in 1u32..800) {
        let sampling = Sampling { top_k, ..Sampling::default() };
        let mut want = ranked(&logits);
        want.truncate(top_k as usize);
        want.sort_unstable();
        prop_assert_eq!(kept(&sampling, &logits), want);
    }

    #[test]
    fn top_p_keeps_the_smallest_front_that_holds_p(
        logits in logits(), top_p in 0.0f32..0.9999, min_keep in 0u32..20,
    ) {
        let sampling = Sampling { top_p, min_keep, ..Sampling::default() };
        let (kept, shares) = (kept(&sampling, &logits), softmax(&logits));
        let wanted = f64::from(top_p);
        is_smallest_front(&kept, &ranked(&logits), &shares, wanted, min_keep as usize);
    }

    #[test]
    fn min_p_keeps_what_is_likely_enough(
        logits in logits(), min_p in 1e-6f32..1.0, min_keep in 0u32..20,
    ) {
        let sampling = Sampling { min_p, min_keep, ..Sampling::default() };
        let (kept, shares) = (kept(&sampling, &logits), softmax(&logits));
        let least = f64::from(min_p) * shares[ranked(&logits)[0] as usize];
        let order = ranked(&logits);
        let forced = &order[..order.len().min(min_keep.max(1) as usize)];
        for id in 0..logits.len() as u32 {
            let share = shares[id as usize];
            if share > least * (1.0 + 1e-5) || forced.contains(&id) {
                prop_assert!(kept.contains(&id), "{} is missing", id);
            } else if share < least * (1.0 - 1e-5) {
                prop_assert!(!kept.contains(&id), "{} is kept", id);
            }
        }
    }

    #[test]
    fn typical_keeps_the_tokens_nearest_the_entropy(
        logits in prop::collection::vec(-12.0f32..12.0, 1..400), typical in 0.0f32..0.9999,
        min_keep in 0u32..20,
    ) {
        let sampling = Sampling { typical, min_keep, ..Sampling::default() };
        let (kept, shares) = (kept(&sampling, &logits), softmax(&logits));
        let entropy: f64 = shares.iter().map(|p| -p * p.ln()).sum();
        let distance = |id: u32| (-shares[id as usize].ln() - entropy).abs();
        let (mut near, mut far) = (0.0f64, f64::INFINITY);
        for id in 0..logits.len() as u32 {
            match kept.contains(&id) {
                true => near = near.max(distance(id)),
                false => far = far.min(distance(id)),
            }
        }
        prop_assert!(near <= far + 1e-4, "{} kept, {} not", near, far);
        let held: f64 = kept.iter().map(|id| shares[*id as usize]).sum();
        let last = kept.iter().copied().max_by(|a, b| distance(*a).total_cmp(&distance(*b)));
        let fewer = held - shares[last.unwrap() as usize];
        let wanted = f64::from(typical);
        prop_assert!(held >= wanted - 1e-5 && kept.len() >= logits.len().min(min_keep as usize));
        prop_assert!(fewer < wanted + 1e-4 || kept.len() <= min_keep.max(1) as usize);
    }

    #[test]
    fn penalties_follow_the_last_n_tokens(
        tokens in prop::collection::vec(0u32..12, 0..60), repeat_last_n in 1u32..20,
        repeat_penalty in 0.1f32..3.0, presence_penalty in -2.0f32..2.0,
        frequency_penalty in -2.0f32..2.0, forget_at in 0usize..60,
    ) {
        let sampling = Sampling {
            repeat_last_n, repeat_penalty, presence_penalty, frequency_penalty, ..Sampling::default()
        };
        let logits: Vec<f32> = (0..12).map(|i| (i as f32 - 5.0) * 0.7).collect();
        let Some(mut penalties) = Penalties::new(&sampling, 12) else { return Ok(()) };
        let mut history = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            if index == forget_at {
                penalties.forget();
                history.clear();
            }
            penalties.remember(*token);
            history.push(*token);
            let window = &history[history.len().saturating_sub(repeat_last_n as usize)..];
            let mut got = logits.clone();
            penalties.apply(&mut got);
            for (id, (got, logit)) in got.iter().zip(&logits).enumerate() {
                let count = window.iter().filter(|token| **token as usize == id).count();
                let repeated = if *logit > 0.0 { logit / repeat_penalty } else { logit * repeat_penalty };
                let lowered = repeated - (count as f32 * frequency_penalty + presence_penalty);
                prop_assert_eq!(*got, if count > 0 { lowered } else { *logit });
            }
        }
    }

    #[test]
    fn a_draw_is_a_token_that_the_filters_left(logits in logits(), seed: u64) {
        let sampling = Sampling {
            temperature: 1.3, top_k: 50, top_p: 0.9, min_p: 0.01, typical: 0.95, seed,
            ..Sampling::default()
        };
        let left = kept(&sampling, &logits);
        let mut sampler = Sampler::new(sampling, logits.len()).unwrap();
        for _ in 0..5 {
            prop_assert!(left.contains(&sampler.sample(&logits).unwrap()));
        }
    }
}

/// The logits of probabilities.
fn of(probabilities: &[f32]) -> Vec<f32> {
    probabilities.iter().map(|p| p.ln()).collect()
}

fn one(sampling: Sampling, prompt: &[u32], logits: &[f32]) -> u32 {
    let mut sampler = Sampler::new(sampling, logits.len()).unwrap();
    sampler.remember(prompt);
    sampler.sample(logits).unwrap()
}

#[test]
fn bias_comes_before_penalties_and_both_before_top_k() {
    let bias = |token, bias| vec![LogitBias { token, bias }];
    // -1 + 2 is halved to 0.5; the other way round it would be -2 + 2.
    let sampling = Sampling {
        logit_bias: bias(1, 2.0),
        repeat_penalty: 2.0,
        ..Sampling::default()
    };
    assert_eq!(one(sampling, &[1], &[0.25, -1.0]), 1);
    let sampling = Sampling {
        temperature: 1.0,
        top_k: 1,
        logit_bias: bias(2, 5.0),
        ..Sampling::default()
    };
    assert_eq!(one(sampling, &[], &[2.0, 1.0, 0.0]), 2);
    let sampling = Sampling {
        temperature: 1.0,
        top_k: 1,
        presence_penalty: 5.0,
        ..Sampling::default()
    };
    assert_eq!(one(sampling, &[0], &[2.0, 1.0, 0.0]), 1);
}

#[test]
fn top_k_comes_before_typical() {
    // Of all tokens the many small ones are typical, of the best two the better one.
    let mut logits = vec![0.0; 400];
    (logits[7], logits[9]) = (3.0, 1.0);
    let sampling = Sampling {
        top_k: 2,
        typical: 0.3,
        ..Sampling::default()
    };
    assert_eq!(kept(&sampling, &logits), [7]);
}

#[test]
fn typical_comes_before_top_p() {
    // The entropy is 1.39, the information of 0.2 is 1.61 and that of 0.5 is 0.69.
    let logits = of(&[0.5, 0.2, 0.1, 0.1, 0.1]);
    let sampling = Sampling {
        typical: 0.15,
        top_p: 0.5,
        ..Sampling::default()
    };
    assert_eq!(kept(&sampling, &logits), [1]);
}

#[test]
fn top_p_comes_before_min_p() {
    // After min-p the first two would hold 0.78 of what is left.
    let logits = of(&[0.4, 0.3, 0.2, 0.1]);
    let sampling = Sampling {
        top_p: 0.75,
        min_p: 0.45,
        ..Sampling::default()
    };
    assert_eq!(kept(&sampling, &logits), [0, 1, 2]);
}

#[test]
fn the_filters_come_before_the_temperature() {
    let logits = of(&[0.5, 0.3, 0.1, 0.1]);
    let filters: [fn(&mut Sampling); 3] = [
        |it| it.top_p = 0.6,
        |it| it.min_p = 0.5,
        |it| it.typical = 0.6,
    ];
    for filter in filters {
        let mut sampling = Sampling {
            temperature: 100.0,
            ..Sampling::default()
        };
        filter(&mut sampling);
        let mut sampler = Sampler::new(sampling, 4).unwrap();
        for _ in 0..200 {
            assert!(sampler.sample(&logits).unwrap() < 2);
        }
    }
}

#[test]
fn greedy_takes_the_lower_id_on_a_tie() {
    assert_eq!(one(Sampling::default(), &[], &[1.0, 3.0, 3.0, -1.0]), 1);
    assert_eq!(one(Sampling::default(), &[], &[-0.0, 0.0]), 0);
    let top_k = Sampling {
        top_k: 2,
        ..Sampling::default()
    };
    assert_eq!(kept(&top_k, &[0.0, -0.0, 0.0]), [0, 1]);
}

#[test]
fn logits_that_are_not_finite_are_refused_with_the_token() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut logits = vec![0.0; 1000];
        logits[777] = bad;
        let mut sampler = Sampler::new(Sampling::default(), 1000).unwrap();
        let error = sampler.sample(&logits).unwrap_err();
        assert!(matches!(
            error,
            EngineError::LogitNotFinite { token: 777, .. }
        ));
    }
    let mut sampler = Sampler::new(Sampling::default(), 3).unwrap();
    let error = sampler.sample(&[0.0]).unwrap_err();
    assert!(matches!(
        error,
        EngineError::LogitCount {
            found: 1,
            vocabulary: 3
        }
    ));
}

#[test]
fn a_seed_fixes_the_draws_and_their_share_follows_the_softmax() {
    let logits = [0.0, std::f32::consts::LN_2, f32::MIN];
    let draws = |seed| {
        let sampling = Sampling {
            temperature: 1.0,
            seed,
            ..Sampling::default()
        };
        let mut sampler = Sampler::new(sampling, 3).unwrap();
        let draws = (0..30_000).map(|_| sampler.sample(&logits).unwrap());
        draws.collect::<Vec<_>>()
    };
    let first = draws(42);
    assert_eq!(first, draws(42));
    assert_ne!(first, draws(43));
    let ones = first.iter().filter(|token| **token == 1).count() as f64 / 30_000.0;
    // Two thirds, with a standard deviation of 0.0027.
    assert!((ones - 2.0 / 3.0).abs() < 0.014, "{ones}");
    assert!(!first.contains(&2));
}

#[test]
fn a_forbidden_token_is_never_chosen() {
    let forbid = |tokens: &[u32]| {
        let biases = tokens.iter().map(|token| LogitBias {
            token: *token,
            bias: f32::NEG_INFINITY,
        });
        biases.collect::<Vec<_>>()
    };
    let ways = [
        Sampling::default(),
        Sampling {
            temperature: 2.0,
            ..Sampling::default()
        },
        Sampling {
            temperature: 2.0,
            top_k: 2,
            ..Sampling::default()
        },
        Sampling {
            temperature: 2.0,
            top_p: 0.9,
            min_keep: 3,
            ..Sampling::default()
        },
        Sampling {
            temperature: 0.0,
            typical: 0.1,
            repeat_penalty: 2.0,
            ..Sampling::default()
        },
    ];
    for way in ways {
        let way = Sampling {
            logit_bias: forbid(&[0, 2]),
            ..way
        };
        assert_eq!(one(way.clone(), &[0, 0], &[9.0, 0.0, 8.0]), 1);
        let all = Sampling {
            logit_bias: forbid(&[0, 1, 2]),
            ..way
        };
        let mut sampler = Sampler::new(all, 3).unwrap();
        assert!(matches!(
            sampler.sample(&[0.0; 3]),
            Err(EngineError::NoCandidate)
        ));
    }
}

#[test]
fn extreme_values_stay_within_bounds() {
    let sampling = Sampling {
        temperature: f32::from_bits(1),
        repeat_penalty: f32::from_bits(1),
        presence_penalty: f32::MIN,
        frequency_penalty: f32::MIN,
        min_p: 1.0,
        typical: 0.0,
        top_p: 0.0,
        top_k: u32::MAX,
        logit_bias: vec![LogitBias {
            token: 1,
            bias: f32::MAX,
        }],
        ..Sampling::default()
    };
    // Both tokens of the history end at the largest finite value.
    assert_eq!(one(sampling, &[1, 1, 0], &[f32::MIN, f32::MAX, 0.0]), 0);
}

/// What is done to sampling parameters.
type Change = fn(&mut Sampling);

#[test]
fn parameters_outside_their_range_are_named() {
    let cases: [(Change, &str); 12] = [
        (
            |it| it.temperature = -1.0,
            "temp is -1; it must be 0 or above, and finite",
        ),
        (
            |it| it.temperature = f32::NAN,
            "temp is NaN; it must be 0 or above, and finite",
        ),
        (
            |it| it.temperature = f32::INFINITY,
            "temp is inf; it must be 0 or above, and finite",
        ),
        (|it| it.top_p = 1.5, "top-p is 1.5; it must be from 0 to 1"),
        (
            |it| it.min_p = -0.1,
            "min-p is -0.1; it must be from 0 to 1",
        ),
        (
            |it| it.typical = f32::NAN,
            "typical is NaN; it must be from 0 to 1",
        ),
        (
            |it| it.repeat_penalty = 0.0,
            "repeat-penalty is 0; it must be above 0, and finite",
        ),
        (
            |it| it.presence_penalty = f32::INFINITY,
            "presence-penalty is inf; it must be finite",
        ),
        (
            |it| it.frequency_penalty = f32::NAN,
            "frequency-penalty is NaN; it must be finite",
        ),
        (
            |it| it.repeat_last_n = 1 << 25,
            "repeat-last-n is 33554432; it must be from 0 to 16777216",
        ),
        (
            |it| {
                it.logit_bias = vec![LogitBias {
                    token: 5,
                    bias: 0.0,
                }]
            },
            "token 5",
        ),
        (
            |it| {
                it.logit_bias = vec![
                    LogitBias {
                        token: 1,
                        bias: 0.0
                    };
                    2
                ]
            },
            "twice for token 1",
        ),
    ];
    for (change, words) in cases {
        let mut sampling = Sampling::default();
        change(&mut sampling);
        let error = Sampler::new(sampling, 5).err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// What a sampler holds, from its buffers themselves.
fn held_bytes(sampler: &Sampler) -> u64 {
    let penalties = sampler.penalties.as_ref().map_or(0, Penalties::held_bytes);
    let adjusted = sampler.adjusted.capacity() * size_of::<f32>();
    let own = sampler.sampling.logit_bias.capacity() * size_of::<LogitBias>();
    (sampler.biases.held_bytes() + penalties + sampler.candidates.held_bytes() + adjusted + own)
        as u64
}

/// A change of the greedy default, and the bytes of its tables for 1000 tokens.
type Row = (fn(&mut Sampling), u64);

fn two_biases(it: &mut Sampling) {
    let bias = |token| LogitBias { token, bias: 1.0 };
    // Room that isn't used doesn't count.
    it.logit_bias = Vec::with_capacity(9);
    it.logit_bias.extend([bias(1), bias(7)]);
}

fn all_stages(it: &mut Sampling) {
    two_biases(it);
    (it.temperature, it.typical, it.top_p) = (0.7, 0.9, 0.8);
    (it.presence_penalty, it.repeat_last_n) = (0.5, 10);
}

const TABLES: [Row; 9] = [
    (|_| {}, 0),
    (|it| it.temperature = 1.0, 0),
    (|it| it.top_k = 40, 40 * 4 + 80 * 8),
    (|it| it.top_k = 1000, 1000 * (4 + 8)),
    (|it| (it.top_p, it.temperature) = (0.9, 1.0), 1000 * (4 + 8)),
    (|it| (it.top_k, it.min_p, it.min_keep) = (40, 0.1, 60), 800),
    (|it| it.repeat_penalty = 1.1, 1000 * (4 + 4) + 64 * 4),
    (two_biases, 1000 * 4 + 2 * 8),
    (all_stages, 1000 * (4 + 8 + 4 + 4) + 10 * 4 + 2 * 8),
];

#[test]
fn table_bytes_are_what_a_sampler_holds_before_and_after_it_samples() {
    let logit = |i: u32| ((i * 7919) % 1000) as f32 * 0.01;
    let logits: Vec<f32> = (0..1000).map(logit).collect();
    for (change, want) in TABLES {
        let mut sampling = Sampling::default();
        change(&mut sampling);
        assert_eq!(Sampler::table_bytes(&sampling, 1000), want, "{sampling:?}");
        let mut sampler = Sampler::new(sampling.clone(), 1000).unwrap();
        assert_eq!(held_bytes(&sampler), want, "{sampling:?}");
        for _ in 0..20 {
            sampler.sample(&logits).unwrap();
        }
        assert_eq!(held_bytes(&sampler), want, "{sampling:?}");
    }
    let mut all = Sampling::default();
    all_stages(&mut all);
    assert_eq!(Sampler::table_bytes(&all, u64::MAX), u64::MAX);
}

/// 2^24 weights of 2^40 are one more than a u64 holds.
#[test]
fn a_vocabulary_whose_sums_could_overflow_is_refused() {
    let most = weights::TOKENS_MAX;
    assert_eq!(most as u64 * weights::fixed(1.0), 1 << 63);
    assert!(Sampler::new(Sampling::default(), most).is_ok());
    let error = Sampler::new(Sampling::default(), most + 1).err().unwrap();
    assert!(
        matches!(error, EngineError::VocabularyTooLarge { vocabulary, limit } if vocabulary == most + 1 && limit == most),
        "{error}"
    );
}
