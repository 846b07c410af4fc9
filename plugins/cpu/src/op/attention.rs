//! `guild.core.attention@1`: causal grouped-query attention over a paged cache (rule 6).
//!
//! Many rows are cut into tiles: the queries of a tile and of one KV head go through the blocks of 256
//! positions together, so that keys and values are widened once for all of them. Few rows are cut by
//! blocks instead, so that a long context feeds all workers: each block's results go to scratch and are
//! combined in ascending order afterwards. Both are the same arithmetic.
//!
//! | File | Holds |
//! |---|---|
//! | `cache` | elements of the cache, writing to it |
//! | `block` | one block for a group of queries; combining blocks |

mod block;
mod cache;

use super::{check_counts, check_f32};
use crate::isa::{Isa, LANES, vectorized};
use block::{Block, Layout, Queries, Work, finish, merge};
use cache::{Cache, CacheElement, WriteCache};
use core::ops::Range;
use guild_sdk::abi::abi::GUILD_PAGE_POSITIONS;
use guild_sdk::abi::core_ops::guild_attention_params;
use guild_sdk::abi::formats::{GUILD_FORMAT_F16, GUILD_FORMAT_F32};
use guild_sdk::{
    Batch, Bounds, Exec, Failure, Instance, Par, Refusal, Request, Scratch, ScratchSlots, Tensor,
    TensorMut, Tile,
};

/// Positions of a page, and of a block of rule 6.
const PAGE: usize = GUILD_PAGE_POSITIONS as usize;
/// Queries of a tile of rows, about.
const TILE_QUERIES: usize = 128;
/// Rows of a tile at most, and of a call that is cut by blocks.
const TILE_ROWS_MAX: usize = 32;
const SPLIT_ROWS_MAX: usize = 8;
/// Tasks that each worker gets at least where there are enough rows.
const TASKS_PER_WORKER: usize = 4;
/// Results of blocks that scratch has room for, a query each.
const PARTIALS: usize = 1024;

struct Attention<S> {
    isa: S,
    scale: f32,
    half: bool,
    heads: usize,
    kv_heads: usize,
    layout: Layout,
}

/// Whether the request keeps the contract.
///
/// # Errors
/// The operand or parameter that doesn't.
pub fn supports(request: &Request<'_>) -> Result<(), Refusal> {
    check_counts(request, 3, 1, 2)?;
    let [q, k, v] = &request.inputs[..] else {
        return Err(Refusal::shape(0, 0, "attention has three inputs"));
    };
    let dim = q.dim();
    for (at, tensor) in [q, k, v, &request.outputs[0]].into_iter().enumerate() {
        check_f32(at, tensor, dim)?;
        if tensor.rank != 3 {
            let text = "q, k, v and the output have rank 3";
            return Err(Refusal::shape(at, tensor.rank as u64, text));
        }
    }
    let (heads, kv_heads) = (q.shape[1], k.shape[1]);
    if kv_heads == 0 || !heads.is_multiple_of(kv_heads) || v.shape[1] != kv_heads {
        let text = "query heads aren't a multiple of KV heads";
        return Err(Refusal::shape(1, kv_heads as u64, text));
    }
    let format = request.states[0].format;
    for (at, state) in request.states.iter().enumerate() {
        if state.format != format || ![GUILD_FORMAT_F16, GUILD_FORMAT_F32].contains(&format) {
            let text = "keys and values are both f16 or both f32";
            return Err(Refusal::format(4 + at, state.format, text));
        }
        if state.shape != [kv_heads, PAGE, dim, 1] {
            let text = "a page isn't [kv_heads, 256, dim]";
            return Err(Refusal::shape(4 + at, state.shape[0] as u64, text));
        }
    }
    if request.params::<guild_attention_params>().is_err() {
        return Err(Refusal::params(0, "attention's parameters are missing"));
    }
    Ok(())
}

/// Binds a request that [`supports`] accepted.
///
/// # Errors
/// Parameters are missing.
pub fn create<S: Isa>(isa: S, request: &Request<'_>) -> Result<Box<dyn Instance>, Failure> {
    let params: guild_attention_params = request.params()?;
    let (q, k) = (&request.inputs[0], &request.inputs[1]);
    let (heads, kv_heads) = (q.shape[1], k.shape[1]);
    let group = (heads / kv_heads.max(1)).max(1);
    Ok(Box::new(Attention {
        isa,
        scale: params.scale,
        half: request.states[0].format == GUILD_FORMAT_F16,
        heads,
        kv_heads,
        layout: Layout::new(q.dim(), tile_rows(group) * group),
    }))
}

