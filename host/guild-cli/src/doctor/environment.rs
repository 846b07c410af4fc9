//! Variables: misspelt ones, and those that put foreign code beside verified code.

use super::Check;
use crate::config::Settings;
use crate::output::count;
use serde_json::json;

/// Variables that start like guild's and that nothing reads.
pub fn variables(settings: &Settings) -> Check {
    let unknown = settings.unknown_variables();
    let rows: Vec<_> = unknown
        .iter()
        .map(|variable| json!({ "name": variable.name, "suggestion": variable.suggestion }))
        .collect();
    let details = json!({ "unknown": rows });
    let Some(first) = unknown.first() else {
        return Check::ok("variables", "every GUILD_ variable is known", details);
    };
    let meant = first.suggestion.as_ref();
    let meant = meant.map_or(String::new(), |name| format!("; did you mean {name}?"));
    Check::ok(
        "variables",
        format!("nothing reads {}{meant}", first.name),
        details,
    )
    .warn("it has no effect", format!("unset {}", first.name))
}

/// What makes the system's loader or a driver load other code.
pub fn loader() -> Check {
    let findings = guild_loader::ambient::scan();
    let rows: Vec<_> = findings
        .iter()
        .map(|finding| {
            json!({ "source": finding.source, "value": finding.value, "effect": finding.effect })
        })
        .collect();
    let details = json!({ "findings": rows });
    let Some(first) = findings.first() else {
        return Check::ok("loader", "nothing changes what is loaded", details);
    };
    let is_file = first.source.starts_with('/');
    let fix = match is_file {
        true => format!("sudo mv {0} {0}.off", first.source),
        false => format!("unset {}", first.source),
    };
    Check::ok(
        "loader",
        format!(
            "{}; first: {}",
            count(findings.len(), "finding"),
            first.source
        ),
        details,
    )
    .warn(
        format!("it {}: signatures don't cover that code", first.effect),
        fix,
    )
}
