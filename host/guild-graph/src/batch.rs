//! The batch table: what one call works on. Its addresses are fixed when a plan is bound; only its
//! numbers change between calls.
//!
//! Every number is checked here, once, so that no plugin can be led outside its memory.

use guild_abi::abi::{GUILD_PAGE_POSITIONS, guild_batch, guild_batch_seq};

use crate::arena::FixedTable;
use crate::options::BindOptions;

/// The inputs of a call. Filling it allocates nothing.
///
/// For each call: [`Batch::clear`], [`Batch::push`] for each sequence, [`Batch::set_output_rows`].
pub struct Batch {
    options: BindOptions,
    table: FixedTable<guild_batch>,
    seqs: FixedTable<guild_batch_seq>,
    tokens: FixedTable<i32>,
    output_rows: FixedTable<i32>,
    /// For each entry of `seqs` room for its page table.
    pages: FixedTable<u32>,
    /// For each row room for its snapshot slot.
    snapshots: FixedTable<u32>,
}

/// One sequence's part of a call.
#[derive(Clone, Copy, Debug)]
pub struct SequenceRows<'a> {
    /// Slot of the sequence in recurrent states; below `max_sequences`, once a call.
    pub slot: u32,
    /// Absolute position of the first token.
    pub position: u64,
    /// Token ids `[rows]`, 1 or more.
    pub tokens: &'a [i32],
    /// Page numbers in append-only states; entry `i` holds positions `256 i` to `256 i + 255`. They
    /// cover every position up to the last token's. No two sequences may write the same page.
    pub pages: &'a [u32],
    /// For each row the slot that takes the recurrent state after it; empty for none. They lie behind
    /// the slots of sequences, and each is used once a call.
    pub snapshot_slots: &'a [u32],
}

/// A batch that doesn't fit the plan. The caller is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {found}; the limit is {limit}")]
pub struct BatchError {
    /// What is out of range.
    pub what: &'static str,
    /// Its value.
    pub found: u64,
    /// The most (or, where it says so, the least) that is accepted.
    pub limit: u64,
}

impl Batch {
    /// An empty batch of the given maxima, which have been checked.
    pub(crate) fn new(options: &BindOptions) -> Batch {
        let sequences = options.max_sequences as usize;
        let pages_per_sequence = options.pages_per_sequence() as usize;
        let rows = options.max_rows as usize;
        let empty = guild_batch_seq {
            slot: 0,
            first_row: 0,
            rows: 0,
            page_count: 0,
            position: 0,
            pages: core::ptr::null(),
            snapshot_slots: core::ptr::null(),
            reserved: 0,
        };
        let seqs = FixedTable::new(vec![empty; sequences]);
        let table = guild_batch {
            size: size_of::<guild_batch>() as u32,
            seq_count: 0,
            seqs: seqs.as_ptr(),
            seq_stride: size_of::<guild_batch_seq>() as u64,
            rows: 0,
            outputs: 0,
            token: 0,
            reserved: [0; 2],
        };
        Batch {
            options: *options,
            table: FixedTable::new(vec![table]),
            seqs,
            tokens: FixedTable::new(vec![0; rows]),
            output_rows: FixedTable::new(vec![0; options.max_outputs as usize]),
            pages: FixedTable::new(vec![0; sequences * pages_per_sequence]),
            snapshots: FixedTable::new(vec![0; rows]),
        }
    }

    /// Bytes of the tables of a batch of these maxima.
    pub(crate) fn bytes(options: &BindOptions) -> u64 {
        let sequence = size_of::<guild_batch_seq>() as u64 + 4 * options.pages_per_sequence();
        let row = 2 * size_of::<i32>() as u64;
        let output = size_of::<i32>() as u64;
        options.max_sequences * sequence + options.max_rows * row + options.max_outputs * output
    }

    /// Starts the next call: no sequence, no output.
    pub fn clear(&mut self) {
        let table = self.table_mut();
        table.seq_count = 0;
        table.rows = 0;
        table.outputs = 0;
    }

    /// Adds a sequence's rows after those that were added before.
    ///
    /// # Errors
    /// [`BatchError`] where a number is out of range; the batch is as before.
    pub fn push(&mut self, sequence: &SequenceRows<'_>) -> Result<(), BatchError> {
        self.check(sequence)?;
        let (entry, first) = (self.table().seq_count as usize, self.rows() as usize);
        let rows = sequence.tokens.len();
        let per_sequence = self.options.pages_per_sequence() as usize;
        let page_start = entry * per_sequence;
        self.tokens.as_mut_slice()[first..first + rows].copy_from_slice(sequence.tokens);
        let pages = &mut self.pages.as_mut_slice()[page_start..page_start + sequence.pages.len()];
        pages.copy_from_slice(sequence.pages);
        let snapshots = &mut self.snapshots.as_mut_slice()[first..];
        snapshots[..sequence.snapshot_slots.len()].copy_from_slice(sequence.snapshot_slots);
        let snapshot_slots = match sequence.snapshot_slots {
            [] => core::ptr::null(),
            _ => self.snapshots.at(first).cast_const(),
        };
        self.seqs.as_mut_slice()[entry] = guild_batch_seq {
            slot: sequence.slot,
            first_row: first as u32,
            rows: rows as u32,
            page_count: sequence.pages.len() as u32,
            position: sequence.position,
            pages: self.pages.at(page_start),
            snapshot_slots,
            reserved: 0,
        };
        let table = self.table_mut();
        table.seq_count += 1;
        table.rows += rows as u64;
        Ok(())
    }

