//! Properties of the integer view and of the activation formats, over arbitrary bytes and values.

use guild_quant::{
    Activation, ActivationFormat, BlockIntegers, Format, Q8_32, Q8_256, decode_row, format,
    format_by_ggml_type, format_by_name, formats, registry::Quantised,
};
use proptest::prelude::*;

/// A quantised format, one block of arbitrary bytes for it and the number of one of its parts.
fn any_block() -> impl Strategy<Value = (&'static Format, Vec<u8>, usize)> {
    let choices: Vec<_> = formats()
        .iter()
        .filter(|format| format.quantised.is_some())
        .collect();
    prop::sample::select(choices).prop_flat_map(|format| {
        (
            Just(format),
            prop::collection::vec(any::<u8>(), format.block_bytes),
            0..quantised(format).parts,
        )
    })
}

fn quantised(format: &Format) -> Quantised {
    format.quantised.expect("a quantised format")
}

fn integers(format: &Format, block: &[u8], part: usize) -> BlockIntegers {
    let mut out = BlockIntegers::new();
    (quantised(format).integers)(block, part, &mut out);
    out
}

/// The largest magnitudes that `isum` and `msum` can reach, by hand: elements * scale * value * 127 and
/// elements * minimum * 127.
const BOUNDS: [(&str, i64, i64); 24] = [
    ("ggml.q4_0", 32 * 8 * 127, 0),
    ("ggml.q4_1", 32 * 15 * 127, 32 * 127),
    ("ggml.q5_0", 32 * 16 * 127, 0),
    ("ggml.q5_1", 32 * 31 * 127, 32 * 127),
    ("ggml.q8_0", 32 * 128 * 127, 0),
    ("ggml.q2_K", 256 * 15 * 3 * 127, 256 * 15 * 127),
    ("ggml.q3_K", 256 * 32 * 4 * 127, 0),
    ("ggml.q4_K", 256 * 63 * 15 * 127, 256 * 63 * 127),
    ("ggml.q5_K", 256 * 63 * 31 * 127, 256 * 63 * 127),
    ("ggml.q6_K", 256 * 128 * 32 * 127, 0),
    ("ggml.iq2_xxs", 256 * 31 * 43 * 127, 0),
    ("ggml.iq2_xs", 256 * 31 * 43 * 127, 0),
    ("ggml.iq3_xxs", 256 * 31 * 62 * 127, 0),
    ("ggml.iq1_s", 256 * 15 * 9 * 127, 0),
    ("ggml.iq4_nl", 32 * 127 * 127, 0),
    ("ggml.iq3_s", 256 * 31 * 15 * 127, 0),
    ("ggml.iq2_s", 256 * 31 * 43 * 127, 0),
    ("ggml.iq4_xs", 256 * 32 * 127 * 127, 0),
    ("ggml.iq1_m", 256 * 15 * 9 * 127, 0),
    ("ggml.tq1_0", 256 * 127, 0),
    ("ggml.tq2_0", 256 * 2 * 127, 0),
    ("ggml.mxfp4", 32 * 12 * 127, 0),
    ("ggml.nvfp4", 16 * 12 * 127, 0),
    ("ggml.q1_0", 32 * 127, 0),
];

/// Blocks of one repeated byte reach the extremes of every field: no bits, all bits, or the sign bit alone.
#[test]
fn integer_sums_stay_within_the_bounds() {
    let quantised = formats().iter().filter(|format| format.quantised.is_some());
    for (format, (name, isum_max, msum_max)) in quantised.zip(BOUNDS) {
        assert_eq!(format.name, name);
        assert!(isum_max < 1 << 28 && msum_max < 1 << 28, "{name}");
        let (mut scale, mut value, mut min, mut elems) = (0, 0, 0, 0);
        for byte in 0..=255 {
            let view = integers(format, &vec![byte; format.block_bytes], 0);
            let largest = |integers: &[i16]| {
                let magnitudes = integers.iter().map(|&q| i64::from(q).abs());
                magnitudes.max().unwrap_or(0)
            };
            scale = scale.max(largest(&view.scales));
            value = value.max(largest(&view.values));
            min = min.max(largest(&view.mins));
            elems = view.elems as i64;
        }
        assert_eq!(elems * scale * value * 127, isum_max, "{name}");
        assert_eq!(elems * min * 127, msum_max, "{name}");
    }
}

