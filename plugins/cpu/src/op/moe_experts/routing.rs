//! Rows grouped by expert: a counting sort into scratch, and the tasks that follow from it.
//!
//! A group is an expert; the shared expert is the group behind the last one and has every row.

use super::operands::InnerSizes;
use core::ops::Range;
use guild_sdk::{Failure, Scratch, Tensor};

/// What the sizes of a call's tables follow from.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub experts: usize,
    /// Experts of a row.
    pub top: usize,
    pub inner: InnerSizes,
    /// The same of the shared expert, where there is one.
    pub shared: Option<InnerSizes>,
}

impl Sizes {
    /// Bytes of the tables for `rows` rows.
    pub(super) fn bytes(&self, rows: usize) -> usize {
        let tables = [
            (self.groups() + 1) * 4,
            self.entries(rows) * 4,
            self.entries(rows) * 4,
            self.active(rows) * 4,
            (self.active(rows) + 1) * 4,
            self.items(rows) * 4,
            self.items(rows) * 4,
            self.items(rows) * 4,
            (self.items(rows) + 1) * 8,
        ];
        tables.iter().map(|bytes| bytes.next_multiple_of(64)).sum()
    }

    /// Bytes of all records between up and down.
    pub(super) fn record_bytes(&self, rows: usize) -> usize {
        let of = |entries: usize, groups: usize, inner: &InnerSizes| {
            entries * inner.spans * inner.record_bytes + groups * inner.bytes_behind
        };
        let shared = self.shared.as_ref().map_or(0, |inner| of(rows, 1, inner));
        let active = (rows * self.top).min(self.experts);
        (of(rows * self.top, active, &self.inner) + shared).next_multiple_of(64)
    }

    fn groups(&self) -> usize {
        self.experts + usize::from(self.shared.is_some())
    }

    fn entries(&self, rows: usize) -> usize {
        rows * (self.top + usize::from(self.shared.is_some()))
    }

    /// Groups that `rows` rows have, at most.
    pub(super) fn active(&self, rows: usize) -> usize {
        (rows * self.top).min(self.experts) + usize::from(self.shared.is_some())
    }

    fn items(&self, rows: usize) -> usize {
        let shared = self.shared.map_or(0, |inner| inner.spans);
        (rows * self.top).min(self.experts) * self.inner.spans + shared
    }
}

/// The grouped rows and the tasks of one call.
pub(super) struct Routing<'a> {
    /// First entry of each group, and the end.
    starts: &'a [u32],
    rows: &'a [u32],
    weights: &'a [f32],
    /// Groups that have rows, ascending.
    active: &'a [u32],
    /// First task of each active group, and the end.
    active_items: &'a [u32],
    item_group: &'a [u32],
    item_span: &'a [u32],
    /// First byte of each task's records, and the end.
    pub bounds: &'a [u64],
}

/// The rows of one group.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'a> {
    /// Row numbers, ascending.
    pub rows: &'a [u32],
    /// The expert's factor in each row's result.
    pub weights: &'a [f32],
}

impl<'a> Routing<'a> {
    /// Groups the rows of `ids` and `weights`, both `[rows, top]`; also gives a word for each task.
    ///
    /// # Errors
    /// `INVALID` where an id isn't an expert; `SCRATCH_SMALL`.
    pub(super) fn build(
        sizes: &Sizes,
        ids: &Tensor<'_, i32>,
        weights: &Tensor<'_, f32>,
        shared_weight: impl Fn(usize) -> f32,
        scratch: &mut Scratch<'a>,
    ) -> Result<(Routing<'a>, &'a mut [u32]), Failure> {
        let rows = ids.rows();
        let same = [ids.dim(), weights.dim(), weights.rows()] == [sizes.top, sizes.top, rows];
        if !same {
            return Err(crate::op::lengths_differ());
        }
        let starts = table::<u32>(scratch, sizes.groups() + 1)?;
        let list = table::<u32>(scratch, sizes.entries(rows))?;
        let factors = table::<f32>(scratch, sizes.entries(rows))?;
        count(sizes, ids, starts)?;
        for row in 0..rows {
            for (id, weight) in ids.vector(row, 0).iter().zip(weights.vector(row, 0)) {
                let at = starts[*id as usize] as usize;
                (list[at], factors[at]) = (row as u32, *weight);
                starts[*id as usize] += 1;
            }
        }
        if sizes.shared.is_some() {
            let first = rows * sizes.top;
            let shared = list[first..].iter_mut().zip(&mut factors[first..]);
            for (row, (entry, factor)) in shared.enumerate() {
                (*entry, *factor) = (row as u32, shared_weight(row));
            }
            starts[sizes.experts] = (first + rows) as u32;
        }
        // Filling moved each start to the next group's; move them back by one group.
        starts.rotate_right(1);
        starts[0] = 0;
        let tasks = Tasks::build(sizes, starts, rows, scratch)?;
        let words = table::<u32>(scratch, tasks.item_group.len())?;
        let routing = Routing {
            starts,
            rows: list,
            weights: factors,
            active: tasks.active,
            active_items: tasks.active_items,
            item_group: tasks.item_group,
            item_span: tasks.item_span,
            bounds: tasks.bounds,
        };
        Ok((routing, words))
    }

