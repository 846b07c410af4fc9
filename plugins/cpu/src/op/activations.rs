//! Activations of a call in the forms that its weights want, made once in scratch.

use crate::block::{Activations, RECORD_ELEMS, Rounding, WriteRecord, WriteTiles};
use crate::isa::Isa;
use guild_sdk::{Failure, Par, Scratch, Tensor, TensorMut};

/// Elements from which writing records is worth waking other threads.
const PARALLEL_ELEMS: usize = 16 * 1024;
const KINDS: [Rounding; 4] = [
    Rounding::None,
    Rounding::Q8_32,
    Rounding::Q8_256,
    Rounding::Bf16,
];

/// Which forms a call needs, for rows of `elems` elements.
#[derive(Clone, Copy, Debug)]
pub struct Forms {
    wanted: [bool; KINDS.len()],
    elems: usize,
}

/// The forms of one call, in scratch.
pub struct Rounded<'a> {
    steps: usize,
    rows: usize,
    forms: [Option<TensorMut<'a, u8>>; KINDS.len()],
}

impl Forms {
    /// No forms yet.
    #[must_use]
    pub const fn new(elems: usize) -> Forms {
        Forms {
            wanted: [false; KINDS.len()],
            elems,
        }
    }

    /// Adds a form.
    pub fn want(&mut self, rounding: Rounding) {
        self.wanted[rounding as usize] = true;
    }

    /// Bytes of scratch for `rows` rows.
    #[must_use]
    pub fn bytes(&self, rows: usize) -> usize {
        self.wanted_kinds()
            .map(|kind| self.kind_bytes(kind, rows))
            .sum()
    }

    /// Makes all forms of `x`, `[rows, elems]`.
    ///
    /// # Errors
    /// `SCRATCH_SMALL` where scratch is below [`Forms::bytes`]; what the pool says.
    pub fn make<'a, S: Isa>(
        &self,
        isa: S,
        par: Par<'_>,
        x: &Tensor<'_, f32>,
        scratch: &mut Scratch<'a>,
    ) -> Result<Rounded<'a>, Failure> {
        let rows = x.rows();
        let mut rounded = Rounded {
            steps: self.steps(),
            rows,
            forms: [const { None }; KINDS.len()],
        };
        for kind in self.wanted_kinds() {
            let bytes = self.kind_bytes(kind, rows);
            let mut form = scratch.cut(bytes)?.matrix::<u8>(1, bytes)?;
            if rows > 0 {
                self.fill(isa, par, kind, x, &mut form)?;
            }
            rounded.forms[kind as usize] = Some(form);
        }
        Ok(rounded)
    }

    fn fill<S: Isa>(
        &self,
        isa: S,
        par: Par<'_>,
        kind: Rounding,
        x: &Tensor<'_, f32>,
        form: &mut TensorMut<'_, u8>,
    ) -> Result<(), Failure> {
        let rows = x.rows();
        let par = if rows * self.elems < PARALLEL_ELEMS {
            Par::INLINE
        } else {
            par
        };
        let (size, together) = (kind.record_bytes(), kind.rows_together());
        // One task is one group of rows where they are written together; else one step of all rows, whose records lie
        // one behind the other.
        let task_bytes = match together {
            1 => size * rows,
            _ => kind.buffer_bytes(self.steps() * together),
        };
        let Some(tiles) = form.reborrow().column_tiles(1, task_bytes) else {
            return Err(Failure::internal("records have gaps"));
        };
        if together > 1 {
            return par.split(tiles, 1, |group, mut tile| {
                let first = group * together;
                let rows = core::array::from_fn(|i| match first + i < rows {
                    true => x.row(first + i),
                    false => &[],
                });
                isa.vectorize::<WriteTiles, _>((&rows, tile.row_mut(0)));
            });
        }
        par.split(tiles, 1, |step, mut tile| {
            if step >= self.steps() {
                // What a tile register reads behind the last record.
                return;
            }
            let first = step * RECORD_ELEMS;
            let end = (first + RECORD_ELEMS).min(self.elems);
            for (row, record) in tile.row_mut(0).chunks_exact_mut(size).enumerate() {
                isa.vectorize::<WriteRecord, _>((kind, &x.row(row)[first..end], record));
            }
        })
    }

    fn kind_bytes(&self, kind: Rounding, rows: usize) -> usize {
        let rows = rows.next_multiple_of(kind.rows_together());
        let bytes = kind.buffer_bytes(self.steps() * rows);
        bytes.next_multiple_of(64)
    }

    /// Records of a row.
    fn steps(&self) -> usize {
        self.elems.div_ceil(RECORD_ELEMS)
    }

    fn wanted_kinds(&self) -> impl Iterator<Item = Rounding> + use<'_> {
        KINDS.into_iter().filter(|&kind| self.wanted[kind as usize])
    }
}

impl Rounded<'_> {
    /// The form of one rounding.
    ///
    /// # Panics
    /// When it wasn't wanted.
    #[must_use]
    pub fn of(&self, rounding: Rounding) -> Activations<'_> {
        let form = self.forms[rounding as usize].as_ref();
        Activations {
            steps: self.steps,
            rows: self.rows,
            records: form
                .map(|form| form.vector(0, 0))
                .expect("the form was wanted"),
        }
    }
}
