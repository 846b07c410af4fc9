//! The memory policy of this thread, and of threads that it starts.

use std::io;

/// Lets the pages that this thread, and threads that it starts from now on, are the first to use lie on these memory
/// nodes in turn. Pages that are there already stay where they are.
///
/// # Errors
/// What the system says: it knows no policies, there is no such node, or the process may not choose. Then the policy is
/// as before.
#[cfg(target_os = "linux")]
pub fn interleave(nodes: &[usize]) -> io::Result<()> {
    const BITS: usize = usize::BITS as usize;
    let words = nodes.iter().max().map_or(1, |last| last / BITS + 1);
    let mut mask = vec![0usize; words];
    for node in nodes {
        mask[node / BITS] |= 1 << (node % BITS);
    }
    // The system takes one bit less than it is told.
    let bits = words * BITS + 1;
    // SAFETY: the call reads `bits - 1` bits from `mask`, which has them, and writes no memory of ours.
    let status = unsafe {
        libc::syscall(
            libc::SYS_set_mempolicy,
            libc::MPOL_INTERLEAVE,
            mask.as_ptr(),
            bits,
        )
    };
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Memory policies are Linux's.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn interleave(_nodes: &[usize]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Run on a thread of its own, whose policy ends with it.
    #[test]
    fn nodes_that_are_not_there_and_none_at_all_are_refused() {
        let refused = |nodes: &'static [usize]| {
            let answer = std::thread::spawn(move || interleave(nodes))
                .join()
                .unwrap();
            answer.unwrap_err().kind()
        };
        // A system without policies, or one that forbids them, gives other kinds than this one.
        let kinds = [
            io::ErrorKind::InvalidInput,
            io::ErrorKind::Unsupported,
            io::ErrorKind::PermissionDenied,
        ];
        for nodes in [&[1000][..], &[][..]] {
            assert!(kinds.contains(&refused(nodes)), "{nodes:?}");
        }
    }

    #[test]
    fn the_first_node_takes_everything_where_it_is_alone() {
        let answer = std::thread::spawn(|| {
            interleave(&[0])?;
            // Memory can be had under the policy.
            Ok::<usize, io::Error>(
                vec![1u8; 1 << 20]
                    .iter()
                    .map(|byte| usize::from(*byte))
                    .sum(),
            )
        });
        match answer.join().unwrap() {
            Ok(sum) => assert_eq!(sum, 1 << 20),
            Err(error) => assert_ne!(error.kind(), io::ErrorKind::InvalidInput, "{error}"),
        }
    }
}
