//! Sums along a contiguous axis in the one order of the exact class (`docs/numerics.md`, rule 2).

/// Lanes of a reduction.
pub const REDUCE_LANES: usize = 16;

/// Adds the lanes: distance 8, then 4, 2, 1.
#[inline]
#[must_use]
pub fn lane_tree(mut lanes: [f32; REDUCE_LANES]) -> f32 {
    let mut distance = REDUCE_LANES / 2;
    while distance > 0 {
        for lane in 0..distance {
            lanes[lane] += lanes[lane + distance];
        }
        distance /= 2;
    }
    lanes[0]
}

/// `sum a[i] * b[i]`: lane `i mod 16`, ascending, one fma a product, then the lane tree. The shorter
/// slice decides.
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0; REDUCE_LANES];
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        let lane = &mut lanes[i % REDUCE_LANES];
        *lane = x.mul_add(*y, *lane);
    }
    lane_tree(lanes)
}

/// `sum a[i]`: lane `i mod 16`, ascending, then the lane tree.
#[must_use]
pub fn sum(a: &[f32]) -> f32 {
    let mut lanes = [0.0; REDUCE_LANES];
    for (i, x) in a.iter().enumerate() {
        lanes[i % REDUCE_LANES] += x;
    }
    lane_tree(lanes)
}

/// The largest element; elements that are NaN are passed over; minus infinity for none.
#[must_use]
pub fn maximum(a: &[f32]) -> f32 {
    a.iter()
        .fold(f32::NEG_INFINITY, |m, &x| if x > m { x } else { m })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_adds_distant_lanes_first() {
        // 2^25 swallows a lone 1; the order decides how many ones survive.
        let mut lanes = [1.0f32; REDUCE_LANES];
        lanes[0] = 33_554_432.0;
        // +8: lane 0 stays 2^25, lanes 1..8 are 2; +4: lane 0 is 2^25 (+2 is half a unit, ties to
        // even), lanes 1..4 are 4; +2: 2^25 + 4, lane 1 is 8; +1: 2^25 + 12.
        assert_eq!(lane_tree(lanes), 33_554_444.0);
    }

    #[test]
    fn a_short_dot_leaves_absent_lanes_at_zero() {
        assert_eq!(dot(&[2.0, 3.0], &[5.0, 7.0]), 31.0);
        assert_eq!(dot(&[], &[]).to_bits(), 0);
        assert_eq!(sum(&[1.0; 35]), 35.0);
        assert_eq!(maximum(&[f32::NAN, -3.0, -2.0]), -2.0);
    }
}
