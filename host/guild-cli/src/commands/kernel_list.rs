//! `guild kernel list`: shows the installed packages and whether each would load.

use crate::args::ListArgs;
use crate::commands::{kernel_countersigners, parsed};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::places::{Places, Whose, read_store};
use guild_loader::refused_by_surroundings;
use guild_package::verify::{Recorded, Signer};
use guild_package::{InstalledPackage, ListedPackage, PackageId};
use serde_json::{Value, json};

/// A version and what loading it now would say. Libraries are hashed when they are loaded, not here.
struct Row {
    listed: ListedPackage,
    refusal: Option<Failure>,
}

/// Prints one line a version: `*` marks the enabled one, `!` one that would fail to load now. Of one package that is
/// named, everything that is known is shown.
pub fn run(args: &ListArgs, places: &Places, output: Output) -> Outcome<()> {
    let id = args.id.as_deref().map(|id| parsed("ID", id)).transpose()?;
    let found = read_store(places, output)?;
    let mut packages = match &found {
        Some(found) => found.store.list()?,
        None => Vec::new(),
    };
    packages.retain(|package| id.as_ref().is_none_or(|id| *id == package.id));
    let whose = found.map(|found| found.whose);
    if whose == Some(Whose::OnlyTheMachine) {
        packages.iter_mut().for_each(|package| package.below = true);
    }
    let rows: Vec<Row> = packages.into_iter().map(Row::of).collect();
    for row in &rows {
        output.data(row.line())?;
        if id.is_some() {
            row.details()
                .into_iter()
                .try_for_each(|line| output.data(format!("   {line}")))?;
        }
    }
    say(&rows, id.as_ref(), output)?;
    let rows: Vec<Value> = rows.iter().map(Row::object).collect();
    output.object(json!({ "packages": rows, "store": whose }))
}

/// What the marks mean, or that there is nothing.
fn say(rows: &[Row], id: Option<&PackageId>, output: Output) -> Outcome<()> {
    if let (Some(id), []) = (id, rows) {
        let message = format!("{id} is not in the package store");
        return Err(Failure::new(Exit::NotFound, message)
            .hint("`guild kernel list` shows what is installed"));
    }
    if rows.is_empty() {
        output.say("No package is installed. `guild kernel install` installs one.");
    }
    if rows.iter().any(|row| row.refusal.is_some()) {
        output.say("`*` is enabled, `!` would fail to load now.");
    }
    Ok(())
}

impl Row {
    fn of(listed: ListedPackage) -> Row {
        let refusal = match &listed.package {
            Ok(package) => refusal(package),
            Err(error) => Some(Failure::of_package(error)),
        };
        Row { listed, refusal }
    }

    fn line(&self) -> String {
        let listed = &self.listed;
        let enabled = if listed.enabled { '*' } else { ' ' };
        let (mark, detail) = match &self.refusal {
            Some(refusal) => ('!', format!("{}. {}", refusal.message, refusal.hint)),
            None => (' ', self.signer_labels().join(", ")),
        };
        let mut line = format!("{enabled}{mark} {} {}\t{detail}", listed.id, listed.version);
        for (holds, words) in [
            (listed.below, "the machine's"),
            (listed.held_back, "held back"),
            (listed.is_below_floor(), "below its floor"),
        ] {
            if holds {
                line.push('\t');
                line.push_str(words);
            }
        }
        line
    }

    /// Who signed it, and what else is known.
    fn details(&self) -> Vec<String> {
        let listed = &self.listed;
        let mut lines = vec![
            format!("installed by generation {}", listed.installed_gen),
            format!("manifest  {}", listed.manifest_sha256),
        ];
        let epoch = listed.recorded.security_epoch;
        lines.extend(epoch.map(|epoch| format!("epoch     {epoch}")));
        let (signers, countersigners) = match &listed.package {
            Ok(package) => (package.signers(), package.countersigners()),
            Err(_) => {
                let Recorded {
                    signers,
                    countersigners,
                    ..
                } = &listed.recorded;
                if !signers.is_empty() {
                    lines.push(
                        "good signatures of known keys, whether or not they count:".to_owned(),
                    );
                }
                (&signers[..], &countersigners[..])
            }
        };
        lines.extend(signers.iter().map(|signer| {
            format!(
                "signer    {} {signer}, held by {}",
                signer.key, signer.operator
            )
        }));
        lines.extend(kernel_countersigners::lines(countersigners));
        lines
    }

    fn object(&self) -> Value {
        let listed = &self.listed;
        let state = match (&self.refusal, listed.enabled) {
            (Some(_), _) => "broken",
            (None, true) => "enabled",
            (None, false) => "installed",
        };
        let mut row = json!({
            "id": listed.id,
            "version": listed.version,
            "state": state,
            "enabled": listed.enabled,
            "store": if listed.below { "machine" } else { "own" },
            "installed_generation": listed.installed_gen,
            "held_back": listed.held_back,
            "floor": listed.floor,
            "manifest_sha256": listed.manifest_sha256,
            "recorded": {
                "security_epoch": listed.recorded.security_epoch,
                "signers": listed.recorded.signers.iter().map(kernel_countersigners::signer).collect::<Vec<_>>(),
                "countersigners": kernel_countersigners::rows(&listed.recorded.countersigners),
            },
        });
        match (&self.refusal, &listed.package) {
            (Some(refusal), _) => {
                row["code"] = json!(refusal.exit.name());
                row["message"] = json!(refusal.message);
                row["hint"] = json!(refusal.hint);
            }
            (None, Ok(package)) => {
                let countersigners = kernel_countersigners::rows(package.countersigners());
                row["security_epoch"] = json!(package.manifest().security_epoch);
                row["signers"] = json!(self.signer_labels());
                row["countersigners"] = json!(countersigners);
            }
            (None, Err(_)) => {}
        }
        row
    }

    fn signer_labels(&self) -> Vec<String> {
        let package = self.listed.package.as_ref();
        let signers = package.map_or(&[][..], InstalledPackage::signers);
        signers.iter().map(Signer::to_string).collect()
    }
}

/// Why a package that verifies would not load.
fn refusal(package: &InstalledPackage) -> Option<Failure> {
    let refused = package.check_loadable().err();
    let refused = refused.map(Failure::from);
    refused.or_else(|| refused_by_surroundings(package).map(Failure::from))
}
