//! The small floating-point numbers of `ggml.mxfp4` and `ggml.nvfp4`: elements of four bits and scales of eight.
//!
//! An element is E2M1: a sign, two bits of exponent, one of significand. Its values are multiples of a half, so
//! elements count halves and the scales here are half of what their bits say.

/// The elements that four bits stand for, in halves.
pub const E2M1_LEVELS: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// Half of the scale that eight bits of exponent (E8M0) stand for: `2^(bits - 128)`.
///
/// ggml has no NaN for 255 and no zero for 0; the first two are subnormal.
pub static E8M0_HALVES: [f32; 256] = {
    let mut halves = [0.0; 256];
    let mut bits = 0;
    while bits < 256 {
        halves[bits as usize] = power_of_two(bits - 128);
        bits += 1;
    }
    halves
};

/// Half of the scale that an exponent of four bits and a significand of three (E4M3) stand for; the sign bit is not
/// looked at.
///
/// As in ggml, 0x7f, which is NaN elsewhere, is zero, and 0xff is a number.
pub static UE4M3_HALVES: [f32; 256] = {
    let mut halves = [0.0; 256];
    let mut bits = 0;
    while bits < 256 {
        let (exponent, significand) = ((bits >> 3) & 0x0f, bits & 0x07);
        halves[bits as usize] = if bits == 0x7f {
            0.0
        } else if exponent == 0 {
            significand as f32 * power_of_two(-10)
        } else {
            (8 + significand) as f32 * power_of_two(exponent - 11)
        };
        bits += 1;
    }
    halves
};

/// `2^exponent`, for exponents that f32 has, subnormal ones among them.
const fn power_of_two(exponent: i32) -> f32 {
    const SUBNORMAL_MIN: i32 = -149;
    const NORMAL_MIN: i32 = -126;
    let bits = if exponent < NORMAL_MIN {
        1 << (exponent - SUBNORMAL_MIN)
    } else {
        (exponent - NORMAL_MIN + 1) << 23
    };
    f32::from_bits(bits as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, from the definitions of E8M0 and E4M3; gguf-py agrees.
    #[test]
    fn scales_are_half_of_what_their_bits_say() {
        let e8m0 = [0usize, 1, 2, 127, 128, 254, 255].map(|bits| E8M0_HALVES[bits]);
        let want = [-128, -127, -126, -1, 0, 126, 127].map(|exponent| 2f64.powi(exponent));
        assert_eq!(e8m0.map(f64::from), want);
        let ue4m3 = [0usize, 1, 7, 8, 9, 0x38, 0x7e, 0x7f, 0x80, 0xff];
        let want = [
            0.0,
            1.0 / 1024.0,
            7.0 / 1024.0,
            1.0 / 128.0,
            9.0 / 1024.0,
            0.5,
            224.0,
            0.0,
            0.0,
            240.0,
        ];
        assert_eq!(ue4m3.map(|bits| UE4M3_HALVES[bits]), want);
    }
}
