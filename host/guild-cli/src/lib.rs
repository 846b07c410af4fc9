//! The guild command as a library: argument structs, one file per command, and the wiring that joins
//! store, loader, model, graph and engine. The binary is a few lines around [`run`].
#![deny(unsafe_code)]

pub mod args;
pub mod commands;
pub mod config;
pub mod data_dir;
pub mod doctor;
pub mod exit;
pub mod failure;
pub mod input;
pub mod interrupt;
pub mod log;
pub mod measure;
pub mod memory;
pub mod npy;
pub mod output;
pub mod progress;
pub mod reference;
pub mod start;
pub mod state_dir;
pub mod system;
pub mod version;
pub mod wiring;

use args::{Cli, Command, ConfigCommand, KernelCommand, TrustCommand};
use config::Settings;
use exit::Exit;
use failure::Outcome;
use output::Output;
use std::path::Path;

/// Runs one command and returns how it ended; everything is printed by then.
pub fn run(cli: &Cli, settings: &Settings) -> Exit {
    memory::process::resident_at_start_bytes();
    let output = Output::of(&cli.global);
    let ended = log::start(&cli.global).and_then(|()| {
        warn_of_unknown_variables(settings);
        dispatch(cli, settings, output)
    });
    match ended {
        Ok(()) => Exit::Ok,
        Err(failure) => {
            output.failure(&failure);
            failure.exit
        }
    }
}

/// A misspelt variable would have no effect, and nobody would know.
fn warn_of_unknown_variables(settings: &Settings) {
    for variable in settings.unknown_variables() {
        let meant = variable
            .suggestion
            .map(|name| format!("; did you mean {name}?"));
        tracing::warn!(
            "nothing reads the variable {}{}",
            variable.name,
            meant.unwrap_or_default()
        );
    }
}

fn dispatch(cli: &Cli, settings: &Settings, output: Output) -> Outcome<()> {
    let data_dir = cli.global.data_dir.as_deref();
    match &cli.command {
        Command::Run(args) => commands::run::run(args, data_dir, output),
        Command::Logits(args) => commands::logits::run(args, data_dir, output),
        Command::Bench(args) => commands::bench::run(args, data_dir, output),
        Command::Perplexity(args) => commands::perplexity::run(args, data_dir, output),
        Command::Inspect(args) => commands::inspect::run(args, output),
        Command::Template(args) => commands::template::run(args, output),
        Command::Tokenize(args) => commands::tokenize::run(args, output),
        Command::Plan(args) => commands::plan::run(args, data_dir, output),
        Command::Doctor => commands::doctor::run(data_dir, settings, output),
        Command::Config(ConfigCommand::Show) => commands::config_show::run(settings, output),
        Command::Completions(args) => commands::completions::run(args, output),
        Command::Man(args) => commands::man::run(args, output),
        Command::Kernel(command) => kernel(command, data_dir, output),
    }
}

fn kernel(command: &KernelCommand, data_dir: Option<&Path>, output: Output) -> Outcome<()> {
    match command {
        KernelCommand::Keygen(args) => commands::kernel_keygen::run(args, output),
        KernelCommand::Sign(args) => commands::kernel_sign::run(args, output),
        KernelCommand::Countersign(args) => {
            commands::kernel_countersign::run(args, data_dir, output)
        }
        KernelCommand::RotateKey(args) => commands::kernel_rotate_key::run(args, output),
        KernelCommand::Cosign(args) => commands::kernel_cosign::run(args, output),
        KernelCommand::Verify(args) => commands::kernel_verify::run(args, data_dir, output),
        KernelCommand::Install(args) => commands::kernel_install::run(args, data_dir, output),
        KernelCommand::Enable(args) => commands::kernel_enable::run(args, data_dir, output),
        KernelCommand::Disable(args) => commands::kernel_disable::run(args, data_dir, output),
        KernelCommand::Rollback(args) => commands::kernel_rollback::run(args, data_dir, output),
        KernelCommand::Remove(args) => commands::kernel_remove::run(args, data_dir, output),
        KernelCommand::Receipt(args) => commands::kernel_receipt::run(args, data_dir, output),
        KernelCommand::Floor(args) => commands::kernel_floor::run(args, data_dir, output),
        KernelCommand::Outdated(args) => commands::kernel_outdated::run(args, data_dir, output),
        KernelCommand::Fsck => commands::kernel_fsck::run(data_dir, output),
        KernelCommand::Selftest(args) => commands::kernel_selftest::run(args, output),
        KernelCommand::Gc => commands::kernel_gc::run(data_dir, output),
        KernelCommand::Log(args) => commands::kernel_log::run(args, data_dir, output),
        KernelCommand::List => commands::kernel_list::run(data_dir, output),
        KernelCommand::Active => commands::kernel_active::run(data_dir, output),
        KernelCommand::Trust(command) => trust(command, data_dir, output),
    }
}

fn trust(command: &TrustCommand, data_dir: Option<&Path>, output: Output) -> Outcome<()> {
    match command {
        TrustCommand::Add(args) => commands::kernel_trust_add::run(args, data_dir, output),
        TrustCommand::List => commands::kernel_trust_list::run(data_dir, output),
        TrustCommand::Show(args) => commands::kernel_trust_show::run(args, data_dir, output),
        TrustCommand::Rotate(args) => commands::kernel_trust_rotate::run(args, data_dir, output),
        TrustCommand::Policy(args) => commands::kernel_trust_policy::run(args, data_dir, output),
        TrustCommand::Revoke(args) => commands::kernel_trust_revoke::run(args, data_dir, output),
    }
}
