//! The generator behind all case data: xorshift64*, the same numbers on every machine.

/// A stream of numbers from one seed.
#[derive(Clone, Debug)]
pub struct Seed(u64);

impl Seed {
    /// The stream of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Seed {
        Seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `limit`, which is above 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() >> 16) as usize % limit
    }

    /// A number in `-1..1`.
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// `count` numbers in `-scale..scale`, one in eight of them far smaller.
    pub fn floats(&mut self, count: usize, scale: f32) -> Vec<f32> {
        (0..count)
            .map(|_| {
                let small = self.below(8) == 0;
                self.unit() * if small { scale / 1024.0 } else { scale }
            })
            .collect()
    }

    /// Rows of `dim` numbers where the rows after the first few are special: zero, below the
    /// activation formats' limit, with an infinity, with a NaN.
    pub fn rows_with_specials(&mut self, rows: usize, dim: usize) -> Vec<f32> {
        let mut values = self.floats(rows * dim, 2.0);
        for (row, values) in values.chunks_exact_mut(dim).enumerate() {
            let at = self.below(dim);
            match row {
                1 => values.fill(0.0),
                2 => values.iter_mut().for_each(|x| *x *= 1e-31),
                3 => values[at] = f32::INFINITY,
                4 => values[at] = f32::NAN,
                5 => values.iter_mut().for_each(|x| *x *= 1e30),
                _ => {}
            }
        }
        values
    }
}