    /// Says which rows' logits are wanted, in the order of the logits. After the last `push`.
    ///
    /// # Errors
    /// [`BatchError`] for more than `max_outputs` rows or one that the batch doesn't have.
    pub fn set_output_rows(&mut self, rows: &[i32]) -> Result<(), BatchError> {
        at_most(
            "number of output rows",
            rows.len() as u64,
            self.options.max_outputs,
        )?;
        for row in rows {
            let row = u64::try_from(*row).unwrap_or(u64::MAX);
            below("output row", row, self.rows())?;
        }
        self.output_rows.as_mut_slice()[..rows.len()].copy_from_slice(rows);
        self.table_mut().outputs = rows.len() as u64;
        Ok(())
    }

    /// Rows of the call.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.table().rows
    }

    /// Output rows of the call.
    #[must_use]
    pub fn outputs(&self) -> u64 {
        self.table().outputs
    }

    /// Numbers the call, for crash records.
    pub(crate) fn count_call(&mut self) {
        let table = self.table_mut();
        table.token = table.token.wrapping_add(1);
    }

    /// The table in the ABI's terms.
    pub(crate) fn raw(&self) -> *const guild_batch {
        self.table.as_ptr()
    }

    /// Address of the token ids.
    pub(crate) fn tokens_ptr(&self) -> *mut i32 {
        self.tokens.as_ptr()
    }

    /// Address of the output rows.
    pub(crate) fn output_rows_ptr(&self) -> *mut i32 {
        self.output_rows.as_ptr()
    }

    fn check(&self, sequence: &SequenceRows<'_>) -> Result<(), BatchError> {
        let SequenceRows {
            slot,
            position,
            tokens,
            pages,
            snapshot_slots,
        } = *sequence;
        let (options, rows) = (&self.options, tokens.len() as u64);
        let entries = self.table().seq_count;
        below(
            "number of sequences already in the call",
            entries.into(),
            options.max_sequences,
        )?;
        below("sequence slot", slot.into(), options.max_sequences)?;
        let earlier = &self.seqs.as_slice()[..entries as usize];
        if earlier.iter().any(|other| other.slot == slot) {
            let what = "number of uses of a sequence slot in one call";
            return Err(BatchError {
                what,
                found: 2,
                limit: 1,
            });
        }
        if rows == 0 {
            let what = "number of tokens of a sequence (at least)";
            return Err(BatchError {
                what,
                found: 0,
                limit: 1,
            });
        }
        at_most(
            "number of rows",
            self.rows().saturating_add(rows),
            options.max_rows,
        )?;
        let end = position.saturating_add(rows);
        at_most("last position + 1", end, options.max_positions)?;
        let needed = end.div_ceil(GUILD_PAGE_POSITIONS.into());
        if (pages.len() as u64) < needed {
            let what = "number of pages of a sequence (at least)";
            return Err(BatchError {
                what,
                found: pages.len() as u64,
                limit: needed,
            });
        }
        at_most(
            "number of pages of a sequence",
            pages.len() as u64,
            options.pages_per_sequence(),
        )?;
        for page in pages {
            below("page number", (*page).into(), options.pages())?;
        }
        if !snapshot_slots.is_empty() && snapshot_slots.len() as u64 != rows {
            let (what, found) = ("number of snapshot slots", snapshot_slots.len() as u64);
            return Err(BatchError {
                what,
                found,
                limit: rows,
            });
        }
        self.check_snapshots(snapshot_slots)
    }

    /// A snapshot slot is written while other slots are in use, so it must be nobody else's.
    fn check_snapshots(&self, slots: &[u32]) -> Result<(), BatchError> {
        let options = &self.options;
        let earlier = &self.seqs.as_slice()[..self.table().seq_count as usize];
        let with_snapshots = earlier
            .iter()
            .filter(|entry| !entry.snapshot_slots.is_null());
        for (index, slot) in slots.iter().enumerate() {
            below("snapshot slot", (*slot).into(), options.slots())?;
            if u64::from(*slot) < options.max_sequences {
                return Err(BatchError {
                    what: "snapshot slot (at least)",
                    found: (*slot).into(),
                    limit: options.max_sequences,
                });
            }
            let taken = with_snapshots.clone().any(|entry| {
                let first = entry.first_row as usize;
                self.snapshots.as_slice()[first..first + entry.rows as usize].contains(slot)
            });
            if taken || slots[..index].contains(slot) {
                return Err(BatchError {
                    what: "number of uses of a snapshot slot in one call",
                    found: 2,
                    limit: 1,
                });
            }
        }
        Ok(())
    }

    fn table(&self) -> &guild_batch {
        &self.table.as_slice()[0]
    }

    fn table_mut(&mut self) -> &mut guild_batch {
        &mut self.table.as_mut_slice()[0]
    }
}

