//! `guild kernel receipt`: why an installed version was accepted.

use crate::args::InstalledArgs;
use crate::commands::kernel_selection::package;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::places::{Places, required_to_read};
use serde_json::json;

/// Prints the receipt's own bytes: their SHA-256 is the one that reports name.
pub fn run(args: &InstalledArgs, places: &Places, output: Output) -> Outcome<()> {
    let (id, version) = package(&args.package)?;
    let found = required_to_read(places, output)?;
    let rows = found.store.list()?;
    let mine = || rows.iter().filter(|row| row.id == id);
    let row = match &version {
        Some(version) => mine().find(|row| row.version == *version),
        None => mine()
            .find(|row| row.enabled)
            .or_else(|| mine().next_back()),
    };
    let Some(row) = row else {
        let message = format!("{} is not in the package store", args.package);
        return Err(Failure::new(Exit::NotFound, message)
            .hint("`guild kernel list` shows what is installed"));
    };
    let package = match &row.package {
        Ok(package) => package,
        Err(error) => {
            let failure = Failure::of_package(error);
            let hint = found.whose.addressed(&failure.hint);
            return Err(failure.hint(hint));
        }
    };
    let receipt = package.receipt()?;
    output.data(String::from_utf8_lossy(&receipt.encode()?))?;
    output.object(json!({
        "id": row.id,
        "version": row.version,
        "receipt_sha256": package.receipt_digest(),
        "receipt": receipt,
        "store": found.whose,
    }))
}
