//! Numbers that look random and are the same for the same seed.

/// A small generator (splitmix64). For sampling, never for secrets.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts a sequence.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`; 0 where there is no such number.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bound = bound as u64;
        // The remainder is below a `usize`.
        ((mixed ^ (mixed >> 31)).checked_rem(bound).unwrap_or(0)) as usize
    }
}
