//! `guild.core.moe_experts@1`: the expert pool (rule 8).
//!
//! Rows are grouped by expert, so that each chosen expert's weights are read once a call. The input is
//! rounded; then one loop has tasks of two kinds. Each of the first takes up to 256 inner columns of one
//! expert (gate, up, SwiGLU, rounding for `down`) and publishes its records. Each of those behind them takes
//! a band of output columns, runs `down` of one expert after the other in ascending order and adds it to
//! `y`, the shared expert last; before an expert it waits for that expert's records alone, which the pool
//! has begun before. No output is touched by two tasks.
//!
//! With one row the second kind is another ([`single_row`]): a large part of one expert's `down`, and the sum after
//! the loop.
//!
//! Gate and up may be in the file's order or alternate row by row ([`supports`]): a tile's rows are then
//! further apart, and nothing else differs.

mod operands;
mod routing;
mod single_row;

pub use operands::{supports, supports_alternating_rows, supports_file_rows};

use super::activations::Forms;
use super::linear::{BAND_MAX, band, is_streamed, tile_rows};
use crate::block::{
    Activations, CHUNK_ROWS, Line, RECORD_ELEMS, TILE_ROWS, Workspace, WriteRecord,
};
use crate::isa::{Isa, LANES, Stream, streaming, vectorized};
use core::ops::Range;
use guild_numerics::exp::{sigmoid, silu};
use guild_numerics::lanes::Scalar;
use guild_sdk::abi::core_ops::guild_experts_params;
use guild_sdk::{
    Bounds, Exec, Failure, Instance, Published, Ragged, Request, Scratch, ScratchSlots, Stage,
    Staged, Tensor, Weight,
};
use operands::{Layout, Network, Operands};
use routing::{Routing, Sizes};

struct MoeExperts<S: Isa> {
    isa: S,
    layout: Layout,
    /// The experts' gate and up rows alternate.
    packed: bool,
    experts: Network<S>,
    shared: Option<Network<S>>,
    sizes: Sizes,
    forms: Forms,
    hidden: usize,
    rows_max: usize,
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// Parameters are missing, or a weight's format has no product.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    let params: guild_experts_params = request.params()?;
    let layout = Layout::new(params.flags);
    let format = |at: usize| request.inputs[at].format;
    let down = &request.inputs[layout.down];
    let experts = Network::new(
        format(layout.gate),
        format(layout.up),
        down.format,
        down.dim(),
    )?;
    let mut forms = Forms::new(request.inputs[0].dim());
    experts.want(&mut forms);
    let shared = match layout.shared {
        None => None,
        Some(at) => {
            let width = request.inputs[at + 2].dim();
            let shared = Network::new(format(at), format(at + 1), format(at + 2), width)?;
            shared.want(&mut forms);
            Some(shared)
        }
    };
    let sizes = Sizes {
        experts: down.shape[0],
        top: request.inputs[1].dim(),
        inner: experts.inner(),
        shared: shared.as_ref().map(Network::inner),
    };
    Ok(Box::new(MoeExperts {
        isa,
        packed: operands::are_packed(request, &layout),
        layout,
        experts,
        shared,
        sizes,
        forms,
        hidden: request.inputs[0].dim(),
        rows_max: request.inputs[0].shape[0],
    }))
}

impl<S: Isa> Instance for MoeExperts<S> {
    fn scratch(&self, bounds: &Bounds) -> ScratchSlots {
        let rows = self.rows_max.max(bounds.max_rows);
        let call = self.forms.bytes(rows) + self.sizes.bytes(rows) + self.sizes.record_bytes(rows);
        let inner = CHUNK_ROWS * RECORD_ELEMS * size_of::<f32>();
        // All workers' bands together are at most this wide, however many of the workers come.
        let width = BAND_MAX * bounds.workers;
        let width = width.min(self.hidden + TILE_ROWS * bounds.workers);
        let sums = (rows * width).max(self.sizes.active(1) * self.hidden);
        ScratchSlots::NONE
            .call(call as u64, 64)
            .call((inner * bounds.workers) as u64, 64)
            .call((self.gathered_bytes() * bounds.workers) as u64, 64)
            .call((sums * size_of::<f32>()) as u64, 64)
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let input = super::packed(x.input(0)?)?;
        let rows = input.rows();
        let y = x.output(0)?;
        let operands = Operands::read(x, &self.layout, self.packed)?;
        self.check(&input, [y.rows(), y.dim()], &operands)?;
        if rows == 0 {
            return Ok(());
        }
        let mut scratch = x.scratch(0)?;
        let rounded = self.forms.make(self.isa, x.par(), &input, &mut scratch)?;
        let shared_weight = |row: usize| self.shared_weight(&input, &operands, row);
        let (ids, weights) = (x.ids(1)?, x.input(2)?);
        let (routing, words) =
            Routing::build(&self.sizes, &ids, &weights, shared_weight, &mut scratch)?;
        let records = scratch
            .cut(self.sizes.record_bytes(rows))?
            .slice::<u8>(self.sizes.record_bytes(rows))?;
        let pool = Pool {
            kernel: self,
            operands: &operands,
            routing: &routing,
            rows,
        };
        let records = Ragged::new(records, routing.bounds)?;
        if rows == 1 {
            return pool.run_row(x, &rounded, (records, words), y);
        }
        let width = band(y.dim(), x.par().workers(), TILE_ROWS);
        let bands = y.column_tiles(rows, width).ok_or_else(super::gaps)?;
        let staged = Staged::new(records, words, bands)?;
        self.run(x, &pool, &rounded, staged)
    }
}