fn at_most(what: &'static str, found: u64, limit: u64) -> Result<(), BatchError> {
    if found <= limit {
        Ok(())
    } else {
        Err(BatchError { what, found, limit })
    }
}

/// `limit` is the first number that is too large.
fn below(what: &'static str, found: u64, limit: u64) -> Result<(), BatchError> {
    if found < limit {
        Ok(())
    } else {
        Err(BatchError {
            what,
            found,
            limit: limit.saturating_sub(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<'a>(slot: u32, position: u64, tokens: &'a [i32], pages: &'a [u32]) -> SequenceRows<'a> {
        SequenceRows {
            slot,
            position,
            tokens,
            pages,
            snapshot_slots: &[],
        }
    }

    fn batch() -> Batch {
        Batch::new(&BindOptions {
            max_sequences: 2,
            snapshot_slots: 1,
            ..BindOptions::single_sequence(4, 300)
        })
    }

    #[track_caller]
    fn refused(sequence: SequenceRows<'_>, what: &str) {
        let mut batch = batch();
        let error = batch
            .push(&sequence)
            .expect_err("the sequence must be refused");
        assert_eq!(error.what, what);
        assert_eq!(batch.rows(), 0);
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        refused(rows(2, 0, &[1], &[0]), "sequence slot");
        refused(
            rows(0, 0, &[], &[0]),
            "number of tokens of a sequence (at least)",
        );
        refused(rows(0, 0, &[1; 5], &[0]), "number of rows");
        refused(rows(0, 299, &[1; 2], &[0, 1]), "last position + 1");
        refused(rows(0, u64::MAX, &[1], &[0]), "last position + 1");
        refused(
            rows(0, 256, &[1], &[0]),
            "number of pages of a sequence (at least)",
        );
        refused(
            rows(0, 0, &[1], &[0, 1, 2]),
            "number of pages of a sequence",
        );
        refused(rows(0, 0, &[1], &[4]), "page number");
        let few = SequenceRows {
            snapshot_slots: &[0],
            ..rows(0, 0, &[1, 2], &[0])
        };
        refused(few, "number of snapshot slots");
        let high = SequenceRows {
            snapshot_slots: &[3],
            ..rows(0, 0, &[1], &[0])
        };
        refused(high, "snapshot slot");
        let active = SequenceRows {
            snapshot_slots: &[0],
            ..rows(1, 0, &[1], &[0])
        };
        refused(active, "snapshot slot (at least)");
        let twice = SequenceRows {
            snapshot_slots: &[2, 2],
            ..rows(0, 0, &[1, 2], &[0])
        };
        refused(twice, "number of uses of a snapshot slot in one call");
    }

    #[test]
    fn sequences_follow_each_other_and_addresses_stay() {
        let mut batch = batch();
        let address = batch.raw();
        batch.push(&rows(1, 255, &[7, 8], &[3, 2])).unwrap();
        let twice = batch.push(&rows(1, 0, &[7], &[0])).unwrap_err();
        assert_eq!(twice.what, "number of uses of a sequence slot in one call");
        let second = SequenceRows {
            snapshot_slots: &[2],
            ..rows(0, 9, &[9], &[1])
        };
        batch.push(&second).unwrap();
        assert_eq!(batch.check_snapshots(&[2]).unwrap_err().found, 2);
        let third = batch.push(&rows(0, 0, &[7], &[0])).unwrap_err();
        assert_eq!(third.what, "number of sequences already in the call");
        let seqs = batch.seqs.as_slice();
        assert_eq!(
            (seqs[0].first_row, seqs[0].rows, seqs[1].first_row),
            (0, 2, 2)
        );
        assert!(seqs[0].snapshot_slots.is_null() && !seqs[1].snapshot_slots.is_null());
        assert_eq!(batch.tokens.as_slice()[..3], [7, 8, 9]);
        assert_eq!(batch.pages.as_slice()[..3], [3, 2, 1]);
        batch.set_output_rows(&[2, 0]).unwrap();
        assert_eq!((batch.rows(), batch.outputs()), (3, 2));
        assert_eq!(batch.set_output_rows(&[3]).unwrap_err().what, "output row");
        assert_eq!(batch.set_output_rows(&[-1]).unwrap_err().what, "output row");
        assert_eq!(
            batch.set_output_rows(&[0; 5]).unwrap_err().what,
            "number of output rows"
        );
        batch.clear();
        assert_eq!((batch.rows(), batch.outputs()), (0, 0));
        assert_eq!(batch.raw(), address);
    }
}
