//! Processors, cores and memory nodes.

use crate::system::{SystemFiles, number_list};
use std::collections::BTreeSet;

/// The processors of the machine and of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores {
    /// Processors that are switched on.
    pub online: usize,
    /// Cores; two threads of one core are one.
    pub cores: usize,
    /// Processors that this process may run on; `None` where the system doesn't say.
    pub allowed: Option<usize>,
}

/// A part of the memory with the processors that are near to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number.
    pub number: usize,
    /// Its processors.
    pub processors: usize,
}

/// Reads the processors.
#[must_use]
pub fn cores(files: &SystemFiles) -> Cores {
    const FOLDER: &str = "sys/devices/system/cpu";
    let online = files
        .read(format!("{FOLDER}/online"))
        .and_then(|text| number_list(&text))
        .unwrap_or_default();
    let siblings: BTreeSet<String> = online
        .iter()
        .filter_map(|cpu| files.read(format!("{FOLDER}/cpu{cpu}/topology/thread_siblings_list")))
        .collect();
    let status = files.read("proc/self/status").unwrap_or_default();
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .and_then(number_list);
    Cores {
        online: online.len(),
        cores: siblings.len(),
        allowed: allowed.map(|list| list.len()),
    }
}

/// Reads the memory nodes; none where the system doesn't know the word.
#[must_use]
pub fn nodes(files: &SystemFiles) -> Vec<Node> {
    const FOLDER: &str = "sys/devices/system/node";
    let node = |name: &String| {
        let number = name.strip_prefix("node")?.parse().ok()?;
        let list = files.read(format!("{FOLDER}/{name}/cpulist"))?;
        Some(Node {
            number,
            processors: number_list(&list)?.len(),
        })
    };
    files.names(FOLDER).iter().filter_map(node).collect()
}
