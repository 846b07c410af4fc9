//! The bound of the tolerant class finds faults: `linear` with BF16 weights, right and wrong in one way each.

use guild_conformance::{Report, Verdict, case, run_cases};
use guild_numerics::convert::{bf16_to_f32, f32_to_bf16};
use guild_sdk::abi::contract::LINEAR;
use guild_sdk::abi::formats::GUILD_FORMAT_BF16;
use guild_sdk::{
    Bounds, Exec, Failure, InitContext, Instance, Kernel, KernelInfo, Plugin, PluginSource,
    Refusal, Request, ScratchSlots,
};

/// How a kernel of this plugin treats an activation and the sum.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Rounds activations to BF16.
    Right,
    /// Cuts what doesn't fit BF16 off.
    Cuts,
    /// Leaves out the last of several elements.
    Short,
    /// Gives zero where a number isn't finite.
    Hides,
    /// Adds a little for each worker.
    Workers,
}

const WAYS: [(Way, &str); 5] = [
    (Way::Right, "right"),
    (Way::Cuts, "cuts"),
    (Way::Short, "short"),
    (Way::Hides, "hides"),
    (Way::Workers, "workers"),
];

struct Tolerant;

impl PluginSource for Tolerant {
    const PLUGIN: &'static Plugin = &Plugin {
        id: "org.guild.tests.tolerant",
        version: "1.0.0",
        build_id: [0; 32],
        kernel_count: WAYS.len() as u32,
        kernels,
        runners: &[],
    };
}

fn kernels(_context: &InitContext<'_>) -> Result<Vec<Box<dyn Kernel>>, Failure> {
    let kernels = WAYS.map(|(way, name)| Box::new(Linear(way, name)) as Box<dyn Kernel>);
    Ok(kernels.into())
}

struct Linear(Way, &'static str);

impl Kernel for Linear {
    fn info(&self) -> KernelInfo {
        KernelInfo::tolerant(&LINEAR, self.1)
    }

    fn supports(&self, request: &Request<'_>) -> Result<(), Refusal> {
        let mut weights = request.inputs[1..].iter();
        match weights.any(|weight| weight.format != GUILD_FORMAT_BF16) {
            true => Err(Refusal::format(1, 0, "BF16 alone")),
            false => Ok(()),
        }
    }

    fn create(&self, _request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
        Ok(Box::new(Bound(self.0)))
    }
}

struct Bound(Way);

impl Bound {
    fn dot(&self, x: &[f32], weight: &[u8], workers: usize) -> f32 {
        let elems = match self.0 {
            Way::Short => x.len().saturating_sub(1).max(1),
            _ => x.len(),
        };
        let weights = weight.as_chunks::<2>().0.iter();
        let terms = x[..elems].iter().zip(weights).map(|(&x, w)| {
            let x = match self.0 {
                Way::Cuts => f32::from_bits(x.to_bits() & 0xffff_0000),
                _ => bf16_to_f32(f32_to_bf16(x)),
            };
            x * bf16_to_f32(u16::from_le_bytes(*w))
        });
        let sum: f32 = terms.sum();
        match self.0 {
            Way::Hides if !sum.is_finite() => 0.0,
            Way::Workers => sum * (1.0 + workers as f32 * f32::EPSILON),
            _ => sum,
        }
    }
}

impl Instance for Bound {
    fn scratch(&self, _bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let input = x.input(0)?;
        for i in 0..x.output_count() {
            let (weight, mut y) = (x.weight(i + 1)?, x.output(i)?);
            for row in 0..input.rows() {
                let y = y.vector_mut(row, 0);
                for (m, y) in y.iter_mut().enumerate() {
                    *y = self.dot(input.row(row), weight.row(m), x.par().workers());
                }
            }
        }
        Ok(())
    }
}

#[test]
fn each_fault_is_beyond_the_bound() {
    let cases: Vec<_> = case::all()
        .into_iter()
        .filter(|case| case.op.name == LINEAR.name && case.inputs[1].format == GUILD_FORMAT_BF16)
        .collect();
    let report: Report = run_cases(guild_sdk::entry::<Tolerant>, &cases);
    assert!(report.passed("right") > 50, "{report}");
    for (way, name) in WAYS {
        let failures = report.failures().into_iter();
        let failures: Vec<_> = failures
            .filter(|outcome| outcome.implementation == name)
            .collect();
        assert_eq!(
            failures.is_empty(),
            way == Way::Right,
            "{name}: {failures:?}"
        );
        let says = |text: &str| {
            let mut verdicts = failures.iter().map(|outcome| &outcome.verdict);
            verdicts.any(|verdict| matches!(verdict, Verdict::Failed(why) if why.contains(text)))
        };
        let words = match way {
            Way::Right => continue,
            Way::Cuts | Way::Short => " +/- ",
            Way::Hides => "allowed NaN",
            Way::Workers => "5 workers",
        };
        assert!(says(words), "{name}: {failures:?}");
    }
}
