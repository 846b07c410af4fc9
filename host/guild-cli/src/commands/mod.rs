//! One file per command; each has a `run` that the dispatcher calls.

pub mod bench;
pub mod completions;
pub mod config_show;
pub mod doctor;
pub mod inspect;
pub mod kernel_active;
pub mod kernel_advisory;
pub mod kernel_audit;
pub mod kernel_cosign;
pub mod kernel_countersign;
mod kernel_countersigners;
pub mod kernel_disable;
pub mod kernel_enable;
pub mod kernel_floor;
pub mod kernel_fsck;
pub mod kernel_gc;
pub mod kernel_install;
pub mod kernel_keygen;
pub mod kernel_list;
pub mod kernel_log;
pub mod kernel_outdated;
pub mod kernel_receipt;
pub mod kernel_remove;
pub mod kernel_rollback;
pub mod kernel_rotate_key;
mod kernel_seed;
mod kernel_selection;
pub mod kernel_selftest;
pub mod kernel_sign;
mod kernel_stopped;
pub mod kernel_trust_add;
pub mod kernel_trust_advisory;
pub mod kernel_trust_list;
pub mod kernel_trust_policy;
pub mod kernel_trust_revoke;
pub mod kernel_trust_rotate;
pub mod kernel_trust_show;
pub mod kernel_verify;
pub mod logits;
pub mod man;
pub mod perplexity;
pub mod plan;
pub mod run;
pub mod template;
pub mod tokenize;

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use guild_package::text::Invalid;
use std::str::FromStr;

/// Seconds in a day.
const DAY_S: u64 = 24 * 60 * 60;

/// A value that has its own rules, from the option of that name.
fn parsed<T: FromStr<Err = Invalid>>(option: &str, text: &str) -> Outcome<T> {
    text.parse()
        .map_err(|invalid| Failure::new(Exit::Usage, format!("{option}: {invalid}")))
}
