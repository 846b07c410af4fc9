//! `guild kernel trust show`: one trusted key, for comparing it with what its holder shows.

use crate::args::TrustShowArgs;
use crate::failure::Outcome;
use crate::output::Output;
use crate::places::{Places, required_to_read};
use guild_package::key::test_mark;
use guild_package::store::generation::Pin;
use guild_package::text::Time;
use guild_package::trust::{KeyStatus, TrustedKey};
use guild_package::{KeyId, ListedPackage};
use serde_json::{Value, json};
use std::fmt;

/// Digits of a fingerprint that stand together.
const GROUP: usize = 4;

/// Shows the key, its fingerprint in groups and in words, its scopes and the packages that stand on it.
pub fn run(args: &TrustShowArgs, places: &Places, output: Output) -> Outcome<()> {
    let found = required_to_read(places, output)?;
    let store = &found.store;
    let trust = store.trust()?;
    let id = trust.find(&args.key)?;
    let key = trust.key(&id).expect("a key that was found");
    let packages = standing_on(&id, &store.list()?);
    lines(key, &packages)
        .into_iter()
        .try_for_each(|line| output.data(line))?;
    let mut answer = json!({
        "key": key,
        "words": id.words(),
        "packages": names(&packages, |_| true),
        "broken": names(&packages, |standing| standing.is_broken),
        "store": found.whose,
    });
    answer["key"]["id"] = json!(id);
    output.object(answer)
}

/// An installed version with a good signature by a key, whether or not that counts.
pub(super) struct Standing {
    package: Pin,
    /// Whether it fails to verify today.
    pub(super) is_broken: bool,
}

/// The installed versions whose release the key signed or speaks of. One that fails today, perhaps since this key is
/// withdrawn, is among them.
pub(super) fn standing_on(id: &KeyId, listed: &[ListedPackage]) -> Vec<Standing> {
    let stands = |row: &&ListedPackage| {
        let vouch = row.recorded.countersigners.iter().map(|it| &it.signer);
        let mut signers = row.recorded.signers.iter().chain(vouch);
        signers.any(|signer| signer.key == *id)
    };
    let rows = listed.iter().filter(stands);
    rows.map(|row| Standing {
        package: Pin::new(&row.id, &row.version),
        is_broken: row.package.is_err(),
    })
    .collect()
}

/// Those that `wanted` picks, for scripts.
pub(super) fn names(packages: &[Standing], wanted: impl Fn(&Standing) -> bool) -> Value {
    let packages = packages.iter().filter(|it| wanted(it));
    packages.map(|it| json!(it.package)).collect()
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_broken { " (broken)" } else { "" };
        write!(f, "{}{mark}", self.package)
    }
}

fn lines(key: &TrustedKey, packages: &[Standing]) -> Vec<String> {
    let id = key.id.to_string();
    let digits = id.trim_start_matches("gk1-").as_bytes();
    let groups: Vec<_> = digits.chunks(GROUP).map(String::from_utf8_lossy).collect();
    let test = test_mark(key.test_identity);
    let mut lines = vec![
        format!("{}{test}, held by {}", key.label, key.operator),
        format!("id      {id}"),
        format!("digits  {}", groups.join(" ")),
        format!("words   {}", key.id.words()),
        format!("status  {}{}", status(key), until(key)),
    ];
    if let Some(reason) = &key.reason {
        lines.push(format!("reason  {reason}"));
    }
    for scope in &key.scopes {
        let rights: Vec<_> = scope.rights.iter().map(ToString::to_string).collect();
        let targets: Vec<_> = scope.targets.iter().map(ToString::to_string).collect();
        lines.push(format!(
            "scope   {}: {} for {}",
            scope.prefix,
            rights.join(", "),
            targets.join(", ")
        ));
    }
    lines.extend(packages.iter().map(|package| format!("package {package}")));
    lines
}

fn status(key: &TrustedKey) -> String {
    let since = key.since_gen;
    match key.status {
        KeyStatus::Active => format!("active since generation {since}"),
        KeyStatus::Retired => format!("retired in generation {since}"),
        KeyStatus::Compromised => key.status.in_words(since),
    }
}

fn until(key: &TrustedKey) -> String {
    let until = key
        .not_after
        .map(|until_s| format!(", good until {}", Time(until_s)));
    until.unwrap_or_default()
}
