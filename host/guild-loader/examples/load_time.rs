//! How long a session's start takes for its packages: signatures, digests, preflight and mapping. One measurement a
//! process, since equal bytes are mapped once. `load_time STORE`, where STORE is the `kernels` folder of a data folder.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use guild_loader::{LoadOptions, load_enabled};
use guild_package::{Store, StoreOptions};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: load_time STORE");
        return ExitCode::from(2);
    };
    match measure(Path::new(&path)) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(path: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let options = StoreOptions {
        create: false,
        ..StoreOptions::default()
    };
    let start = Instant::now();
    let store = Store::open(path, options)?;
    let options = LoadOptions {
        allow_reference: true,
        ..LoadOptions::default()
    };
    let loaded = load_enabled(&store, "load_time", &options)?;
    let took_ms = start.elapsed().as_secs_f64() * 1e3;
    let packages = loaded.registry().packages().count();
    Ok(format!("{packages} packages in {took_ms:.1} ms"))
}
