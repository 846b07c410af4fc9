//! From verified bytes to a sealed memory file: the only kind of file that the loader maps.
//!
//! The bytes are hashed while they are copied, so what was compared with the signed digest is what lies
//! in the file, and after sealing nobody can change it, this process included.
//!
//! The system loader recognises a library by the text of its path, here `/proc/self/fd/N`. If a number
//! `N` were ever used for a second library, it would answer with the first one. Therefore every memory
//! file moves to a number that no earlier one had, and a mapped one keeps its number for life.

use std::fs::File;
use std::io::{Read as _, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use guild_package::{Digest, ObjectSource};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;

use crate::error::{Fault, LoadError};
use crate::maps::FileIdentity;

/// The kernel's limit on a memory file's name.
const NAME_MAX_BYTES: usize = 249;
/// Numbers from here on are left alone by the rest of the process.
const FIRST_DESCRIPTOR: RawFd = 1000;

/// How often the system is asked again that was busy, and after which pause.
const BUSY_RETRIES: u32 = 40;
const BUSY_PAUSE: Duration = Duration::from_millis(25);

/// The lowest number that no memory file has had. Held while a number is taken, so that a number
/// that was given back at once can't be taken by a second thread.
static NEXT_DESCRIPTOR: Mutex<RawFd> = Mutex::new(FIRST_DESCRIPTOR);

/// A sealed memory file. Its bytes may be any: it is passed on, and never mapped.
#[derive(Debug)]
pub(crate) struct SealedFile(OwnedFd);

/// A sealed memory file with a library whose bytes have the signed digest. Nothing else is mapped, and there is no other way
/// to make one than to compare the bytes.
#[derive(Debug)]
pub(crate) struct SealedImage {
    file: SealedFile,
    digest: Digest,
}

impl SealedFile {
    /// `write` puts the bytes into the file, or fails.
    ///
    /// # Errors
    /// That of `write`; `LOADER_UNAVAILABLE` where the system has no sealable memory files.
    pub(crate) fn fill(
        name: &str,
        write: impl FnOnce(&mut File) -> guild_package::Result<()>,
    ) -> Result<Self, Fault> {
        let mut file = create(name)?;
        write(&mut file)?;
        seal(&file)?;
        Ok(Self(take_fresh_number(&file)?))
    }

    /// The path under which this process, and only it, can open the file.
    fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }

    fn read(&self) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        // Through a path, so that the position of the descriptor stays where it is.
        File::open(self.path())
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .map_err(|error| Fault::LoaderUnavailable {
                step: "read a memory file back",
                reason: error.to_string(),
                next: "mount /proc for this process",
            })?;
        Ok(bytes)
    }
}

impl SealedImage {
    /// Copies an object of the store into a memory file, hashing on the way, and seals the file.
    /// `package` is `id@version`.
    ///
    /// # Errors
    /// `DIGEST_MISMATCH` or `IO` of the object; `LOADER_UNAVAILABLE` where the system has no sealable
    /// memory files.
    pub(crate) fn copy(source: ObjectSource, package: &str) -> Result<Self, Fault> {
        let digest = source.sha256();
        let file = SealedFile::fill(package, |file| {
            source.copy_verified(|bytes| file.write_all(bytes))
        })?;
        Ok(Self { file, digest })
    }

    /// A sealed file that this process inherited under `number` from a host that compared its bytes with
    /// `digest`, and that are compared again. It keeps a small number: such a process maps one library.
    ///
    /// # Errors
    /// `LOADER_UNAVAILABLE` where there is no such file, or it isn't sealed; `DIGEST_MISMATCH`.
    pub(crate) fn inherited(number: u32, digest: Digest) -> Result<Self, Fault> {
        let file = File::open(format!("/proc/self/fd/{number}"));
        let file = file.map_err(|error| Fault::LoaderUnavailable {
            step: "open an inherited memory file",
            reason: error.to_string(),
            next: "mount /proc for this process",
        })?;
        check_sealed(&file)?;
        let file = SealedFile(file.into());
        match Digest::of(&file.read()?) {
            found if found == digest => Ok(Self { file, digest }),
            found => Err(Fault::Package(guild_package::Error::DigestMismatch {
                what: "an inherited memory file".to_owned(),
                expected: digest,
                found,
                next: "This is a fault in guild; report it",
            })),
        }
    }

