//! `guild kernel trust policy`: says what packages below a prefix need beyond one good signature.

use crate::args::TrustPolicyArgs;
use crate::commands::parsed;
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, open_store};
use guild_package::trust::Policy;
use serde_json::json;

/// Puts the policy in force, and names what no longer loads.
pub fn run(args: &TrustPolicyArgs, places: &Places, output: Output) -> Outcome<()> {
    let policy = Policy {
        prefix: parsed("PREFIX", &args.prefix)?,
        publish: args.publishers,
        reviewer: args.reviewers,
        distinct_operators: args.distinct_operators,
        strict_ambient: args.strict_ambient,
        // Nothing compiles PTX at load yet.
        allow_ptx_jit: false,
    };
    let set = open_store(places)?.trust_policy(policy.clone())?;
    output.say(format!(
        "Packages of {} need {} publishers and {} reviewers",
        policy.prefix, policy.publish, policy.reviewer
    ));
    for pin in &set.stopped {
        output.say(format!("{pin} no longer loads"));
    }
    output.data(policy.prefix.to_string())?;
    output.object(json!({
        "policy": policy,
        "stopped": set.stopped,
        "generation": set.generation,
    }))
}
