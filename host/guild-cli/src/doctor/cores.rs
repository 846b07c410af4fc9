//! Processors, quotas and memory nodes.

use super::Check;
use crate::output::count;
use crate::system::SystemFiles;
use crate::system::cgroup::cpu::{self, Limits};
use crate::system::cores::{self, Cores};
use serde_json::json;

/// How many threads runs use, and what limits them.
pub fn processors(files: &SystemFiles) -> Check {
    let threads = guild_engine::allowed_workers();
    judge(&cores::cores(files), &cpu::limits(files), threads)
}

fn judge(cores: &Cores, limits: &Limits, threads: u32) -> Check {
    let quota = limits
        .cpus
        .map_or("none".to_owned(), |cpus| format!("{cpus:.1}"));
    let details = json!({
        "online": cores.online,
        "cores": cores.cores,
        "allowed": cores.allowed,
        "quota": limits.cpus,
        "cgroup_version": limits.version,
        "threads": threads,
    });
    let finding = format!(
        "{} on {}; quota {quota}; runs use {}",
        count(cores.online, "processor"),
        count(cores.cores, "core"),
        count(threads as usize, "thread"),
    );
    let check = Check::ok("cores", finding, details);
    let available = cores.allowed.unwrap_or(cores.online);
    if limits
        .cpus
        .is_some_and(|cpus| f64::from(threads) > cpus.max(1.0).ceil())
    {
        return check.warn(
            "more threads than the quota pays for: each pass waits for throttled threads",
            format!(
                "guild run -t {:.0} …",
                limits.cpus.unwrap_or(1.0).max(1.0).floor()
            ),
        );
    }
    if (threads as usize) < cores.online && available >= cores.online {
        return check.warn(
            "the quota of the control group leaves processors unused",
            "cat /proc/self/cgroup",
        );
    }
    if available < cores.online {
        return check.warn(
            format!("affinity allows {available} of {} processors", cores.online),
            "taskset -p $$",
        );
    }
    check
}

/// Parts of the memory that are nearer to some processors.
pub fn nodes(files: &SystemFiles) -> Check {
    let nodes = cores::nodes(files);
    let rows: Vec<_> = nodes
        .iter()
        .map(|node| json!({ "node": node.number, "processors": node.processors }))
        .collect();
    let details = json!({ "nodes": rows });
    let check = Check::ok("numa", count(nodes.len().max(1), "memory node"), details);
    if nodes.iter().filter(|node| node.processors > 0).count() > 1 {
        return check.warn(
            "buffers lie on the node of the thread that loads; spreading them over all may be faster",
            "guild run --numa interleave …",
        );
    }
    check
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Status;

    #[test]
    fn quota_and_affinity_are_told_apart() {
        let cores = Cores {
            online: 16,
            cores: 8,
            allowed: Some(16),
        };
        let quota = |cpus| Limits {
            cpus,
            ..Limits::default()
        };
        assert_eq!(judge(&cores, &quota(None), 16).status, Status::Ok);
        let tight = judge(&cores, &quota(Some(2.0)), 2);
        assert!(tight.consequence.contains("leaves processors unused"));
        let over = judge(&cores, &quota(Some(2.0)), 16);
        assert!(over.consequence.contains("more threads than the quota"));
        let pinned = Cores {
            allowed: Some(4),
            ..cores
        };
        let pinned = judge(&pinned, &quota(None), 4);
        assert!(pinned.consequence.contains("affinity allows 4 of 16"));
    }
}
