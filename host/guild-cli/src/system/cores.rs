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

/// The numbers of the nodes that have memory; none where the system doesn't know the word.
#[must_use]
pub fn memory_nodes(files: &SystemFiles) -> Vec<usize> {
    let list = files.read("sys/devices/system/node/has_memory");
    list.and_then(|list| number_list(&list)).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_with_memory_are_told_from_nodes_with_processors() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("sys/devices/system/node");
        let files = SystemFiles::below(folder.path());
        assert!(memory_nodes(&files).is_empty() && nodes(&files).is_empty());
        for (name, list) in [
            ("has_memory", "0,2-3\n"),
            ("node0/cpulist", "0-3\n"),
            ("node1/cpulist", "4-7,9\n"),
            ("node2/cpulist", "\n"),
        ] {
            let path = place.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, list).unwrap();
        }
        assert_eq!(memory_nodes(&files), [0, 2, 3]);
        let processors: Vec<_> = nodes(&files).iter().map(|node| node.processors).collect();
        assert_eq!(&processors[..2], [4, 5]);
        std::fs::write(place.join("has_memory"), "all of them\n").unwrap();
        assert!(memory_nodes(&files).is_empty());
    }
}