impl<S: Isa> MoeExperts<S> {
    /// Runs the loop.
    fn run(
        &self,
        x: &Exec<'_>,
        pool: &Pool<'_, S>,
        rounded: &super::activations::Rounded<'_>,
        staged: Staged<'_, u8, guild_sdk::Tiles<'_, f32>>,
    ) -> Result<(), Failure> {
        let (inner, gathered): (Scratch<'_>, Scratch<'_>) = (x.scratch(1)?, x.scratch(2)?);
        let workers = x.par().workers();
        let inner = inner.per_worker::<f32>(workers, CHUNK_ROWS * RECORD_ELEMS)?;
        let gathered = gathered.per_worker::<u8>(workers, self.gathered_bytes())?;
        let sums = x.scratch(3)?;
        let width = band(self.hidden, workers, TILE_ROWS);
        let sums = sums.per_worker::<f32>(workers, pool.rows * width)?;
        let parts = (staged, inner, gathered, sums);
        x.par().split(
            parts,
            1,
            |item, (stage, inner, gathered, sums)| match stage {
                Stage::First(mut records) => {
                    pool.inner(item, rounded)
                        .run((inner, gathered), &mut records);
                }
                Stage::Second(records, mut y) => pool.combine(&records, sums, &mut y),
            },
        )
    }

    /// Bytes in which a task gathers the input of up to [`CHUNK_ROWS`] rows.
    fn gathered_bytes(&self) -> usize {
        let of = |network: &Network<S>| network.input_bytes(CHUNK_ROWS, self.hidden);
        of(&self.experts).max(self.shared.as_ref().map_or(0, of))
    }

    fn check(
        &self,
        input: &Tensor<'_, f32>,
        y: [usize; 2],
        operands: &Operands<'_>,
    ) -> Result<(), Failure> {
        let hidden = input.dim();
        let ff = self.experts.ff;
        let shape = |weight: &Weight<'_>| [weight.experts(), weight.rows(), weight.elems()];
        let mut good = y == [input.rows(), hidden]
            && shape(&operands.gate) == [self.sizes.experts, ff, hidden]
            && shape(&operands.up) == shape(&operands.gate)
            && shape(&operands.down) == [self.sizes.experts, hidden, ff];
        if let (Some([gate, up, down]), Some(network)) = (&operands.shared, &self.shared) {
            good &= shape(gate) == [1, network.ff, hidden]
                && shape(up) == shape(gate)
                && shape(down) == [1, hidden, network.ff];
        }
        good &= operands.shared_gate.is_none_or(|gate| gate.len() == hidden);
        if good {
            Ok(())
        } else {
            Err(super::lengths_differ())
        }
    }

    /// Factor of the shared expert on one row. Without a gate it is 1, and `fma(1, d, y)` is `y + d`.
    fn shared_weight(&self, input: &Tensor<'_, f32>, operands: &Operands<'_>, row: usize) -> f32 {
        operands.shared_gate.map_or(1.0, |gate| {
            let dot = self.isa.vectorize::<super::Dot, _>((input.row(row), gate));
            sigmoid(Scalar, dot)
        })
    }
}

/// What both stages read.
struct Pool<'a, S: Isa> {
    kernel: &'a MoeExperts<S>,
    operands: &'a Operands<'a>,
    routing: &'a Routing<'a>,
    /// Rows of the call.
    rows: usize,
}

impl<'a, S: Isa> Pool<'a, S> {
    /// The network of a group and its `down`; the group behind the last expert is the shared one.
    fn group(&self, group: usize) -> (&'a Network<S>, Weight<'a>) {
        match (&self.kernel.shared, &self.operands.shared) {
            (Some(network), Some([_, _, down])) if group == self.kernel.sizes.experts => {
                (network, *down)
            }
            _ => (&self.kernel.experts, self.operands.down.expert(group)),
        }
    }

