//! The pool for a call with one row, which decode consists of. It is as fast as weights come from memory, and those
//! come the faster the more of them lie one behind the other: so tasks of the second stage aren't bands of outputs,
//! which have a little of each expert, but large parts of one expert's `down`. Their products are added up at the
//! end, experts ascending as elsewhere.

use super::{AddScaled, Inner, Pool, Swiglu};
use crate::block::{Activations, GemvSpace, RECORD_ELEMS, TILE_ROWS, TileRows, WriteRecord};
use crate::isa::Isa;
use crate::op::activations::Rounded;
use crate::op::linear::tile_rows;
use guild_sdk::{Exec, Failure, Published, Ragged, Stage, Staged, TensorMut, Tile};

/// Tasks of the second stage that each worker gets, so that workers finish together, unless they would be too short.
const PARTS_PER_WORKER: usize = 16;
/// Bytes of an expert's weights in such a task at least: shorter stretches are over before memory has come to speed.
const PART_BYTES_MIN: usize = 64 << 10;
/// Bytes of weights that are asked for before they are needed: until the product with them looks ahead by itself.
const FIRST_BYTES: usize = 2048;

impl<S: Isa> Pool<'_, S> {
    /// Runs the loop for the call's only row.
    pub(super) fn run_row(
        &self,
        x: &Exec<'_>,
        rounded: &Rounded<'_>,
        (records, words): (Ragged<'_, u8>, &mut [u32]),
        y: TensorMut<'_, f32>,
    ) -> Result<(), Failure> {
        let (kernel, workers) = (self.kernel, x.par().workers());
        let groups = self.routing.groups().len();
        let gathered = x.scratch(2)?;
        let gathered = gathered.per_worker::<u8>(workers, kernel.gathered_bytes())?;
        let mut products = x.scratch(3)?.matrix::<f32>(groups, kernel.hidden)?;
        let parts = products
            .reborrow()
            .column_tiles(1, self.part_rows(groups, workers))
            .ok_or_else(crate::op::gaps)?;
        let staged = Staged::new(records, words, parts)?;
        x.par().split(
            (staged, gathered),
            1,
            |item, (stage, gathered)| match stage {
                Stage::First(mut record) => {
                    self.inner(item, rounded).run_row(gathered, &mut record)
                }
                Stage::Second(records, mut products) => self.down_row(&records, &mut products),
            },
        )?;
        let mut y = y.packed_rows().ok_or_else(crate::op::gaps)?;
        let y = y.vector_mut(0, 0);
        y.fill(0.0);
        for (at, (group, _)) in self.routing.groups().enumerate() {
            let factor = self.routing.tokens(group).weights[0];
            let arguments = (factor, products.vector(at, 0), &mut *y);
            kernel.isa.vectorize::<AddScaled, _>(arguments);
        }
        Ok(())
    }

    /// Rows of an expert's `down` in one task: equal parts, whole tiles.
    fn part_rows(&self, groups: usize, workers: usize) -> usize {
        let hidden = self.kernel.hidden;
        let even = groups * hidden / (workers * PARTS_PER_WORKER);
        let least = PART_BYTES_MIN.div_ceil(self.operands.down.row_stride().max(1));
        let parts = (hidden / even.max(least).max(1)).max(1);
        hidden.div_ceil(parts).next_multiple_of(TILE_ROWS)
    }

    /// Products of some rows of one expert's `down`.
    fn down_row(&self, records: &Published<'_, u8>, products: &mut Tile<'_, f32>) {
        let isa = self.kernel.isa;
        let (at, columns) = (products.rows().start, products.columns());
        let (group, items) = self.routing.group(at);
        let (network, down) = self.group(group);
        let weight = tile_rows(&down, columns.start, columns.len());
        ask_for(isa, &weight);
        let activations = Activations {
            steps: network.inner().spans,
            rows: 1,
            records: records.wait(items),
        };
        let mut space = GemvSpace::new(isa);
        (network.down.gemv)(isa, &mut space, &weight, &activations, products.row_mut(at));
    }
}

impl<S: Isa> Inner<'_, S> {
    /// Fills the span's record of the group's only row.
    pub(super) fn run_row(&self, gathered: &mut [u8], record: &mut [u8]) {
        let Inner { isa, network, .. } = *self;
        let (first, width) = self.columns();
        let gate = tile_rows(&self.gate, first, width);
        let up = tile_rows(&self.up, first, width);
        ask_for(isa, &gate);
        ask_for(isa, &up);
        let (for_gate, for_up) = self.gather(self.tokens.rows, gathered);
        let (mut gates, mut ups) = ([0.0; RECORD_ELEMS], [0.0; RECORD_ELEMS]);
        let (gates, ups) = (&mut gates[..width], &mut ups[..width]);
        let mut space = GemvSpace::new(isa);
        (network.gate.gemv)(isa, &mut space, &gate, &for_gate, gates);
        (network.up.gemv)(isa, &mut space, &up, &for_up, ups);
        let mut inner = [0.0; RECORD_ELEMS];
        let inner = &mut inner[..width];
        isa.vectorize::<Swiglu, _>((gates, ups, inner));
        let rounding = network.down.rounding;
        let record = &mut record[..rounding.record_bytes()];
        isa.vectorize::<WriteRecord, _>((rounding, inner, record));
    }
}

/// Has the first bytes of a weight come into a near cache.
fn ask_for<S: Isa>(isa: S, weight: &TileRows<'_>) {
    let first = &weight.bytes[..weight.bytes.len().min(FIRST_BYTES)];
    isa.prefetch_all(first);
}