/// An activation integer of a block.
fn any_activation() -> impl Strategy<Value = i8> {
    -127i8..=127
}

proptest! {
    /// Where there are minimums, all terms are multiples of 2^-24 below 2^28; elsewhere the value is one product of few
    /// bits. So it is exact in f64, and decode may differ from it by its own f32 roundings alone.
    #[test]
    fn the_integers_give_the_decoded_values((format, block, part) in any_block()) {
        let view = integers(format, &block, part);
        let mut decoded = vec![0f32; format.block_elems];
        (format.decode_row)(&block, &mut decoded).expect("one whole block");
        prop_assert_eq!(view.elems * quantised(format).parts, format.block_elems);
        let decoded = &decoded[part * view.elems..][..view.elems];
        for (i, &got) in decoded.iter().enumerate() {
            let s = i / view.sub_block;
            let product = f64::from(view.d) * f64::from(view.scales[s]) * f64::from(view.values[i]);
            let minimum = f64::from(view.dmin) * f64::from(view.mins[s]);
            let want = product - minimum;
            // The largest scales of MXFP4 go beyond f32.
            if !(want as f32).is_finite() {
                prop_assert!(!got.is_finite(), "{} element {i}: {got} for {want}", format.name);
            } else if view.has_min {
                // A 17-bit scale times a 5-bit integer fits f32, and so does the minimum: one rounding is left.
                prop_assert_eq!(got, want as f32, "{} element {}", format.name, i);
            } else {
                // An 11-bit scale times an 8-bit one times a 6-bit integer needs at most 25 bits: two roundings.
                let error = (f64::from(got) - want).abs();
                prop_assert!(error <= want.abs() * f64::from(f32::EPSILON), "{} element {i}", format.name);
            }
        }
    }

    /// The kit's sums against a plain sum over elements in 64 bits.
    #[test]
    fn integer_sums_are_exact(
        (format, block, part) in any_block(),
        activations in prop::collection::vec(any_activation(), 256),
    ) {
        let view = integers(format, &block, part);
        let activations = &activations[..view.elems];
        let sum = |term: &dyn Fn(usize, usize) -> i64| -> i64 {
            (0..view.elems).map(|i| term(i, i / view.sub_block)).sum()
        };
        let a = |i: usize| i64::from(activations[i]);
        let isum = sum(&|i, s| i64::from(view.scales[s]) * i64::from(view.values[i]) * a(i));
        let msum = sum(&|i, s| i64::from(view.mins[s]) * a(i));
        prop_assert_eq!(i64::from(view.isum(activations)), isum);
        prop_assert_eq!(i64::from(view.msum(activations)), msum);
        let (_, isum_max, msum_max) = BOUNDS.into_iter().find(|row| row.0 == format.name).expect("a bound");
        prop_assert!(isum.abs() <= isum_max && msum.abs() <= msum_max, "{}", format.name);
    }

    /// Every field is written: what was in the view before does not matter.
    #[test]
    fn a_view_can_be_reused(
        (first, block_1, part_1) in any_block(),
        (second, block_2, part_2) in any_block(),
    ) {
        let mut reused = integers(first, &block_1, part_1);
        (quantised(second).integers)(&block_2, part_2, &mut reused);
        let fresh = integers(second, &block_2, part_2);
        prop_assert_eq!(format!("{reused:?}"), format!("{fresh:?}"));
    }

    #[test]
    fn activations_stay_within_half_a_step(values in prop::collection::vec(-1e4f32..1e4, 256)) {
        let block = Q8_256::encode(&values);
        let amax = values.iter().fold(0f32, |amax, x| amax.max(x.abs()));
        prop_assert_eq!(block.da, amax / 127.0);
        for (x, q) in values.iter().zip(block.q) {
            prop_assert!((-127..=127).contains(&q));
            let error = (f64::from(*x) - f64::from(block.da) * f64::from(q)).abs();
            prop_assert!(error <= f64::from(amax) / 127.0 * 0.500_02, "{x} became {q}");
        }
        for (s, sum) in block.sums.iter().enumerate() {
            let want: i32 = block.q[16 * s..16 * s + 16].iter().map(|&q| i32::from(q)).sum();
            prop_assert_eq!(i32::from(*sum), want);
        }
    }

    /// All f32 bit patterns are fair input, and the bytes say what the struct says.
    #[test]
    fn activation_bytes_round_trip(bits in prop::collection::vec(any::<u32>(), 256)) {
        let values: Vec<f32> = bits.iter().map(|&bits| f32::from_bits(bits)).collect();
        let mut bytes = vec![0; 292];
        Activation::Q8_256.encode_row(&values, &mut bytes).expect("one block");
        let wide = Q8_256::encode(&values);
        prop_assert_eq!(format!("{:?}", Q8_256::from_bytes(&bytes)), format!("{wide:?}"));
        let mut bytes = vec![0; 8 * 36];
        Activation::Q8_32.encode_row(&values, &mut bytes).expect("eight blocks");
        for (values, bytes) in values.chunks_exact(32).zip(bytes.chunks_exact(36)) {
            let narrow = Q8_32::encode(values);
            prop_assert_eq!(format!("{:?}", Q8_32::from_bytes(bytes)), format!("{narrow:?}"));
        }
    }
}