    /// A task over inner columns.
    fn inner(&self, item: usize, rounded: &'a super::activations::Rounded<'_>) -> Inner<'a, S> {
        let (group, span) = self.routing.item(item);
        let (network, _) = self.group(group);
        let (gate, up) = match &self.operands.shared {
            Some([gate, up, _]) if group == self.kernel.sizes.experts => (*gate, *up),
            _ => (
                self.operands.gate.expert(group),
                self.operands.up.expert(group),
            ),
        };
        Inner {
            isa: self.kernel.isa,
            network,
            gate,
            up,
            gate_input: rounded.of(network.gate.rounding),
            up_input: rounded.of(network.up.rounding),
            tokens: self.routing.tokens(group),
            span,
        }
    }

    /// What a band reads first of a group's `down`; nothing where there is no group.
    fn first_rows(
        &self,
        group: Option<&(usize, Range<usize>)>,
        columns: &Range<usize>,
    ) -> &'a [u8] {
        let count = columns.len().min(TILE_ROWS);
        group.map_or(&[], |(group, _)| {
            let (_, down) = self.group(*group);
            down.row_range(columns.start, count)
        })
    }

    /// Adds all experts' results to a band of output columns. They are added up in `sums`, where the band's rows lie
    /// right one behind the other: rows of `y` are a power of two apart as a rule, so that a cache holds few of them.
    fn combine(
        &self,
        records: &Published<'_, u8>,
        sums: &mut [f32],
        y: &mut guild_sdk::Tile<'_, f32>,
    ) {
        let isa = self.kernel.isa;
        let columns = y.columns();
        let sums = &mut sums[..self.rows * columns.len()];
        sums.fill(0.0);
        let mut space = Workspace::new(isa);
        let mut lines = [Line::ZERO; CHUNK_ROWS];
        let mut groups = self.routing.groups().peekable();
        while let Some((group, items)) = groups.next() {
            let mut next = self.first_rows(groups.peek(), &columns);
            let (network, down) = self.group(group);
            let tokens = self.routing.tokens(group);
            let activations = Activations {
                steps: network.inner().spans,
                rows: tokens.rows.len(),
                records: records.wait(items),
            };
            // Products ask for the rows behind theirs; the next expert's are elsewhere. Each tile asks for a share.
            let share = next.len() / columns.len().div_ceil(TILE_ROWS) + 64;
            for at in (0..columns.len()).step_by(TILE_ROWS) {
                let part;
                (part, next) = next.split_at(share.min(next.len()));
                isa.prefetch_all(part);
                let len = (columns.len() - at).min(TILE_ROWS);
                let weight = tile_rows(&down, columns.start + at, len);
                for (chunk, rows) in tokens.rows.chunks(CHUNK_ROWS).enumerate() {
                    let first = chunk * CHUNK_ROWS;
                    let lines = &mut lines[..rows.len()];
                    (network.down.gemm)(isa, &mut space, &weight, &activations, first, lines);
                    let factors = &tokens.weights[first..];
                    let part = at..at + len;
                    let arguments = (rows, &*lines, factors, part, &mut *sums, columns.len());
                    isa.vectorize::<AddWeighted, _>(arguments);
                }
            }
        }
        let rows = y.rows();
        let sums = rows.zip(sums.chunks_exact(columns.len()));
        if is_streamed(self.rows * self.kernel.hidden) {
            streaming(isa, |stream| {
                for (row, sums) in sums {
                    let arguments = (&mut *stream, y.row_mut(row), sums);
                    isa.vectorize::<StreamRow, _>(arguments);
                }
            });
        } else {
            sums.for_each(|(row, sums)| y.row_mut(row).copy_from_slice(sums));
        }
    }
}

/// One task of the first stage, over inner columns.
struct Inner<'a, S: Isa> {
    isa: S,
    network: &'a Network<S>,
    gate: Weight<'a>,
    up: Weight<'a>,
    gate_input: Activations<'a>,
    up_input: Activations<'a>,
    tokens: routing::Tokens<'a>,
    span: usize,
}

