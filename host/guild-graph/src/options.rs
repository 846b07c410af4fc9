//! What the caller fixes before a plan is made.

use guild_abi::abi::{
    GUILD_CLASS_EXACT, GUILD_CLASS_TOLERANT, GUILD_KIND_BOUNDS, GUILD_PAGE_POSITIONS, guild_bounds,
    guild_hdr,
};
use guild_abi::formats::{GUILD_FORMAT_F16, GUILD_FORMAT_F32};

use crate::error::GraphError;
use crate::limits::{POSITIONS_MAX, ROWS_MAX, SEQUENCES_MAX};

/// The element format of KV pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KvFormat {
    /// IEEE binary16.
    #[default]
    F16,
    /// IEEE binary32.
    F32,
}

impl KvFormat {
    /// The format's `GUILD_FORMAT_*`.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            KvFormat::F16 => GUILD_FORMAT_F16,
            KvFormat::F32 => GUILD_FORMAT_F32,
        }
    }
}

/// The maxima that memory and scratch are sized for, and the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindOptions {
    /// Rows in one call.
    pub max_rows: u64,
    /// Output rows in one call; at most `max_rows`.
    pub max_outputs: u64,
    /// Sequences in one call, and slots of recurrent states.
    pub max_sequences: u64,
    /// Positions of one sequence.
    pub max_positions: u64,
    /// Further slots of recurrent states, to save and restore them.
    pub snapshot_slots: u64,
    /// Format of KV pages that the runner leaves open.
    pub kv_format: KvFormat,
    /// `GUILD_CLASS_*` bits that are accepted.
    pub classes: u32,
    /// Workers of the thread pool, 1 or more.
    pub workers: u32,
}

impl BindOptions {
    /// One sequence in the exact class, F16 pages, no snapshots, one worker; outputs for every row.
    #[must_use]
    pub const fn single_sequence(max_rows: u64, max_positions: u64) -> BindOptions {
        BindOptions {
            max_rows,
            max_outputs: max_rows,
            max_sequences: 1,
            max_positions,
            snapshot_slots: 0,
            kv_format: KvFormat::F16,
            classes: GUILD_CLASS_EXACT,
            workers: 1,
        }
    }

    /// Checks every option against the host's limits.
    pub(crate) fn check(&self) -> Result<(), GraphError> {
        let range = |option, found: u64, most: u64, allowed| {
            if (1..=most).contains(&found) {
                Ok(())
            } else {
                Err(GraphError::Option {
                    option,
                    found,
                    allowed,
                })
            }
        };
        range("max_rows", self.max_rows, ROWS_MAX, "1 to 1048576")?;
        range(
            "max_outputs",
            self.max_outputs,
            self.max_rows,
            "1 to max_rows",
        )?;
        range(
            "max_sequences",
            self.max_sequences,
            SEQUENCES_MAX,
            "1 to 4096",
        )?;
        range(
            "max_positions",
            self.max_positions,
            POSITIONS_MAX,
            "1 to 16777216",
        )?;
        range(
            "snapshot_slots",
            self.snapshot_slots.saturating_add(1),
            SEQUENCES_MAX,
            "0 to 4095",
        )?;
        range("workers", self.workers.into(), 1 << 16, "1 to 65536")?;
        let known = GUILD_CLASS_EXACT | GUILD_CLASS_TOLERANT;
        range(
            "classes",
            self.classes.into(),
            known.into(),
            "exact (1), tolerant (2) or both (3)",
        )
    }

    /// Pages that one sequence may have.
    #[must_use]
    pub const fn pages_per_sequence(&self) -> u64 {
        self.max_positions.div_ceil(GUILD_PAGE_POSITIONS as u64)
    }

    /// Pages in each append-only state.
    #[must_use]
    pub const fn pages(&self) -> u64 {
        self.max_sequences * self.pages_per_sequence()
    }

    /// Slots in each recurrent state: one a sequence, then the snapshot slots.
    #[must_use]
    pub const fn slots(&self) -> u64 {
        self.max_sequences + self.snapshot_slots
    }

    /// The maxima in the ABI's terms.
    pub(crate) fn bounds(&self) -> guild_bounds {
        guild_bounds {
            h: guild_hdr::new(size_of::<guild_bounds>(), GUILD_KIND_BOUNDS),
            max_rows: self.max_rows,
            max_outputs: self.max_outputs,
            max_sequences: self.max_sequences,
            max_positions: self.max_positions,
            workers: self.workers,
            reserved0: 0,
            reserved: [0; 3],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_its_range() {
        let good = BindOptions::single_sequence(8, 300);
        assert!(good.check().is_ok());
        assert_eq!((good.pages(), good.slots()), (2, 1));
        let bad = [
            BindOptions {
                max_rows: 0,
                ..good
            },
            BindOptions {
                max_outputs: 9,
                ..good
            },
            BindOptions {
                max_sequences: 0,
                ..good
            },
            BindOptions {
                max_positions: 1 << 25,
                ..good
            },
            BindOptions {
                snapshot_slots: 4096,
                ..good
            },
            BindOptions { workers: 0, ..good },
            BindOptions { classes: 4, ..good },
        ];
        for options in bad {
            let error = options.check().expect_err("the option must be refused");
            assert_eq!(error.code(), crate::ErrorCode::Usage, "{error}");
        }
    }
}
