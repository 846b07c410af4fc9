//! The filter of system calls around a trial run.
//!
//! Three filters, of whose answers the system takes the hardest. One allows what a kernel package needs:
//! memory, its own threads, reading, time. Whatever else is asked for fails with `EPERM`, and code that
//! only tries goes on. One kills the process for what no kernel package has a use for, so that the attempt
//! is seen. One hides `clone3`, whose flags lie in memory where a filter can't look; the C library then
//! uses `clone`.

use std::collections::BTreeMap;

use libc::{c_long, *};
use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls that are allowed whatever their arguments.
const ALLOWED: &[c_long] = &[
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_write,
    SYS_writev,
    SYS_close,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_lseek,
    SYS_readlinkat,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_membarrier,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_getpid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_getcpu,
    SYS_getrandom,
    SYS_uname,
    SYS_sysinfo,
    SYS_exit,
    SYS_exit_group,
    // Answered by the third filter.
    SYS_clone3,
];

/// The same, of this processor alone.
#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[c_long] = &[
    // Tile registers are asked for by this call.
    SYS_arch_prctl,
    SYS_stat,
    SYS_lstat,
    SYS_readlink,
    SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[c_long] = &[];

/// Calls that end the trial run.
const KILLED: &[c_long] = &[
    SYS_execve,
    SYS_execveat,
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kill,
    SYS_tkill,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_io_uring_setup,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_init_module,
    SYS_finit_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_setuid,
    SYS_setgid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_unlinkat,
    SYS_renameat2,
];

/// The same, of this processor alone.
#[cfg(target_arch = "x86_64")]
const KILLED_HERE: &[c_long] = &[SYS_fork, SYS_vfork, SYS_unlink, SYS_rename];
#[cfg(not(target_arch = "x86_64"))]
const KILLED_HERE: &[c_long] = &[];

/// Puts the filters on the calling thread and all that it starts.
///
/// # Errors
/// A system without such filters, or a processor that the crate doesn't know.
pub(super) fn apply() -> Result<(), Error> {
    for program in programs()? {
        seccompiler::apply_filter(&program)?;
    }
    Ok(())
}

/// Hiding comes first and allowing last: each filter holds for the calls that install the next.
fn programs() -> Result<[BpfProgram; 3], BackendError> {
    let rules = |calls: &[c_long], here: &[c_long]| -> Rules {
        calls
            .iter()
            .chain(here)
            .map(|call| (*call, Vec::new()))
            .collect()
    };
    let mut killed = rules(KILLED, KILLED_HERE);
    killed.insert(SYS_clone, vec![when(0, masked(CLONE_THREAD), 0)?]);
    let mut allowed = rules(ALLOWED, ALLOWED_HERE);
    allowed.insert(
        SYS_clone,
        vec![when(0, masked(CLONE_THREAD), CLONE_THREAD)?],
    );
    // Only to this process, which ends itself so.
    let own = std::process::id().cast_signed();
    allowed.insert(SYS_tgkill, vec![when(0, SeccompCmpOp::Eq, own)?]);
    let writing = O_ACCMODE | O_CREAT | O_TRUNC;
    allowed.insert(SYS_openat, vec![when(2, masked(writing), 0)?]);
    let questions = [F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_GET_SEALS];
    let questions = questions.map(|question| when(1, SeccompCmpOp::Eq, question));
    allowed.insert(SYS_fcntl, questions.into_iter().collect::<Result<_, _>>()?);
    // Reading a limit, not setting one: the pointer to a new one is null.
    let no_new_limit = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    allowed.insert(SYS_prlimit64, vec![SeccompRule::new(vec![no_new_limit])?]);
    Ok([
        program(
            rules(&[SYS_clone3], &[]),
            SeccompAction::Errno(ENOSYS as u32),
            SeccompAction::Allow,
        )?,
        program(killed, SeccompAction::KillProcess, SeccompAction::Allow)?,
        program(
            allowed,
            SeccompAction::Allow,
            SeccompAction::Errno(EPERM as u32),
        )?,
    ])
}

fn masked(mask: c_int) -> SeccompCmpOp {
    SeccompCmpOp::MaskedEq(u64::from(mask.cast_unsigned()))
}

/// A rule on one argument, of which the lower half is looked at: the system ignores the upper one too.
fn when(index: u8, operator: SeccompCmpOp, value: c_int) -> Result<SeccompRule, BackendError> {
    let value = u64::from(value.cast_unsigned());
    let condition = SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value)?;
    SeccompRule::new(vec![condition])
}

fn program(
    rules: Rules,
    matched: SeccompAction,
    otherwise: SeccompAction,
) -> Result<BpfProgram, BackendError> {
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, otherwise, matched, arch)?.try_into()
}
