//! One file per command; each has a `run` that the dispatcher calls.

pub mod bench;
pub mod completions;
pub mod config_show;
pub mod doctor;
pub mod inspect;
pub mod kernel_active;
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
mod kernel_selection;
pub mod kernel_sign;
pub mod kernel_trust_add;
pub mod kernel_trust_list;
pub mod kernel_trust_revoke;
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
use guild_package::PackageId;

/// A package id from the command line.
fn package_id(text: Option<&str>) -> Outcome<Option<PackageId>> {
    text.map(|text| {
        text.parse()
            .map_err(|invalid: guild_package::text::Invalid| {
                Failure::new(Exit::Usage, format!("--id: {invalid}"))
            })
    })
    .transpose()
}
