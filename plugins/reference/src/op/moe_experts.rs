//! `guild.core.moe_experts@1`.

use crate::dense::{gather, invalid, matrix, scatter};
use crate::{Operation, check};
use guild_conformance::oracle::moe_experts::{ExpertPool, FeedForward};
use guild_sdk::abi::contract::MOE_EXPERTS;
use guild_sdk::abi::core_ops::{
    GUILD_MOE_FUSED_GATE_UP, GUILD_MOE_SHARED, GUILD_MOE_SHARED_GATE, guild_experts_params,
};
use guild_sdk::format::WEIGHT_FORMATS;
use guild_sdk::{Exec, Failure, Refusal, Request};

/// Where the weights stand among the inputs, by the flags.
#[derive(Clone, Copy)]
struct Places {
    fused: bool,
    down: usize,
    shared: Option<usize>,
    shared_gate: Option<usize>,
    count: usize,
}

impl Places {
    fn new(flags: u32) -> Places {
        let fused = flags & GUILD_MOE_FUSED_GATE_UP != 0;
        let down = if fused { 4 } else { 5 };
        let shared = (flags & GUILD_MOE_SHARED != 0).then_some(down + 1);
        let next = shared.map_or(down + 1, |first| first + 3);
        let shared_gate = (flags & GUILD_MOE_SHARED_GATE != 0).then_some(next);
        Places {
            fused,
            down,
            shared,
            shared_gate,
            count: next + usize::from(shared_gate.is_some()),
        }
    }
}

pub(super) const OPERATION: Operation = Operation {
    op: &MOE_EXPERTS,
    implementation: "reference.moe_experts",
    formats: WEIGHT_FORMATS,
    supports,
    choose: |_| execute,
};

fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    let params: guild_experts_params = check::params(request)?;
    let known = GUILD_MOE_FUSED_GATE_UP | GUILD_MOE_SHARED | GUILD_MOE_SHARED_GATE;
    let gate_alone = params.flags & (GUILD_MOE_SHARED | GUILD_MOE_SHARED_GATE);
    if params.flags & !known != 0 || gate_alone == GUILD_MOE_SHARED_GATE {
        return Err(Refusal::params(
            params.flags.into(),
            "a flag isn't known, or the shared expert's gate has no shared expert",
        ));
    }
    let places = Places::new(params.flags);
    check::counts(request, places.count, 1, 0)?;
    check::float(request, 0)?;
    check::ids(request, 1)?;
    check::float(request, 2)?;
    check::float(request, places.count)?;
    let (hidden, top_k) = (request.inputs[0].dim(), request.inputs[1].dim());
    check::axes(request, 0, &[None, Some(hidden)])?;
    check::axes(request, 1, &[None, Some(top_k)])?;
    check::axes(request, 2, &[None, Some(top_k)])?;
    check::same(request, 0, places.count)?;
    let last_weight = places.shared.map_or(places.down, |first| first + 2);
    for weight in 3..=last_weight {
        check::weight(request, weight, WEIGHT_FORMATS)?;
    }
    let down = &request.inputs[places.down];
    let (experts, ff) = (down.shape[0], down.dim());
    check::axes(request, places.down, &[None, Some(hidden), None])?;
    let rows = if places.fused {
        ff.checked_mul(2)
    } else {
        Some(ff)
    };
    for weight in 3..places.down {
        check::axes(request, weight, &[Some(experts), rows, Some(hidden)])?;
    }
    if let Some(first) = places.shared {
        let shared = request.inputs[first + 2].dim();
        check::axes(request, first, &[Some(shared), Some(hidden)])?;
        check::axes(request, first + 1, &[Some(shared), Some(hidden)])?;
        check::axes(request, first + 2, &[Some(hidden), Some(shared)])?;
    }
    if let Some(gate) = places.shared_gate {
        check::float(request, gate)?;
        // Converters write this row with or without a leading axis of 1.
        let row = [Some(1), Some(hidden)];
        let axes = usize::from(request.inputs[gate].axes().len() != 2);
        check::axes(request, gate, &row[axes..])?;
    }
    Ok(())
}

fn execute(x: &Exec<'_>) -> Result<(), Failure> {
    let params: guild_experts_params = x.params()?;
    let places = Places::new(params.flags);
    let weight = |at: usize| matrix(&x.weight(at)?);
    let (hidden, ff) = (x.input(0)?.dim(), x.weight(places.down)?.elems());
    let (gate, down) = (weight(3)?, weight(places.down)?);
    let (up, step, up_at) = if places.fused {
        (gate, 2 * ff, ff)
    } else {
        (weight(4)?, ff, 0)
    };
    let experts = (0..x.weight(places.down)?.experts())
        .map(|e| FeedForward {
            gate: gate.part(e * step, ff),
            up: up.part(e * step + up_at, ff),
            down: down.part(e * hidden, hidden),
        })
        .collect();
    let shared = match places.shared {
        None => None,
        Some(first) => Some(FeedForward {
            gate: weight(first)?,
            up: weight(first + 1)?,
            down: weight(first + 2)?,
        }),
    };
    let shared_gate = match places.shared_gate {
        None => None,
        Some(at) => Some(gather(&x.input(at)?)),
    };
    let pool = ExpertPool {
        experts,
        shared,
        shared_gate: shared_gate.as_deref(),
    };
    let ids = x.ids(1)?;
    let (rows, weights) = (gather(&x.input(0)?), gather(&x.input(2)?));
    let y = pool
        .rows(&rows, hidden, &gather(&ids), &weights, ids.dim())
        .map_err(invalid)?;
    scatter(&mut x.output(0)?, &y)
}
