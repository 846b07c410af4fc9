//! `guild kernel advisory`: signs that keys are withdrawn and floors rise, for others to take.

use crate::args::AdvisoryArgs;
use crate::commands::{kernel_seed, parsed};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use guild_package::KeyId;
use guild_package::advisory::{
    AdvisoryBody, FloorLine, WithdrawalLine, WithdrawnAs, write_advisory,
};
use guild_package::limits::{ADVISORY_LIST_MAX, EPOCH_RISE_MAX};
use guild_package::text::{PlainText, escape};
use guild_package::verify::system_time_s;
use serde_json::json;
use std::fmt::Display;
use std::num::NonZeroU64;

/// Writes the advisory.
pub fn run(args: &AdvisoryArgs, output: Output) -> Outcome<()> {
    let reason: PlainText = parsed("--reason", &args.reason)?;
    if reason.as_str().is_empty() {
        return Err(Failure::new(Exit::Usage, "--reason: it is empty")
            .hint("say why: it is shown where the advisory is taken"));
    }
    let lists = [
        args.superseded.len() + args.compromised.len(),
        args.floor.len(),
    ];
    if lists.iter().any(|lines| *lines > ADVISORY_LIST_MAX) {
        let message = format!(
            "an advisory has {ADVISORY_LIST_MAX} keys and {ADVISORY_LIST_MAX} floors at most"
        );
        return Err(Failure::new(Exit::Usage, message).hint("sign several"));
    }
    let seed = kernel_seed::open(&args.seed)?;
    let signer = seed.check_id(&args.seed.key_id)?;
    let body = AdvisoryBody {
        schema: 1,
        withdrawals: withdrawals(args, signer, &reason)?,
        floors: floors(&args.floor, &reason)?,
        issued_at: system_time_s(),
    };
    write_advisory(&args.out, &body, &[&seed])?;
    for line in &body.withdrawals {
        output.say(format!("Withdraws {} where it is taken", line.key));
    }
    for line in &body.floors {
        say_floor(line, output);
    }
    output.say(format!("Advisory {}", args.out.display()));
    output.say("Whoever trusts the key takes it with `guild kernel trust advisory`.");
    output.data(signer.to_string())?;
    output.object(json!({
        "signer": signer,
        "withdrawals": body.withdrawals,
        "floors": body.floors,
        "advisory": args.out,
    }))
}

fn say_floor(line: &FloorLine, output: Output) {
    let (id, epoch) = (&line.id, line.security_epoch);
    output.say(format!(
        "Raises the floor of {id} to {epoch} where it is taken"
    ));
    if let Some(least) = epoch.checked_sub(EPOCH_RISE_MAX).filter(|least| *least > 0) {
        output.say(format!(
            "Where the floor of {id} is below {least} the whole advisory is refused: no advisory raises one by more than {EPOCH_RISE_MAX}"
        ));
    }
}

fn withdrawals(
    args: &AdvisoryArgs,
    signer: KeyId,
    reason: &PlainText,
) -> Outcome<Vec<WithdrawalLine>> {
    let line = |option: &str, text: &String, status: WithdrawnAs| {
        let key = match signer.matches(text) {
            true => signer,
            false => parsed(option, text)?,
        };
        let reason = reason.clone();
        Ok(WithdrawalLine {
            key,
            status,
            reason,
        })
    };
    let superseded = args.superseded.iter();
    let superseded = superseded.map(|key| line("--superseded", key, WithdrawnAs::Superseded));
    let compromised = args.compromised.iter();
    let compromised = compromised.map(|key| line("--compromised", key, WithdrawnAs::Compromised));
    let mut lines: Vec<WithdrawalLine> = superseded.chain(compromised).collect::<Outcome<_>>()?;
    lines.sort_by_key(|line| line.key);
    match lines.windows(2).find(|pair| pair[0].key == pair[1].key) {
        Some(pair) => Err(twice(&pair[0].key)),
        None => Ok(lines),
    }
}

fn floors(texts: &[String], reason: &PlainText) -> Outcome<Vec<FloorLine>> {
    let line = |text: &String| {
        let parts = text.split_once('=');
        let parts = parts.and_then(|(id, epoch)| Some((id, epoch.parse::<NonZeroU64>().ok()?)));
        let (id, security_epoch) = parts.ok_or_else(|| {
            let message = format!(
                "--floor: `{}` is not ID=EPOCH with an epoch of 1 or more",
                escape(text)
            );
            Failure::new(Exit::Usage, message)
        })?;
        Ok(FloorLine {
            id: parsed("--floor", id)?,
            security_epoch: security_epoch.get(),
            reason: reason.clone(),
        })
    };
    let mut lines: Vec<FloorLine> = texts.iter().map(line).collect::<Outcome<_>>()?;
    lines.sort_by(|a, b| a.id.cmp(&b.id));
    match lines.windows(2).find(|pair| pair[0].id == pair[1].id) {
        Some(pair) => Err(twice(&pair[0].id)),
        None => Ok(lines),
    }
}

fn twice(name: &impl Display) -> Failure {
    Failure::new(Exit::Usage, format!("{name} is named twice")).hint("name each once")
}