#[test]
fn activation_structs_have_the_documented_layout() {
    assert_eq!(size_of::<Q8_256>(), Q8_256::BLOCK_BYTES);
    assert_eq!(core::mem::offset_of!(Q8_256, q), 4);
    assert_eq!(core::mem::offset_of!(Q8_256, sums), 260);
    assert_eq!(size_of::<Q8_32>(), Q8_32::BLOCK_BYTES);
    assert_eq!(core::mem::offset_of!(Q8_32, q), 4);
}

#[test]
fn a_part_lies_in_one_block_of_activations_and_rows_are_whole_blocks_of_both() {
    for format in formats() {
        if let Some(quantised) = format.quantised {
            let block = quantised.activation.block_elems();
            assert_eq!(format.block_elems % quantised.parts, 0, "{}", format.name);
            let part = format.block_elems / quantised.parts;
            assert_eq!(block % part, 0, "{}", format.name);
            assert_eq!(format.block_elems % block, 0, "{}", format.name);
        }
    }
}

#[test]
fn a_row_that_is_not_whole_blocks_is_refused() {
    let mut out = [0f32; 32];
    for (bytes, elems) in [(17, 32), (19, 32), (18, 31), (36, 32), (0, 32)] {
        let error = decode_row::<format::Q4_0>(&vec![0; bytes], &mut out[..elems])
            .expect_err("lengths that do not fit");
        assert_eq!(
            (error.format, error.bytes, error.elems),
            ("ggml.q4_0", bytes, elems)
        );
    }
    let error = Activation::Q8_32
        .encode_row(&[0.0; 33], &mut [0; 36])
        .expect_err("33 elements");
    assert_eq!(
        (error.format, error.bytes, error.elems),
        ("guild.q8_32", 36, 33)
    );
}

#[test]
fn a_nan_scale_gives_the_canonical_nan() {
    let mut block = [0u8; 34];
    block[..2].copy_from_slice(&0xfdffu16.to_le_bytes());
    let mut out = [0f32; 32];
    decode_row::<format::Q8_0>(&block, &mut out).expect("one block");
    assert!(out.iter().all(|x| x.to_bits() == 0x7fc0_0000), "{out:?}");
}

#[test]
fn formats_are_found_by_number_and_name() {
    assert!(formats().is_sorted_by_key(|format| format.ggml_type));
    for format in formats() {
        assert_eq!(
            format_by_ggml_type(format.ggml_type).map(|f| f.name),
            Some(format.name)
        );
        assert_eq!(
            format_by_name(format.name).map(|f| f.ggml_type),
            Some(format.ggml_type)
        );
    }
    assert!(
        format_by_ggml_type(4).is_none(),
        "type 4 was removed from ggml"
    );
    assert!(
        format_by_name("ggml.Q4_K").is_none(),
        "names are compared exactly"
    );
}
