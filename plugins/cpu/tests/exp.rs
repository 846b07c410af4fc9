//! `exp` of every instruction set against the scalar one, bit by bit.

use guild_numerics::exp::exp;
use guild_numerics::lanes::Scalar;
use guild_plugin_cpu::detect::Detected;
use guild_plugin_cpu::isa::{Isa, LANES, Portable, Vectorized};

/// Names [`exp`] of sixteen values.
struct Exp;

impl<S: Isa> Vectorized<S, [f32; LANES]> for Exp {
    type Output = [f32; LANES];
    #[inline(always)]
    fn call(isa: S, x: [f32; LANES]) -> [f32; LANES] {
        isa.array(exp(isa, isa.load(&x)))
    }
}

/// Every `STEP`th bit pattern; 1 is all of them.
const STEP: usize = 1021;

fn check<S: Isa>(isa: S, name: &str) {
    let mut patterns = (0..=u32::MAX).step_by(STEP);
    loop {
        let mut x = [0.0; LANES];
        let mut used = 0;
        for (x, bits) in x.iter_mut().zip(&mut patterns) {
            *x = f32::from_bits(bits);
            used += 1;
        }
        if used == 0 {
            return;
        }
        let got = isa.vectorize::<Exp, _>(x);
        for (x, got) in x.iter().zip(got) {
            let want = exp(Scalar, *x);
            assert_eq!(got.to_bits(), want.to_bits(), "{name}: exp({x:e})");
        }
    }
}

#[test]
fn exp_has_the_same_bits_in_every_set() {
    check(Portable, "portable");
    #[cfg(target_arch = "x86_64")]
    {
        let detected = Detected::new();
        if let Some(isa) = detected.avx2() {
            check(isa, "avx2");
        }
        if let Some(isa) = detected.avx512() {
            check(isa, "avx512");
        }
    }
}
