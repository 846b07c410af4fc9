//! The oracle against independent formulas in f64, so that it isn't only consistent with itself.

use guild_conformance::case::{Seed, random_weight};
use guild_conformance::oracle::attention::{Attention, CacheFormat};
use guild_conformance::oracle::gated_delta::{DeltaRows, GatedDelta};
use guild_conformance::oracle::rope::{Pairing, Rotation};
use guild_conformance::oracle::{self, Matrix};
use guild_sdk::abi::formats::GUILD_FORMAT_F32;
use guild_sdk::format::{self, WEIGHT_FORMATS};

/// `got` is within `tolerance` of `want`, measured against the largest wanted value.
fn assert_close(got: &[f32], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len());
    let scale = want.iter().fold(1e-30f64, |scale, x| scale.max(x.abs()));
    for (at, (&got, &want)) in got.iter().zip(want).enumerate() {
        let off = (f64::from(got) - want).abs() / scale;
        assert!(
            off <= tolerance,
            "{at}: got {got}, want {want}, off {off:e}"
        );
    }
}

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().copied().map(f64::from).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[test]
fn norms_divide_by_the_root_mean_square() {
    let mut seed = Seed::new(1);
    let (x, weight, z) = (
        seed.floats(77, 3.0),
        seed.floats(77, 2.0),
        seed.floats(77, 9.0),
    );
    let (wx, ww, wz) = (wide(&x), wide(&weight), wide(&z));
    let rms = (dot(&wx, &wx) / 77.0 + 1e-6).sqrt();
    let want: Vec<f64> = wx.iter().zip(&ww).map(|(x, w)| x / rms * w).collect();
    assert_close(&oracle::rms_norm::rms_norm(&x, &weight, 1e-6), &want, 1e-6);
    let gated: Vec<f64> = want
        .iter()
        .zip(&wz)
        .map(|(y, z)| y * z * sigmoid(*z))
        .collect();
    let got = oracle::gated_rms_norm::gated_rms_norm(&x, &weight, &z, 1e-6);
    assert_close(&got, &gated, 1e-6);
    let length = (dot(&wx, &wx) + 1e-6).sqrt();
    let want: Vec<f64> = wx.iter().map(|x| x / length * 0.25).collect();
    assert_close(&oracle::l2_norm::l2_norm(&x, 77, 1e-6, 0.25), &want, 1e-6);
}

#[test]
fn linear_is_the_product_with_the_decoded_weight() {
    // 8-bit activations are off by at most half a step of amax / 127 each.
    for &format in WEIGHT_FORMATS {
        let (k, tolerance) = match format::storage(format).unwrap().block_elems {
            1 => (160, 1e-6),
            32 => (160, 2e-2),
            _ => (512, 2e-2),
        };
        let mut seed = Seed::new(2);
        let bytes = random_weight(&mut seed, format, 9, k);
        let weight = Matrix::new(format, &bytes, k).unwrap();
        let x = seed.floats(k, 1.0);
        let rows = (0..9).map(|row| dot(&wide(&weight.decode(row)), &wide(&x)));
        assert_close(&weight.apply(&x), &rows.collect::<Vec<_>>(), tolerance);
    }
}

#[test]
fn rope_multiplies_by_a_unit_complex_number() {
    let (dim, rotary, theta) = (40, 32, 1e6f64);
    let x = Seed::new(3).floats(2 * dim, 1.0);
    let positions = [0u64, 12_345];
    let factors: Vec<f32> = (0..rotary / 2).map(|i| 1.0 + i as f32 / 2.0).collect();
    for (pairing, factors) in [
        (Pairing::Halves, None),
        (Pairing::Halves, Some(&factors[..])),
        (Pairing::Adjacent, None),
        (Pairing::Adjacent, Some(&factors[..])),
    ] {
        let rotation = Rotation {
            pairing,
            rotary_dims: rotary,
            theta,
            factors,
        };
        let got = oracle::rope::rope(&x, 1, dim, &positions, &rotation).unwrap();
        let mut want = wide(&x);
        for (row, &position) in want.chunks_exact_mut(dim).zip(&positions) {
            for i in 0..rotary / 2 {
                let factor = factors.map_or(1.0, |factors| f64::from(factors[i]));
                let frequency = theta.powf(-2.0 * i as f64 / rotary as f64) / factor;
                let angle = position as f64 * frequency;
                let (re, im) = match pairing {
                    Pairing::Halves => (i, i + rotary / 2),
                    Pairing::Adjacent => (2 * i, 2 * i + 1),
                };
                let (a, b) = (row[re], row[im]);
                row[re] = a * angle.cos() - b * angle.sin();
                row[im] = a * angle.sin() + b * angle.cos();
            }
        }
        assert_close(&got, &want, 1e-6);
        assert_eq!(got[..dim], x[..dim], "position 0 rotates nothing");
    }
}

