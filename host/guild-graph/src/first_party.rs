//! The ids of guild's own packages, for messages that say what to install. Nothing is chosen by them.

/// Packages that have runners.
const RUNNERS: &[&str] = &["org.guild.runners.qwen", "org.guild.runners.llama"];

/// The packages with runners that aren't among the loaded ones, installed or built in.
pub(crate) fn runners_not_in<'a>(loaded: impl Iterator<Item = &'a str>) -> Vec<String> {
    let loaded: Vec<&str> = loaded
        .map(|id| id.strip_prefix("builtin.").unwrap_or(id))
        .collect();
    let absent = RUNNERS.iter().filter(|id| !loaded.contains(*id));
    absent.map(|id| (*id).to_owned()).collect()
}

/// Namespaces of operations and the packages that serve them.
const OPERATIONS: &[(&str, &[&str])] = &[("guild.core.", &["org.guild.kernels.cpu"])];

/// The packages that would serve an operation.
pub(crate) fn serving(operation: &str) -> Vec<String> {
    let rows = OPERATIONS
        .iter()
        .filter(|(namespace, _)| operation.starts_with(namespace));
    rows.flat_map(|(_, packages)| packages.iter().map(|id| (*id).to_owned()))
        .collect()
}
