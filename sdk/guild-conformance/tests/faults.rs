//! The kit finds faults: a plugin with kernels that are wrong in one way each.

use guild_conformance::{Outcome, Report, Verdict, case, run_cases};
use guild_sdk::abi::abi::{
    GUILD_CAP_INPLACE, GUILD_CLASS_EXACT, GUILD_CLASS_TOLERANT, GUILD_REFUSAL_ISA,
};
use guild_sdk::abi::contract::ADD;
use guild_sdk::{
    Bounds, Exec, Failure, InitContext, Instance, Kernel, KernelInfo, Plugin, PluginSource,
    Refusal, Request, ScratchSlots,
};

/// What a kernel of this plugin does.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// Adds, on all workers, through a buffer of each worker's own.
    Right,
    /// Is wrong in the last element of a row.
    Wrong,
    /// Leaves the last row as it was.
    ShortOfARow,
    /// Depends on the number of workers.
    Workers,
    /// Reads its scratch before it writes it.
    DirtyScratch,
    /// Panics in a task.
    Panics,
    /// Takes the output twice.
    Twice,
    /// Declines every request.
    Declines,
    /// Says that it is tolerant, of an operation without a bound.
    Tolerant,
}

const WAYS: [(Way, &str); 9] = [
    (Way::Right, "right"),
    (Way::Wrong, "wrong"),
    (Way::ShortOfARow, "short_of_a_row"),
    (Way::Workers, "workers"),
    (Way::DirtyScratch, "dirty_scratch"),
    (Way::Panics, "panics"),
    (Way::Twice, "twice"),
    (Way::Declines, "declines"),
    (Way::Tolerant, "tolerant"),
];

struct Faulty;

impl PluginSource for Faulty {
    const PLUGIN: &'static Plugin = &Plugin {
        id: "org.guild.tests.faulty",
        version: "1.0.0",
        build_id: [0; 32],
        kernel_count: WAYS.len() as u32,
        kernels,
        runners: &[],
    };
}

fn kernels(_context: &InitContext<'_>) -> Result<Vec<Box<dyn Kernel>>, Failure> {
    Ok(WAYS
        .iter()
        .map(|&(way, name)| Box::new(Add(way, name)) as Box<dyn Kernel>)
        .collect())
}

struct Add(Way, &'static str);

impl Kernel for Add {
    fn info(&self) -> KernelInfo {
        let info = KernelInfo::exact(&ADD, self.1);
        KernelInfo {
            caps: info.caps | GUILD_CAP_INPLACE,
            exactness: match self.0 {
                Way::Tolerant => GUILD_CLASS_TOLERANT,
                _ => GUILD_CLASS_EXACT,
            },
            ..info
        }
    }

    fn supports(&self, _request: &Request<'_>) -> Result<(), Refusal> {
        if self.0 != Way::Declines {
            return Ok(());
        }
        Err(Refusal {
            reason: GUILD_REFUSAL_ISA,
            index: 0,
            wanted: 1,
            offered: 0,
            text: "this processor has no such instruction".into(),
        })
    }

    fn create(&self, _request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
        Ok(Box::new(Bound(self.0)))
    }
}

struct Bound(Way);

impl Instance for Bound {
    fn scratch(&self, bounds: &Bounds) -> ScratchSlots {
        ScratchSlots::NONE.call(bounds.workers as u64 * 256 * 4, 64)
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let (way, par) = (self.0, x.par());
        let target = x.update()?;
        let b = x.input(1)?;
        if way == Way::Twice {
            x.update()?;
        }
        let rows = target.rows();
        let sums = x.scratch(0)?.per_worker::<f32>(par.workers(), 256)?;
        par.split((target.tiles(1, 1), sums), 2, |_, (mut y, sums)| {
            assert!(way != Way::Panics, "as told");
            let (row, head) = (y.rows().start, y.heads().start);
            if way == Way::ShortOfARow && row + 1 == rows {
                return;
            }
            let y = y.vector_mut(row, head);
            let sums = &mut sums[..y.len()];
            let garbage = sums[0];
            for ((sum, a), b) in sums.iter_mut().zip(&*y).zip(b.vector(row, head)) {
                *sum = a + b;
            }
            match way {
                Way::Wrong => sums[y.len() - 1] += 1.0,
                Way::Workers => sums[0] += par.workers() as f32 - 1.0,
                Way::DirtyScratch => sums[0] += garbage * 0.0,
                _ => {}
            }
            y.copy_from_slice(sums);
        })
    }
}

fn report() -> Report {
    let cases: Vec<_> = case::all()
        .into_iter()
        .filter(|case| case.op.name == ADD.name)
        .collect();
    assert!(cases.len() > 20);
    run_cases(guild_sdk::entry::<Faulty>, &cases)
}

#[test]
fn each_fault_is_found_and_named() {
    let report = report();
    let of = |name: &str| -> Vec<&Outcome> {
        let outcomes = report.outcomes.iter();
        outcomes.filter(|o| o.implementation == name).collect()
    };
    let all = |name: &str, holds: fn(&Verdict) -> bool| {
        let outcomes = of(name);
        let wrong = outcomes.iter().find(|outcome| !holds(&outcome.verdict));
        assert!(!outcomes.is_empty() && wrong.is_none(), "{name}: {wrong:?}");
    };
    let says = |verdict: &Verdict, text: &str| match verdict {
        Verdict::Failed(why) | Verdict::Declined(why) => why.contains(text),
        Verdict::Passed => false,
    };
    all("right", |verdict| *verdict == Verdict::Passed);
    for name in ["wrong", "short_of_a_row", "workers", "dirty_scratch"] {
        let found = of(name)
            .iter()
            .any(|outcome| says(&outcome.verdict, "output 0") || says(&outcome.verdict, "input 0"));
        assert!(found, "{name}: {report}");
    }
    assert!(
        of("workers")
            .iter()
            .any(|outcome| says(&outcome.verdict, "5 workers")),
        "{report}"
    );
    for outcome in of("panics") {
        assert!(says(&outcome.verdict, "status -7"), "{outcome:?}");
    }
    for outcome in of("twice") {
        assert!(says(&outcome.verdict, "taken twice"), "{outcome:?}");
    }
    for outcome in of("tolerant") {
        assert!(says(&outcome.verdict, "no bound is stated"), "{outcome:?}");
    }
    for outcome in of("declines") {
        assert!(
            says(&outcome.verdict, "this processor has no such instruction")
                && matches!(outcome.verdict, Verdict::Declined(_)),
            "{outcome:?}"
        );
    }
}