impl<S: Isa> Inner<'_, S> {
    /// Fills the span's records, one for each row of the group.
    fn run(&self, (inner, gathered): (&mut [f32], &mut [u8]), records: &mut [u8]) {
        if self.tokens.rows.len() == 1 {
            return self.run_row(gathered, records);
        }
        let Inner { isa, network, .. } = *self;
        let (first, width) = self.columns();
        let record_bytes = network.down.rounding.record_bytes();
        let mut space = Workspace::new(isa);
        let mut gates = [Line::ZERO; CHUNK_ROWS];
        let mut ups = [Line::ZERO; CHUNK_ROWS];
        let chunks = records.chunks_mut(CHUNK_ROWS * record_bytes);
        for (list, records) in self.tokens.rows.chunks(CHUNK_ROWS).zip(chunks) {
            let (for_gate, for_up) = self.gather(list, gathered);
            let (gates, ups) = (&mut gates[..list.len()], &mut ups[..list.len()]);
            for at in (0..width).step_by(TILE_ROWS) {
                let len = (width - at).min(TILE_ROWS);
                let gate = tile_rows(&self.gate, first + at, len);
                let up = tile_rows(&self.up, first + at, len);
                (network.gate.gemm)(isa, &mut space, &gate, &for_gate, 0, gates);
                (network.up.gemm)(isa, &mut space, &up, &for_up, 0, ups);
                let pairs = gates.iter().zip(&*ups);
                for ((gate, up), row) in pairs.zip(inner.chunks_exact_mut(RECORD_ELEMS)) {
                    isa.vectorize::<Swiglu, _>((&gate.0, &up.0, &mut row[at..]));
                }
            }
            let rows = inner.chunks_exact(RECORD_ELEMS);
            for (row, record) in rows.zip(records.chunks_exact_mut(record_bytes)) {
                isa.vectorize::<WriteRecord, _>((network.down.rounding, &row[..width], record));
            }
        }
    }

    /// The span's first inner column and how many it has.
    fn columns(&self) -> (usize, usize) {
        let first = self.span * RECORD_ELEMS;
        (first, (self.network.ff - first).min(RECORD_ELEMS))
    }

    /// The input of some rows for gate and for up, each row by row without gaps.
    fn gather<'g>(
        &self,
        list: &[u32],
        gathered: &'g mut [u8],
    ) -> (Activations<'g>, Activations<'g>) {
        let (gate, up) = (self.network.gate.rounding, self.network.up.rounding);
        if gate == up {
            let both = self.gate_input.gather(gate, list, gathered);
            return (both, both);
        }
        let half = gathered.len() / 2;
        let (for_gate, for_up) = gathered.split_at_mut(half);
        let for_gate = self.gate_input.gather(gate, list, for_gate);
        (for_gate, self.up_input.gather(up, list, for_up))
    }
}

vectorized!(
    StreamRow = stream_row,
    (&'a mut Stream, &'a mut [f32], &'a [f32])
);

/// Writes a row past the caches.
#[inline(always)]
fn stream_row<S: Isa>(isa: S, (stream, y, sums): (&mut Stream, &mut [f32], &[f32])) {
    let (lines, rest) = y.as_chunks_mut();
    let (from, last) = sums.as_chunks();
    for (y, sums) in lines.iter_mut().zip(from) {
        isa.stream(stream, y, sums);
    }
    rest.copy_from_slice(last);
}

vectorized!(AddWeighted = add_weighted, AddArguments<'a>);

type AddArguments<'a> = (
    &'a [u32],
    &'a [Line],
    &'a [f32],
    Range<usize>,
    &'a mut [f32],
    usize,
);

/// `sums[row] = fma(factor, line, sums[row])` in the columns `part`; rows are `width` long.
#[inline(always)]
fn add_weighted<S: Isa>(isa: S, (rows, lines, factors, part, sums, width): AddArguments<'_>) {
    for ((row, line), factor) in rows.iter().zip(lines).zip(factors) {
        let sums = &mut sums[*row as usize * width..][part.clone()];
        add_scaled(isa, (*factor, &line.0, sums));
    }
}

vectorized!(AddScaled = add_scaled, (f32, &'a [f32], &'a mut [f32]));

/// `y = fma(factor, x, y)`, as many as there are.
#[inline(always)]
fn add_scaled<S: Isa>(isa: S, (factor, x, y): (f32, &[f32], &mut [f32])) {
    for (x, y) in x.chunks(LANES).zip(y.chunks_mut(LANES)) {
        let sum = isa.fma(isa.splat(factor), isa.load_part(x), isa.load_part(y));
        isa.store_part(y, sum);
    }
}

vectorized!(Swiglu = swiglu, (&'a [f32], &'a [f32], &'a mut [f32]));

/// Inner columns of one row, as many as there are.
#[inline(always)]
fn swiglu<S: Isa>(isa: S, (gate, up, inner): (&[f32], &[f32], &mut [f32])) {
    let pairs = gate.chunks(LANES).zip(up.chunks(LANES));
    for ((gate, up), inner) in pairs.zip(inner.chunks_mut(LANES)) {
        let value = isa.mul(silu(isa, isa.load_part(gate)), isa.load_part(up));
        isa.store_part(inner, value);
    }
}