    /// A sealed file of any bytes, for tests.
    #[cfg(test)]
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let file = SealedFile::fill("org.test@1.0.0", |file| {
            file.write_all(bytes).unwrap();
            Ok(())
        })
        .unwrap();
        Self {
            file,
            digest: Digest::of(bytes),
        }
    }

    /// The same file under a number of the test's choice.
    #[cfg(test)]
    pub(crate) fn at_number(self, number: RawFd) -> Self {
        let descriptor = rustix::io::fcntl_dupfd_cloexec(&self.file, number).unwrap();
        assert_eq!(descriptor.as_raw_fd(), number, "the number is taken");
        let file = SealedFile(descriptor);
        Self { file, ..self }
    }

    /// The digest of the bytes.
    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }

    /// The bytes, as they are mapped: nobody can change them any more.
    ///
    /// # Errors
    /// `LOADER_UNAVAILABLE` where the system does not give them back.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Fault> {
        self.file.read()
    }

    /// The path under which this process, and only it, can open the file.
    pub(crate) fn path(&self) -> String {
        self.file.path()
    }

    /// Device and inode, to compare with a mapping's.
    ///
    /// # Errors
    /// `LOADER_UNAVAILABLE` where the system does not say.
    pub(crate) fn identity(&self) -> Result<FileIdentity, Fault> {
        let stat = rustix::fs::fstat(&self.file)
            .map_err(|error| unavailable("inspect a memory file", error))?;
        Ok(FileIdentity {
            device_major: rustix::fs::major(stat.st_dev),
            device_minor: rustix::fs::minor(stat.st_dev),
            inode: stat.st_ino,
        })
    }
}

