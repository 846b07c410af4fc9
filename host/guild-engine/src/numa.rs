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

    /// Words of a set of nodes: more bits than any kernel has nodes.
    const WORDS: usize = 1024 / usize::BITS as usize;

    /// What the system says: the policy of this thread, and its nodes.
    fn policy() -> io::Result<(libc::c_int, [usize; WORDS])> {
        let (mut policy, mut nodes) = (-1, [0; WORDS]);
        // The system takes one bit less than it is told.
        let bits = WORDS * usize::BITS as usize + 1;
        // SAFETY: the call writes one number to `policy` and at most `bits - 1` bits to `nodes`, which has them. No
        // address is asked about.
        let status = unsafe {
            libc::syscall(
                libc::SYS_get_mempolicy,
                &raw mut policy,
                nodes.as_mut_ptr(),
                bits,
                std::ptr::null::<libc::c_void>(),
                0usize,
            )
        };
        match status {
            0 => Ok((policy, nodes)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    #[test]
    fn the_system_has_the_policy_and_its_nodes_afterwards() {
        let answer = std::thread::spawn(|| {
            interleave(&[0])?;
            policy()
        });
        match answer.join().unwrap() {
            Ok((policy, nodes)) => {
                let first: [usize; WORDS] = std::array::from_fn(|word| usize::from(word == 0));
                assert_eq!((policy, nodes), (libc::MPOL_INTERLEAVE, first));
            }
            Err(error) => {
                assert_ne!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
                eprintln!("skipped: the system lets this process choose no policy: {error}");
            }
        }
    }
}
