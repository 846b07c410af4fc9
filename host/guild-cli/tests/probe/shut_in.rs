//! What code on trial can't do. Where the attempt merely fails, a plugin that succeeds aborts.

use std::os::fd::AsRawFd;

use crate::fixture::Package;
use crate::trial::{accepted, in_constructor, in_init, refused};

/// The statements fail without harm: the plugin goes on.
#[track_caller]
fn fails(statements: &str) {
    accepted(&Package {
        defines: &in_constructor(statements),
        ..Package::of("in_constructor")
    });
}

/// The statements end the trial run.
#[track_caller]
fn kills(statements: &str) {
    let package = Package {
        defines: &in_constructor(statements),
        ..Package::of("in_constructor")
    };
    refused(&package, &["SIGSYS"]);
}

#[test]
fn row_72_its_environment_is_empty() {
    let first = "extern char **environ; if (environ && environ[0])";
    accepted(&Package {
        defines: &in_init(&format!("{first} return fail(err, -6, environ[0]);")),
        ..Package::of("in_init")
    });
}

#[test]
fn it_writes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let path = path.display();
    fails(&format!(
        "if (open(\"{path}\", O_WRONLY | O_CREAT, 0600) >= 0) abort();"
    ));
    let existing = folder.path().join("y");
    std::fs::write(&existing, "whole").unwrap();
    let shown = existing.display();
    fails(&format!("if (truncate(\"{shown}\", 0) == 0) abort();"));
    fails(
        &format!("if (mkdirat(-100, \"{path}\", 0700) == 0) abort();")
            .replace("mkdirat(", "syscall(SYS_mkdirat, "),
    );
    kills(&format!("unlink(\"{shown}\");"));
    assert_eq!(std::fs::read(&existing).unwrap(), b"whole");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn it_reads_no_file() {
    for path in [
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/self/mem",
        "/proc/1/maps",
    ] {
        fails(&format!("if (open(\"{path}\", O_RDONLY) >= 0) abort();"));
    }
    fails("if (open(\"/\", O_RDONLY | O_DIRECTORY) >= 0) abort();");
}

/// The host may have been started with a file or a socket open, and passes it on without knowing.
#[test]
fn it_has_no_descriptor_but_those_it_was_given() {
    let file = tempfile::tempfile().unwrap();
    // A number that the child itself doesn't come to, open across an exec.
    let inherited = rustix::io::fcntl_dupfd_cloexec(&file, 700).unwrap();
    rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
    let number = inherited.as_raw_fd();
    fails(&format!(
        "if (write({number}, \"x\", 1) == 1 || fcntl({number}, F_GETFD) >= 0) abort();"
    ));
    assert_eq!(file.metadata().unwrap().len(), 0);
}

#[test]
fn it_starts_no_process() {
    kills("execl(\"/bin/true\", \"true\", (char *)0);");
    kills("fork();");
    kills("vfork();");
    kills("syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);");
}

#[test]
fn it_opens_no_connection() {
    kills("socket(AF_INET, SOCK_STREAM, 0);");
    kills("socket(AF_UNIX, SOCK_STREAM, 0);");
}

#[test]
fn it_touches_no_other_process() {
    kills("ptrace(PTRACE_ATTACH, getppid(), 0, 0);");
    kills("kill(getppid(), SIGKILL);");
    fails("if (syscall(SYS_tgkill, getppid(), getppid(), SIGTERM) == 0) abort();");
}

#[test]
fn it_cannot_lift_its_limits() {
    let limit = "struct { unsigned long a, b; } most = { -1, -1 };";
    fails(&format!(
        "{limit} if (syscall(SYS_prlimit64, 0, 9, &most, 0) == 0) abort();"
    ));
}
