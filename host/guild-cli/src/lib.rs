//! The guild command as a library: argument structs, one file per command, and the wiring that joins
//! store, loader, model, graph and engine. The binary is a few lines around [`run`].
#![deny(unsafe_code)]

pub mod args;
pub mod audit;
pub mod commands;
pub mod config;
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
pub mod places;
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
use places::{Places, Whose};

/// Runs one command and returns how it ended; everything is printed by then. `help` says where its options are explained.
pub fn run(cli: &Cli, settings: &Settings, help: &str) -> Exit {
    memory::process::resident_at_start_bytes();
    let output = Output::of(&cli.global);
    let ended = log::start(&cli.global).and_then(|()| {
        warn_of_unknown_variables(settings);
        dispatch(cli, settings, output)
    });
    match ended {
        Ok(()) => Exit::Ok,
        Err(mut failure) => {
            let places = Places::of(&cli.global);
            // Whoever works on the machine's store goes on there.
            failure.hint = Whose::of_changed(&places).addressed(&failure.hint);
            if failure.exit == Exit::Usage && failure.hint.is_empty() {
                help.clone_into(&mut failure.hint);
            }
            output.failure(&failure);
            audit::record(&cli.command, &places, &failure);
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
    let places = &Places::of(&cli.global);
    match &cli.command {
        Command::Run(args) => commands::run::run(args, places, output),
        Command::Logits(args) => commands::logits::run(args, places, output),
        Command::Bench(args) => commands::bench::run(args, places, output),
        Command::Perplexity(args) => commands::perplexity::run(args, places, output),
        Command::Inspect(args) => commands::inspect::run(args, output),
        Command::Template(args) => commands::template::run(args, output),
        Command::Tokenize(args) => commands::tokenize::run(args, output),
        Command::Plan(args) => commands::plan::run(args, places, output),
        Command::Doctor => commands::doctor::run(places, settings, output),
        Command::Config(ConfigCommand::Show) => commands::config_show::run(settings, output),
        Command::Completions(args) => commands::completions::run(args, output),
        Command::Man(args) => commands::man::run(args, output),
        Command::Kernel(command) => kernel(command, places, settings, output),
    }
}

fn kernel(
    command: &KernelCommand,
    places: &Places,
    settings: &Settings,
    output: Output,
) -> Outcome<()> {
    match command {
        KernelCommand::Doctor => commands::doctor::run_for_packages(places, settings, output),
        KernelCommand::Keygen(args) => commands::kernel_keygen::run(args, output),
        KernelCommand::Sign(args) => commands::kernel_sign::run(args, output),
        KernelCommand::Countersign(args) => commands::kernel_countersign::run(args, places, output),
        KernelCommand::RotateKey(args) => commands::kernel_rotate_key::run(args, output),
        KernelCommand::Advisory(args) => commands::kernel_advisory::run(args, output),
        KernelCommand::Cosign(args) => commands::kernel_cosign::run(args, output),
        KernelCommand::Verify(args) => commands::kernel_verify::run(args, places, output),
        KernelCommand::Install(args) => commands::kernel_install::run(args, places, output),
        KernelCommand::Enable(args) => commands::kernel_enable::run(args, places, output),
        KernelCommand::Disable(args) => commands::kernel_disable::run(args, places, output),
        KernelCommand::Rollback(args) => commands::kernel_rollback::run(args, places, output),
        KernelCommand::Remove(args) => commands::kernel_remove::run(args, places, output),
        KernelCommand::Receipt(args) => commands::kernel_receipt::run(args, places, output),
        KernelCommand::Floor(args) => commands::kernel_floor::run(args, places, output),
        KernelCommand::Outdated(args) => commands::kernel_outdated::run(args, places, output),
        KernelCommand::Fsck => commands::kernel_fsck::run(places, output),
        KernelCommand::Selftest(args) => commands::kernel_selftest::run(args, output),
        KernelCommand::Gc => commands::kernel_gc::run(places, output),
        KernelCommand::Log(args) => commands::kernel_log::run(args, places, output),
        KernelCommand::Audit(args) => commands::kernel_audit::run(args, places, output),
        KernelCommand::List(args) => commands::kernel_list::run(args, places, output),
        KernelCommand::Active => commands::kernel_active::run(places, output),
        KernelCommand::Trust(command) => trust(command, places, output),
    }
}

fn trust(command: &TrustCommand, places: &Places, output: Output) -> Outcome<()> {
    match command {
        TrustCommand::Add(args) => commands::kernel_trust_add::run(args, places, output),
        TrustCommand::List => commands::kernel_trust_list::run(places, output),
        TrustCommand::Show(args) => commands::kernel_trust_show::run(args, places, output),
        TrustCommand::Rotate(args) => commands::kernel_trust_rotate::run(args, places, output),
        TrustCommand::Policy(args) => commands::kernel_trust_policy::run(args, places, output),
        TrustCommand::Revoke(args) => commands::kernel_trust_revoke::run(args, places, output),
        TrustCommand::Advisory(args) => commands::kernel_trust_advisory::run(args, places, output),
    }
}