    /// Group and span of a task.
    pub(super) fn item(&self, item: usize) -> (usize, usize) {
        (
            self.item_group[item] as usize,
            self.item_span[item] as usize,
        )
    }

    /// The rows of a group.
    pub(super) fn tokens(&self, group: usize) -> Tokens<'a> {
        let part = self.starts[group] as usize..self.starts[group + 1] as usize;
        Tokens {
            rows: &self.rows[part.clone()],
            weights: &self.weights[part],
        }
    }

    /// The active groups, each with its tasks.
    pub(super) fn groups(&self) -> impl ExactSizeIterator<Item = (usize, Range<usize>)> {
        (0..self.active.len()).map(|at| self.group(at))
    }

    /// An active group and its tasks.
    pub(super) fn group(&self, at: usize) -> (usize, Range<usize>) {
        let items = self.active_items[at] as usize..self.active_items[at + 1] as usize;
        (self.active[at] as usize, items)
    }
}

/// Checks the ids and writes the first entry of each expert, and of the group behind the last.
fn count(sizes: &Sizes, ids: &Tensor<'_, i32>, starts: &mut [u32]) -> Result<(), Failure> {
    starts.fill(0);
    for row in 0..ids.rows() {
        for &id in ids.vector(row, 0) {
            if !usize::try_from(id).is_ok_and(|id| id < sizes.experts) {
                let experts = sizes.experts;
                return Err(Failure::invalid(format!(
                    "row {row} names expert {id} of {experts}"
                )));
            }
            starts[id as usize] += 1;
        }
    }
    let mut next = 0;
    for start in starts.iter_mut() {
        let count = *start;
        *start = next;
        next += count;
    }
    Ok(())
}

struct Tasks<'a> {
    active: &'a [u32],
    active_items: &'a [u32],
    item_group: &'a [u32],
    item_span: &'a [u32],
    bounds: &'a [u64],
}

impl<'a> Tasks<'a> {
    fn build(
        sizes: &Sizes,
        starts: &[u32],
        rows: usize,
        scratch: &mut Scratch<'a>,
    ) -> Result<Tasks<'a>, Failure> {
        let active = table::<u32>(scratch, sizes.active(rows))?;
        let active_items = table::<u32>(scratch, sizes.active(rows) + 1)?;
        let item_group = table::<u32>(scratch, sizes.items(rows))?;
        let item_span = table::<u32>(scratch, sizes.items(rows))?;
        let bounds = table::<u64>(scratch, sizes.items(rows) + 1)?;
        let (mut used, mut items, mut end) = (0, 0, 0);
        bounds[0] = 0;
        active_items[0] = 0;
        for group in 0..sizes.groups() {
            let count = (starts[group + 1] - starts[group]) as usize;
            if count == 0 {
                continue;
            }
            active[used] = group as u32;
            used += 1;
            let inner = sizes
                .shared
                .filter(|_| group == sizes.experts)
                .unwrap_or(sizes.inner);
            for span in 0..inner.spans {
                (item_group[items], item_span[items]) = (group as u32, span as u32);
                items += 1;
                end += (count * inner.record_bytes) as u64;
                bounds[items] = end;
            }
            // Room that belongs to the group's last task, so that nobody reads what another writes.
            end += inner.bytes_behind as u64;
            bounds[items] = end;
            active_items[used] = items as u32;
        }
        Ok(Tasks {
            active: &active[..used],
            active_items: &active_items[..=used],
            item_group: &item_group[..items],
            item_span: &item_span[..items],
            bounds: &bounds[..=items],
        })
    }
}

fn table<'a, T: guild_sdk::Element>(
    scratch: &mut Scratch<'a>,
    len: usize,
) -> Result<&'a mut [T], Failure> {
    scratch.cut(len * size_of::<T>())?.slice(len)
}
