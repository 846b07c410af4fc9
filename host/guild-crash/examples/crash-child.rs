//! Runs one operation on a store, and says `done`. The tests make it fail at a boundary.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;

use guild_crash::{Operation, Workshop};
use guild_package::{Store, StoreOptions};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workshop, store, operation] = arguments.as_slice() else {
        eprintln!("arguments: WORKSHOP STORE OPERATION");
        return ExitCode::from(2);
    };
    match run(Path::new(workshop), Path::new(store), operation) {
        Ok(()) => {
            println!("done");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

fn run(workshop: &Path, store: &Path, operation: &str) -> Result<(), Box<dyn std::error::Error>> {
    let operation = Operation::named(operation).ok_or("no such operation")?;
    let workshop = Workshop::at(workshop)?;
    let store = Store::open(store, StoreOptions::default())?;
    Ok(operation.run_on(&workshop, &store)?)
}
