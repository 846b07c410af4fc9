//! `guild kernel rotate-key`: signs, with both keys, that one follows the other.

use crate::args::RotateKeyArgs;
use crate::commands::{kernel_seed, parsed};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use guild_package::KeyRecord;
use guild_package::name::ScopePrefix;
use guild_package::rotation::{RotationBody, write_rotation};
use guild_package::trust::RightLeft;
use guild_package::verify::system_time_s;
use serde_json::json;

/// Writes the rotation.
pub fn run(args: &RotateKeyArgs, output: Output) -> Outcome<()> {
    let to = KeyRecord::read(&args.new_public)?;
    let scopes = args.scope.iter().map(|scope| parsed("--scope", scope));
    let mut scopes: Vec<ScopePrefix> = scopes.collect::<Outcome<_>>()?;
    scopes.sort();
    scopes.dedup();
    let old_seed = kernel_seed::open(&args.seed)?;
    let new_seed = kernel_seed::read(&args.new_seed_file, args.new_passphrase_file.as_deref())?;
    let from = old_seed.check_id(&args.seed.key_id)?;
    if from == to.id {
        let message = format!("{from} can't follow itself");
        return Err(Failure::new(Exit::Usage, message).hint(
            "give the record and the seed of the new key with --new-public and --new-seed-file",
        ));
    }
    let body = RotationBody {
        schema: 1,
        from,
        to,
        scopes,
        rights_left: match args.leave_nothing {
            true => Vec::new(),
            false => vec![RightLeft::VerifyInstalled],
        },
        issued_at: system_time_s(),
    };
    write_rotation(&args.out, &body, &old_seed, &new_seed)?;
    output.say(format!("{} follows {}", body.to.id, body.from));
    output.say(format!("Rotation {}", args.out.display()));
    output.say(format!(
        "It retires {} whole, also for scopes that it doesn't name.",
        body.from
    ));
    output.say(format!(
        "It is taken only where the old key is held by the new one's operator, {}.",
        body.to.operator
    ));
    output.say("Whoever trusts the old key takes it with `guild kernel trust rotate`.");
    output.data(body.to.id.to_string())?;
    output.object(json!({
        "from": body.from,
        "to": body.to.id,
        "scopes": body.scopes,
        "rights_left": body.rights_left,
        "rotation": args.out,
    }))
}
