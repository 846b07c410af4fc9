//! The ids of guild's own packages, for messages that say what to install. Nothing is chosen by them.

/// Packages that have runners.
pub(crate) const RUNNERS: &[&str] = &["org.guild.runners.qwen", "org.guild.runners.llama"];

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
