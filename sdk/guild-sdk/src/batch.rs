//! A safe view of the batch table: which rows belong to which sequence.
#![allow(unsafe_code)]

use crate::kernel::Failure;
use core::marker::PhantomData;
use guild_abi::abi::{
    GUILD_PAGE_POSITIONS, GUILD_STATE_APPEND, guild_batch, guild_batch_seq, guild_state,
};

/// One sequence's part of a call.
#[derive(Clone, Copy, Debug)]
pub struct Sequence<'a> {
    /// Slot of the sequence in recurrent states.
    pub slot: usize,
    /// First row of the sequence in this call.
    pub first_row: usize,
    /// Rows of the sequence in this call.
    pub rows: usize,
    /// Absolute position of the first row.
    pub position: u64,
    /// Page numbers in append-only states; entry `i` holds positions `256 i` to `256 i + 255`.
    pub pages: &'a [u32],
    /// For each row the slot that takes the recurrent state after it, where snapshots are wanted.
    pub snapshot_slots: Option<&'a [u32]>,
}

/// The batch table of one call, checked: rows without gaps, page and slot numbers inside the states.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    raw: &'a guild_batch,
    memory: PhantomData<&'a [guild_batch_seq]>,
}

// SAFETY: the host doesn't write the table during the call.
unsafe impl Send for Batch<'_> {}
// SAFETY: as above.
unsafe impl Sync for Batch<'_> {}

impl<'a> Batch<'a> {
    /// Sequences in this call.
    #[must_use]
    pub fn len(&self) -> usize {
        self.raw.seq_count as usize
    }

    /// Whether the call has no sequences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows in this call, of all sequences.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.raw.rows as usize
    }

    /// Rows whose logits are wanted.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.raw.outputs as usize
    }

    /// Sequence `index`, in the order of their rows.
    ///
    /// # Panics
    /// When there is no such sequence.
    #[must_use]
    pub fn sequence(&self, index: usize) -> Sequence<'a> {
        assert!(index < self.len(), "sequence {index} of {}", self.len());
        // SAFETY: `new` checked pointer and stride; the host's table has `seq_count` entries.
        let raw = unsafe { &*self.raw.seqs.byte_add(index * self.raw.seq_stride as usize) };
        let (rows, page_count) = (raw.rows as usize, raw.page_count as usize);
        let pages = if raw.pages.is_null() || page_count == 0 {
            &[]
        } else {
            // SAFETY: the host's page table has `page_count` entries, unchanged during the call.
            unsafe { core::slice::from_raw_parts(raw.pages, page_count) }
        };
        let snapshot_slots = (!raw.snapshot_slots.is_null()).then(|| {
            // SAFETY: the host's list has one entry a row, unchanged during the call.
            unsafe { core::slice::from_raw_parts(raw.snapshot_slots, rows) }
        });
        Sequence {
            slot: raw.slot as usize,
            first_row: raw.first_row as usize,
            rows,
            position: raw.position,
            pages,
            snapshot_slots,
        }
    }

    /// All sequences, in the order of their rows.
    pub fn sequences(&self) -> impl Iterator<Item = Sequence<'a>> + use<'a> {
        let batch = *self;
        (0..batch.len()).map(move |index| batch.sequence(index))
    }

    /// Checks the host's table against the call's states.
    ///
    /// # Safety
    /// `raw` is null, or points to a table as `abi.h` says, unchanged during `'a`.
    pub(crate) unsafe fn new<'s>(
        raw: *const guild_batch,
        states: impl Iterator<Item = &'s guild_state> + Clone,
    ) -> Result<Batch<'a>, Failure> {
        // SAFETY: the caller's promise.
        let Some(raw) = (unsafe { raw.as_ref() }) else {
            return Err(Failure::invalid("the call has no batch table"));
        };
        let whole = (raw.size as usize) >= size_of::<guild_batch>()
            && raw.seq_stride >= size_of::<guild_batch_seq>() as u64
            && raw
                .seq_stride
                .is_multiple_of(align_of::<guild_batch_seq>() as u64)
            && raw.seq_stride <= u32::MAX.into()
            && (raw.seq_count == 0 || (!raw.seqs.is_null() && raw.seqs.is_aligned()));
        if !whole {
            return Err(Failure::invalid(
                "the batch table's size or stride is wrong",
            ));
        }
        let batch = Batch {
            raw,
            memory: PhantomData,
        };
        let mut rows = 0;
        for sequence in batch.sequences() {
            if sequence.first_row != rows {
                return Err(Failure::invalid("the batch table's rows have gaps"));
            }
            rows += sequence.rows;
            if !states.clone().all(|state| fits(&sequence, state)) {
                return Err(Failure::invalid(
                    "the batch table names a page or slot that a state doesn't have",
                ));
            }
        }
        if rows as u64 != raw.rows {
            return Err(Failure::invalid(
                "the batch table's sequences don't add up to its rows",
            ));
        }
        Ok(batch)
    }
}

/// Whether a state has the pages or slots that a sequence names.
fn fits(sequence: &Sequence<'_>, state: &guild_state) -> bool {
    let has = |number: &u32| *number < state.count;
    if state.kind == GUILD_STATE_APPEND {
        let positions = sequence.pages.len() as u64 * u64::from(GUILD_PAGE_POSITIONS);
        let end = sequence.position.checked_add(sequence.rows as u64);
        end.is_some_and(|end| end <= positions) && sequence.pages.iter().all(has)
    } else {
        sequence.slot < state.count as usize
            && sequence
                .snapshot_slots
                .is_none_or(|slots| slots.iter().all(has))
    }
}