#[test]
fn attention_is_one_softmax_over_the_visible_positions() {
    for (format, tolerance) in [(CacheFormat::F32, 2e-6), (CacheFormat::F16, 2e-3)] {
        let a = Attention {
            heads: 4,
            kv_heads: 2,
            dim: 24,
            scale: 0.2,
            format,
        };
        let rows = 520;
        let mut seed = Seed::new(4);
        let q = seed.floats(rows * 4 * 24, 2.0);
        let k = seed.floats(rows * 2 * 24, 2.0);
        let v = seed.floats(rows * 2 * 24, 2.0);
        let got = a.rows(&q, &k, &v, &mut Vec::new(), &mut Vec::new());
        let (q, k, v) = (wide(&q), wide(&k), wide(&v));
        for (row, head) in [(0, 0), (1, 3), (255, 1), (256, 2), (519, 3)] {
            let q = &q[(row * 4 + head) * 24..][..24];
            let at = |j: usize| (j * 2 + head / 2) * 24;
            let p: Vec<f64> = (0..=row)
                .map(|j| (dot(q, &k[at(j)..][..24]) * f64::from(a.scale)).exp())
                .collect();
            let sum: f64 = p.iter().sum();
            let want: Vec<f64> = (0..24)
                .map(|d| (0..=row).map(|j| p[j] * v[at(j) + d]).sum::<f64>() / sum)
                .collect();
            assert_close(&got[(row * 4 + head) * 24..][..24], &want, tolerance);
        }
    }
}

