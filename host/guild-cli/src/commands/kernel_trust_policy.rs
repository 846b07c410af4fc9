//! `guild kernel trust policy`: shows or says what packages below a prefix need beyond one good signature.

use crate::args::TrustPolicyArgs;
use crate::commands::{kernel_stopped, parsed};
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, Whose, open_store, read_store};
use guild_package::Store;
use guild_package::name::ScopePrefix;
use guild_package::store::PolicySet;
use guild_package::trust::Policy;
use serde_json::json;

/// Puts the policy in force, and names what no longer loads. Without an option it shows the one in force.
pub fn run(args: &TrustPolicyArgs, places: &Places, output: Output) -> Outcome<()> {
    let prefix: ScopePrefix = parsed("PREFIX", &args.prefix)?;
    let is_asked = args.publishers.is_none()
        && args.reviewers.is_none()
        && args.distinct_operators.is_none()
        && args.strict_ambient.is_none();
    let (store, whose) = match is_asked {
        true => {
            let found = read_store(places, output)?;
            found.map_or((None, None), |it| (Some(it.store), Some(it.whose)))
        }
        false => (Some(open_store(places)?), Some(Whose::of_changed(places))),
    };
    let trust = store.as_ref().map(Store::trust).transpose()?;
    let policies = trust.as_ref().map_or(&[][..], |trust| &trust.body().policy);
    let before = policies.iter().find(|policy| policy.prefix == prefix);
    let policy = Policy {
        publish: args.publishers.or(before.map(|it| it.publish)).unwrap_or(1),
        reviewer: args.reviewers.or(before.map(|it| it.reviewer)).unwrap_or(0),
        distinct_operators: args
            .distinct_operators
            .or(before.map(|it| it.distinct_operators))
            .unwrap_or(false),
        strict_ambient: args
            .strict_ambient
            .or(before.map(|it| it.strict_ambient))
            .unwrap_or(false),
        // Nothing compiles PTX at load yet.
        allow_ptx_jit: false,
        prefix,
    };
    let set = match store.filter(|_| !is_asked) {
        Some(store) => Some(store.trust_policy(policy.clone())?),
        None => None,
    };
    if let Some(before) = before.filter(|before| **before != policy) {
        output.say(format!("before: {before}"));
    }
    output.data(policy.to_string())?;
    let stopped = set.as_ref().map_or(&[][..], |set: &PolicySet| &set.stopped);
    kernel_stopped::say(stopped, false, output);
    output.object(json!({
        "policy": policy,
        "before": before,
        "stopped": stopped,
        "store": whose,
        "generation": set.as_ref().map(|set| set.generation),
    }))
}