/// Rows of the largest tile for groups of so many heads.
fn tile_rows(group: usize) -> usize {
    (TILE_QUERIES / group).clamp(SPLIT_ROWS_MAX, TILE_ROWS_MAX)
}

impl<S: Isa> Instance for Attention<S> {
    fn scratch(&self, bounds: &Bounds) -> ScratchSlots {
        let work = self.layout.work() * bounds.workers.max(1);
        let totals = SPLIT_ROWS_MAX * self.heads;
        let split = (PARTIALS.max(totals) + totals) * self.layout.partial();
        ScratchSlots::NONE
            .call((work * size_of::<f32>()) as u64, 64)
            .call((split * size_of::<f32>()) as u64, 64)
    }

    fn execute(&self, x: &Exec<'_>) -> Result<(), Failure> {
        if self.half {
            self.run::<u16>(x)
        } else {
            self.run::<f32>(x)
        }
    }
}

impl<S: Isa> Attention<S> {
    fn run<T: CacheElement>(&self, x: &Exec<'_>) -> Result<(), Failure> {
        let (q, k, v) = (x.input(0)?, x.input(1)?, x.input(2)?);
        let (mut keys, mut values) = (x.state::<T>(0)?, x.state::<T>(1)?);
        let (batch, y) = (x.batch()?, x.output(0)?);
        let (rows, dim, kv_heads) = (y.rows(), self.layout.dim, self.kv_heads);
        let page = [kv_heads, PAGE, dim, 1];
        let same = [q.heads(), y.heads(), k.heads(), v.heads()]
            == [self.heads, self.heads, kv_heads, kv_heads]
            && [q.dim(), k.dim(), v.dim(), y.dim()] == [dim; 4]
            && [q.rows(), k.rows(), v.rows(), batch.rows()] == [rows; 4]
            && [keys.shape(), values.shape()] == [page; 2];
        if !same {
            return Err(super::lengths_differ());
        }
        for sequence in batch.sequences() {
            self.isa
                .vectorize::<WriteCache, _>((&sequence, &k, &mut keys));
            self.isa
                .vectorize::<WriteCache, _>((&sequence, &v, &mut values));
        }
        let call = Call {
            q,
            cache: Cache {
                keys: keys.rows(),
                values: values.rows(),
                dim,
            },
            batch,
            scale: self.scale,
            layout: self.layout,
            group: self.heads / kv_heads.max(1),
        };
        if rows <= SPLIT_ROWS_MAX {
            self.by_blocks(&call, x.par(), y, x.scratch(0)?, x.scratch(1)?)
        } else {
            self.by_rows(&call, x.par(), y, x.scratch(0)?)
        }
    }

    /// Each task takes a tile of rows and one KV head through all blocks.
    fn by_rows<T: CacheElement>(
        &self,
        call: &Call<'_, T>,
        par: Par<'_>,
        y: TensorMut<'_, f32>,
        scratch: Scratch<'_>,
    ) -> Result<(), Failure> {
        let tasks = TASKS_PER_WORKER * par.workers();
        let even = (y.rows() * self.kv_heads).div_ceil(tasks);
        let tiles = y.tiles(even.clamp(1, tile_rows(call.group)), call.group);
        let work = scratch.per_worker::<f32>(par.workers(), self.layout.work())?;
        par.split((tiles, work), 1, |_, (mut y, work)| {
            for rows in call.parts(y.rows()) {
                let arguments = (call, &rows, &mut y, &mut *work);
                self.isa.vectorize::<AttendRows, _>(arguments);
            }
        })
    }