impl AsFd for SealedFile {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsFd for SealedImage {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Whether this system has sealed memory files, without which nothing is loaded. Any thread.
///
/// # Errors
/// Why it has none.
pub fn check_memory_files() -> Result<(), LoadError> {
    let write = |file: &mut File| {
        file.write_all(b"guild")
            .map_err(|source| guild_package::Error::Io {
                action: "write",
                path: "a memory file".into(),
                source,
            })
    };
    SealedFile::fill("doctor@0.0.0", write)
        .map(drop)
        .map_err(|fault| fault.of(""))
}

/// An empty memory file, `guild:<id>@<version>` in process maps and profilers.
fn create(package: &str) -> Result<File, Fault> {
    let mut name = format!("guild:{package}");
    name.truncate(name.floor_char_boundary(NAME_MAX_BYTES));
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let created = match rustix::fs::memfd_create(&name, flags | MemfdFlags::NOEXEC_SEAL) {
        // Kernels before 6.3 don't know the flag.
        Err(Errno::INVAL) => rustix::fs::memfd_create(&name, flags),
        other => other,
    };
    created
        .map(File::from)
        .map_err(|error| unavailable("create a memory file", error))
}

/// Nobody changes a file that has all of these, this process included.
const SEALS: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::WRITE)
    .union(SealFlags::SEAL);

fn seal(file: &File) -> Result<(), Fault> {
    while_busy(BUSY_PAUSE, || rustix::fs::fcntl_add_seals(file, SEALS))
        .map_err(|error| unavailable("seal a memory file", error))?;
    check_sealed(file)
}

fn check_sealed(file: &File) -> Result<(), Fault> {
    rustix::fs::fcntl_get_seals(file)
        .map_err(|error| unavailable("seal a memory file", error))
        .and_then(|present| match present.contains(SEALS) {
            true => Ok(()),
            false => Err(Fault::LoaderUnavailable {
                step: "seal a memory file",
                reason: format!("the seals read back as {present:?}"),
                next: "use a Linux kernel that supports memfd seals",
            }),
        })
}

/// Asks again while the answer is BUSY. The system refuses a seal on writes while anybody holds one of the file's
/// pages; it waits a while itself, but its own reclaim or migration of pages can take longer under load.
fn while_busy(pause: Duration, mut ask: impl FnMut() -> Result<(), Errno>) -> Result<(), Errno> {
    for _ in 0..BUSY_RETRIES {
        match ask() {
            Err(Errno::BUSY) => std::thread::sleep(pause),
            answer => return answer,
        }
    }
    ask()
}

/// A second descriptor of `file` with a number that this function has never given out.
fn take_fresh_number(file: &File) -> Result<OwnedFd, Fault> {
    let mut next = NEXT_DESCRIPTOR
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let descriptor =
        rustix::io::fcntl_dupfd_cloexec(file, *next).map_err(|error| Fault::LoaderUnavailable {
            step: "keep another library open",
            reason: error.to_string(),
            next: "raise the limit on open files, for instance with `ulimit -n 4096`",
        })?;
    *next = descriptor.as_raw_fd().saturating_add(1);
    Ok(descriptor)
}

fn unavailable(step: &'static str, error: Errno) -> Fault {
    Fault::LoaderUnavailable {
        step,
        reason: error.to_string(),
        next: "allow memfd_create with sealing for this process (seccomp, container runtime)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom};
    use std::os::unix::fs::FileExt;

    /// A trial run maps what its host has sealed, and nothing else.
    #[test]
    fn an_inherited_file_must_be_sealed_and_have_the_digest() {
        let mut file = create("org.test@1.0.0").unwrap();
        file.write_all(BYTES).unwrap();
        let number = file.as_raw_fd().cast_unsigned();
        let inherited = |bytes: &[u8]| SealedImage::inherited(number, Digest::of(bytes));
        let refused = |bytes| inherited(bytes).unwrap_err().code().name;
        assert_eq!(refused(BYTES), "LOADER_UNAVAILABLE");
        seal(&file).unwrap();
        assert!(inherited(BYTES).is_ok());
        assert_eq!(refused(b"other bytes"), "DIGEST_MISMATCH");
    }

    const BYTES: &[u8] = b"not a library, but bytes";

    #[test]
    fn a_busy_system_is_asked_again_and_other_answers_count_at_once() {
        let asked = |answers: &[Result<(), Errno>]| {
            let mut answers = answers.iter().copied();
            let mut count = 0;
            let last = while_busy(Duration::ZERO, || {
                count += 1;
                answers.next().unwrap_or(Err(Errno::BUSY))
            });
            (last, count)
        };
        assert_eq!(
            asked(&[Err(Errno::BUSY), Err(Errno::BUSY), Ok(())]),
            (Ok(()), 3)
        );
        assert_eq!(asked(&[Err(Errno::PERM), Ok(())]), (Err(Errno::PERM), 1));
        assert_eq!(asked(&[]), (Err(Errno::BUSY), BUSY_RETRIES + 1));
    }

    #[test]
    fn the_file_holds_the_bytes_and_nobody_can_change_it() {
        let image = SealedImage::of_bytes(BYTES);
        let mut file = File::options()
            .read(true)
            .write(true)
            .open(image.path())
            .unwrap();
        let mut read = Vec::new();
        file.read_to_end(&mut read).unwrap();
        assert_eq!(read, BYTES);
        assert_eq!(image.read().unwrap(), BYTES);

        file.seek(SeekFrom::Start(0)).unwrap();
        assert_eq!(
            file.write(b"x").unwrap_err().raw_os_error(),
            Some(1),
            "write"
        );
        assert_eq!(
            file.write_at(b"x", 100).unwrap_err().raw_os_error(),
            Some(1),
            "grow"
        );
        assert_eq!(
            file.set_len(1).unwrap_err().raw_os_error(),
            Some(1),
            "shrink"
        );
        let error = rustix::fs::fcntl_add_seals(&file, SealFlags::FUTURE_WRITE).unwrap_err();
        assert_eq!(error, Errno::PERM, "more seals");
    }

    #[test]
    fn the_file_is_named_after_the_package() {
        let image = SealedImage::of_bytes(BYTES);
        let target = std::fs::read_link(image.path()).unwrap();
        assert_eq!(
            target.to_str(),
            Some("/memfd:guild:org.test@1.0.0 (deleted)")
        );
    }

    /// Row 73: a number that was given back is not given out again.
    #[test]
    fn numbers_are_never_used_twice() {
        let mut last = FIRST_DESCRIPTOR - 1;
        for _ in 0..5 {
            let image = SealedImage::of_bytes(BYTES);
            let number = image.as_fd().as_raw_fd();
            assert!(number > last, "{number} after {last}");
            last = number;
        }
    }
}