#[test]
fn attention_in_chunks_is_attention_at_once() {
    let a = Attention {
        heads: 2,
        kv_heads: 1,
        dim: 8,
        scale: 0.35,
        format: CacheFormat::F16,
    };
    let rows = 300;
    let mut seed = Seed::new(5);
    let q = seed.floats(rows * 2 * 8, 2.0);
    let (k, v) = (seed.floats(rows * 8, 2.0), seed.floats(rows * 8, 2.0));
    let whole = a.rows(&q, &k, &v, &mut Vec::new(), &mut Vec::new());
    let (mut keys, mut values, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for first in (0..rows).step_by(7) {
        let rows = 7.min(rows - first);
        parts.extend(a.rows(
            &q[first * 16..][..rows * 16],
            &k[first * 8..][..rows * 8],
            &v[first * 8..][..rows * 8],
            &mut keys,
            &mut values,
        ));
    }
    assert_eq!(whole, parts);
}

#[test]
fn causal_conv_is_a_sum_over_the_last_inputs() {
    let (rows, channels, width) = (9, 5, 4);
    let mut seed = Seed::new(6);
    let x = seed.floats(rows * channels, 2.0);
    let weight = seed.floats(channels * width, 1.0);
    let mut window = vec![0.0; (width - 1) * channels];
    let got = oracle::causal_conv::causal_conv(&x, channels, &weight, true, &mut window, |_, _| {});
    let (wx, ww) = (wide(&x), wide(&weight));
    let mut want = Vec::new();
    for t in 0..rows {
        for c in 0..channels {
            // Tap `width - 1` meets the newest input.
            let y: f64 = (0..width.min(t + 1))
                .map(|back| ww[c * width + width - 1 - back] * wx[(t - back) * channels + c])
                .sum();
            want.push(y * sigmoid(y));
        }
    }
    assert_close(&got, &want, 1e-6);
    assert_eq!(window, x[(rows - 3) * channels..]);
}

#[test]
fn gated_delta_is_the_matrix_recurrence() {
    // S_t = g (I - b k k^T) S_{t-1} + b k v^T, y_t = S_t^T q (arXiv 2412.06464, equation 10).
    let (kd, vd, rows) = (6, 5, 12);
    let d = GatedDelta {
        key_heads: 1,
        key_dim: kd,
        value_heads: 1,
        value_dim: vd,
        tiled: false,
    };
    let mut seed = Seed::new(7);
    let unit = |x: Vec<f32>| oracle::l2_norm::l2_norm(&x, kd, 1e-6, 1.0);
    let (q, k) = (
        unit(seed.floats(rows * kd, 1.0)),
        unit(seed.floats(rows * kd, 1.0)),
    );
    let v = seed.floats(rows * vd, 1.0);
    let (alpha, beta) = (seed.floats(rows, 2.0), seed.floats(rows, 2.0));
    let x = DeltaRows {
        q: &q,
        k: &k,
        v: &v,
        alpha: &alpha,
        beta: &beta,
        a: &[-0.7],
        dt: &[0.3],
    };
    let got = d.rows(&x, &mut vec![0.0; kd * vd], |_, _| {});
    let (q, k, v) = (wide(&q), wide(&k), wide(&v));
    let mut s = vec![vec![0.0f64; vd]; kd];
    let mut want = Vec::new();
    for t in 0..rows {
        let g = (-0.7f32 as f64 * (f64::from(alpha[t]) + 0.3f32 as f64).exp().ln_1p()).exp();
        let b = sigmoid(f64::from(beta[t]));
        let (k, v, q) = (&k[t * kd..][..kd], &v[t * vd..][..vd], &q[t * kd..][..kd]);
        s = (0..kd)
            .map(|i| {
                (0..vd)
                    .map(|j| {
                        let kept: f64 = (0..kd)
                            .map(|m| (f64::from(u8::from(i == m)) - b * k[i] * k[m]) * s[m][j])
                            .sum();
                        g * kept + b * k[i] * v[j]
                    })
                    .collect()
            })
            .collect();
        want.extend((0..vd).map(|j| (0..kd).map(|i| s[i][j] * q[i]).sum::<f64>()));
    }
    assert_close(&got, &want, 1e-5);
}

#[test]
fn value_heads_find_their_key_head_in_both_orders() {
    // Only key head 1 is not zero: which value heads answer shows the order.
    let head = |tiled| {
        let d = GatedDelta {
            key_heads: 2,
            key_dim: 1,
            value_heads: 4,
            value_dim: 1,
            tiled,
        };
        let x = DeltaRows {
            q: &[0.0, 1.0],
            k: &[0.0, 1.0],
            v: &[1.0; 4],
            alpha: &[0.0; 4],
            beta: &[0.0; 4],
            a: &[0.0; 4],
            dt: &[0.0; 4],
        };
        d.rows(&x, &mut [0.0; 4], |_, _| {})
    };
    assert_eq!(head(false), [0.0, 0.0, 0.5, 0.5]);
    assert_eq!(head(true), [0.0, 0.5, 0.0, 0.5]);
}

#[test]
fn routing_is_a_softmax_and_lower_indexes_win_ties() {
    let logits = [1.0f32, 3.0, 2.0, 3.0, -1.0];
    let bytes: Vec<u8> = logits.iter().flat_map(|x| x.to_le_bytes()).collect();
    let weight = Matrix::new(GUILD_FORMAT_F32, &bytes, 1).unwrap();
    let (ids, weights) = oracle::moe_route::moe_route(&[1.0], &weight, 3, false);
    assert_eq!(ids, [1, 3, 2]);
    let e: Vec<f64> = logits.iter().map(|&l| f64::from(l).exp()).collect();
    let sum: f64 = e.iter().sum();
    assert_close(&weights, &[e[1] / sum, e[3] / sum, e[2] / sum], 1e-6);
    let (ids, weights) = oracle::moe_route::moe_route(&[1.0], &weight, 3, true);
    let chosen = e[1] + e[3] + e[2];
    assert_eq!(ids, [1, 3, 2]);
    assert_close(
        &weights,
        &[e[1] / chosen, e[3] / chosen, e[2] / chosen],
        1e-6,
    );
}

#[test]
fn experts_are_weighted_feed_forward_networks() {
    use guild_conformance::oracle::moe_experts::{ExpertPool, FeedForward};
    let (hidden, ff) = (6, 4);
    let mut seed = Seed::new(8);
    let weights: Vec<Vec<u8>> = (0..9)
        .map(|_| random_weight(&mut seed, GUILD_FORMAT_F32, 24, 1))
        .collect();
    let network = |at: usize| FeedForward {
        gate: Matrix::new(GUILD_FORMAT_F32, &weights[3 * at], hidden).unwrap(),
        up: Matrix::new(GUILD_FORMAT_F32, &weights[3 * at + 1], hidden).unwrap(),
        down: Matrix::new(GUILD_FORMAT_F32, &weights[3 * at + 2], ff).unwrap(),
    };
    let (x, gate) = (seed.floats(hidden, 2.0), seed.floats(hidden, 1.0));
    let pool = ExpertPool {
        experts: vec![network(0), network(1)],
        shared: Some(network(2)),
        shared_gate: Some(&gate),
    };
    let got = pool.rows(&x, hidden, &[1, 0], &[0.3, 0.6], 2).unwrap();
    let wx = wide(&x);
    let run = |f: &FeedForward<'_>| -> Vec<f64> {
        let product = |m: &Matrix<'_>, x: &[f64]| -> Vec<f64> {
            (0..m.rows())
                .map(|row| dot(&wide(&m.decode(row)), x))
                .collect()
        };
        let (gate, up) = (product(&f.gate, &wx), product(&f.up, &wx));
        let h: Vec<f64> = gate
            .iter()
            .zip(&up)
            .map(|(g, u)| g * sigmoid(*g) * u)
            .collect();
        product(&f.down, &h)
    };
    let shared = sigmoid(dot(&wx, &wide(&gate)));
    let parts = [
        (0.6, run(&network(0))),
        (0.3, run(&network(1))),
        (shared, run(&network(2))),
    ];
    let want: Vec<f64> = (0..hidden)
        .map(|at| parts.iter().map(|(w, d)| w * d[at]).sum())
        .collect();
    assert_close(&got, &want, 1e-5);
    assert!(pool.rows(&x, hidden, &[2, 0], &[0.3, 0.6], 2).is_err());
}