    /// Each task takes rows of one sequence and heads of one KV head through one block; then all
    /// blocks are combined. Where scratch hasn't room for all blocks, in several rounds.
    fn by_blocks<T: CacheElement>(
        &self,
        call: &Call<'_, T>,
        par: Par<'_>,
        mut y: TensorMut<'_, f32>,
        mut scratch: Scratch<'_>,
        mut results: Scratch<'_>,
    ) -> Result<(), Failure> {
        let (rows, partial) = (y.rows(), self.layout.partial());
        let blocks = call.parts(0..rows).map(|rows| rows.blocks()).max();
        let cut = Cut::new(self, call, par.workers(), rows, blocks.unwrap_or(0));
        let bytes = |queries: usize| queries * partial * size_of::<f32>();
        let queries = rows * self.heads;
        let mut totals = results.cut(bytes(queries))?.matrix(queries, partial)?;
        let lines = rows.div_ceil(cut.together) * cut.round;
        let columns = cut.together * self.heads * partial;
        let mut partials = results
            .cut(bytes(queries * cut.round))?
            .matrix::<f32>(lines, columns)?;
        for first in (0..blocks.unwrap_or(0)).step_by(cut.round) {
            let width = cut.together * cut.heads * partial;
            let tiles = partials.reborrow().column_tiles(1, width);
            let tiles = tiles.ok_or_else(super::gaps)?;
            let work = scratch.reborrow();
            let work = work.per_worker::<f32>(par.workers(), self.layout.work())?;
            par.split((tiles, work), 1, |_, (mut tile, work)| {
                let line = tile.rows().start;
                let from = line / cut.round * cut.together;
                let block = first + line % cut.round;
                let head = tile.columns().start / width * cut.heads;
                for part in call.parts(from..(from + cut.together).min(rows)) {
                    let heads = head..head + cut.heads;
                    let results = tile.row_mut(line);
                    let arguments = (call, &part, heads, block, results, &mut *work);
                    self.isa.vectorize::<AttendBlock, _>(arguments);
                }
            })?;
            let partials = partials.as_tensor();
            let par = if cut.round == 1 { Par::INLINE } else { par };
            let parts = (
                y.reborrow().tiles(1, call.group),
                totals.reborrow().tiles(call.group, 1),
            );
            par.split(parts, 1, |_, (mut y, mut totals)| {
                for part in call.parts(y.rows()) {
                    let round = first..(first + cut.round).min(part.blocks());
                    let arguments = (call, &cut, round, &partials, &mut y, &mut totals);
                    self.isa.vectorize::<Combine, _>(arguments);
                }
            })?;
        }
        Ok(())
    }
}

/// How few rows are cut by blocks. A line of results is one block of `together` rows: for each `heads`
/// heads those rows, each with its heads.
struct Cut {
    /// Rows of one sequence that share a block's keys.
    together: usize,
    /// Heads of a task, all of one KV head.
    heads: usize,
    /// Blocks between two combinations.
    round: usize,
}

impl Cut {
    fn new<S, T>(
        attention: &Attention<S>,
        call: &Call<'_, T>,
        workers: usize,
        rows: usize,
        blocks: usize,
    ) -> Cut {
        let queries = (rows * attention.heads).max(1);
        let room = PARTIALS.max(SPLIT_ROWS_MAX * attention.heads) / queries;
        let round = room.clamp(1, blocks.max(1));
        let together = if call.batch.len() == 1 { rows } else { 1 };
        let few = round * attention.kv_heads * rows < workers;
        Cut {
            together: together.max(1),
            heads: if few && together <= 1 { 1 } else { call.group },
            round,
        }
    }
}

/// What all tasks of a call share.
struct Call<'a, T> {
    q: Tensor<'a, f32>,
    cache: Cache<'a, T>,
    batch: Batch<'a>,
    scale: f32,
    layout: Layout,
    /// Query heads of a KV head.
    group: usize,
}

/// Some rows of one sequence.
struct Rows<'a> {
    pages: &'a [u32],
    first: usize,
    count: usize,
    /// The first row's position.
    position: usize,
}

impl Rows<'_> {
    /// Blocks that the last row sees.
    fn blocks(&self) -> usize {
        (self.position + self.count).div_ceil(PAGE)
    }
}

impl<'a, T: CacheElement> Call<'a, T> {
    /// Some rows of the call, by sequence.
    fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = Rows<'a>> + use<'a, T> {
        self.batch.sequences().filter_map(move |sequence| {
            let first = rows.start.max(sequence.first_row);
            let end = rows.end.min(sequence.first_row + sequence.rows);
            (first < end).then(|| Rows {
                pages: sequence.pages,
                first,
                count: end - first,
                position: sequence.position as usize + first - sequence.first_row,
            })
        })
    }

    /// Copies queries to a worker's scratch, `[rows][heads][padded]`; absent elements are +0.
    #[inline(always)]
    fn pack<S: Isa>(&self, isa: S, rows: &Rows<'_>, heads: Range<usize>, queries: &mut [f32]) {
        let mut lines = queries.chunks_exact_mut(self.layout.padded);
        for row in rows.first..rows.first + rows.count {
            for (head, line) in heads.clone().zip(&mut lines) {
                let q = self.q.vector(row, head);
                for (at, to) in (0..).step_by(LANES).zip(line.as_chunks_mut().0) {
                    isa.store(to, isa.load_part(&q[at.min(q.len())..]));
                }
            }
        }
    }

    /// The rows that see a block, counted from those of `rows` that don't, and the block.
    #[inline(always)]
    fn block(
        &self,
        rows: &Rows<'_>,
        heads: &Range<usize>,
        block: usize,
    ) -> Option<(usize, Queries, Block<'_, T>)> {
        let blind = (block * PAGE).saturating_sub(rows.position);
        if blind >= rows.count {
            return None;
        }
        let queries = Queries {
            rows: rows.count - blind,
            heads: heads.len(),
            seen: (rows.position + blind + 1 - block * PAGE).min(PAGE),
        };
        let (page, kv_head) = (rows.pages[block] as usize, heads.start / self.group);
        let [keys, values] = self.cache.entries(page, kv_head, queries.most());
        let scale = self.scale;
        Some((
            blind,
            queries,
            Block {
                keys,
                values,
                scale,
            },
        ))
    }
}

/// Names [`attend_rows`].
struct AttendRows;

vectorized!(impl [T: CacheElement] AttendRows = attend_rows::<S, T>, (&'a Call<'b, T>, &'a Rows<'b>, &'a mut Tile<'b, f32>, &'a mut [f32]));

/// Rows of one sequence, and the tile's heads, through all blocks.
#[inline(always)]
fn attend_rows<S: Isa, T: CacheElement>(
    isa: S,
    (call, rows, y, work): (&Call<'_, T>, &Rows<'_>, &mut Tile<'_, f32>, &mut [f32]),
) {
    let (layout, heads) = (&call.layout, y.heads());
    let partial = layout.partial();
    let mut work = Work::new(layout, work);
    call.pack(isa, rows, heads.clone(), work.queries);
    let [next, totals] = core::mem::take(&mut work.results);
    for at in 0..rows.blocks() {
        let Some((blind, queries, block)) = call.block(rows, &heads, at) else {
            continue;
        };
        let first = blind * heads.len();
        let into = if at == 0 { &mut *totals } else { &mut *next };
        block.attend(isa, layout, queries, first, (&mut work, into));
        if at > 0 {
            let totals = totals[first * partial..].chunks_exact_mut(partial);
            let lines = next.chunks_exact(partial).take(queries.rows * heads.len());
            totals
                .zip(lines)
                .for_each(|(total, next)| merge(isa, layout, total, next));
        }
    }
    let mut totals = totals.chunks_exact(partial);
    for row in rows.first..rows.first + rows.count {
        for (head, total) in heads.clone().zip(&mut totals) {
            finish(isa, layout, total, y.vector_mut(row, head));
        }
    }
}

/// Names [`attend_block`].
struct AttendBlock;

vectorized!(impl [T: CacheElement] AttendBlock = attend_block::<S, T>, BlockArguments<'a, 'b, T>);

/// Rows, heads, the block, its results and a worker's scratch.
type BlockArguments<'a, 'b, T> = (
    &'a Call<'b, T>,
    &'a Rows<'b>,
    Range<usize>,
    usize,
    &'a mut [f32],
    &'a mut [f32],
);

/// Rows of one sequence through one block, whose results go to `results`, `[rows][heads][partial]`.
#[inline(always)]
fn attend_block<S: Isa, T: CacheElement>(
    isa: S,
    (call, rows, heads, at, results, work): BlockArguments<'_, '_, T>,
) {
    let Some((blind, queries, block)) = call.block(rows, &heads, at) else {
        return;
    };
    let mut work = Work::new(&call.layout, work);
    let first = blind * heads.len();
    let results = &mut results[first * call.layout.partial()..];
    call.pack(isa, rows, heads, work.queries);
    block.attend(isa, &call.layout, queries, first, (&mut work, results));
}

/// Names [`combine`].
struct Combine;

vectorized!(impl [T: CacheElement] Combine = combine::<S, T>, CombineArguments<'a, 'b, T>);

/// Also the round's blocks, all results, the output and the totals.
type CombineArguments<'a, 'b, T> = (
    &'a Call<'b, T>,
    &'a Cut,
    Range<usize>,
    &'a Tensor<'b, f32>,
    &'a mut Tile<'b, f32>,
    &'a mut Tile<'b, f32>,
);

/// Combines the results of a round of blocks for one row and some heads.
#[inline(always)]
fn combine<S: Isa, T: CacheElement>(
    isa: S,
    (call, cut, round, partials, y, totals): CombineArguments<'_, '_, T>,
) {
    let (layout, row) = (&call.layout, y.rows().start);
    let partial = layout.partial();
    for (head, line) in y.heads().zip(totals.rows()) {
        let total = totals.row_mut(line);
        let place = (head / cut.heads * cut.together + row % cut.together) * cut.heads;
        let place = (place + head % cut.heads) * partial;
        let first = row / cut.together * cut.round;
        for (i, block) in round.clone().enumerate() {
            let next = &partials.row(first + i)[place..place + partial];
            if block == 0 {
                total.copy_from_slice(next);
            } else {
                merge(isa, layout, total, next);
            }
        }
        finish(isa, layout, total, y.vector_mut(row, head));
    }
}
