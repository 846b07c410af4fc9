//! Every file operation of the store behind one small trait, so that a test can record or fail each of
//! them. The real one resolves each path beneath the store's root and follows no link on the way.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FallocateFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags,
};
use rustix::io::Errno;

use crate::store::failpoint;
use crate::store::path::StorePath;

/// The file operations of a store. An error is the operating system's; callers add path and action.
pub trait StoreFs: Send + Sync {
    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// The operating system's reason, or `InvalidInput` for anything but a regular file.
    fn open(&self, path: &StorePath) -> io::Result<File>;

    /// Creates a file that must not exist, for writing and reading, readable by the owner alone.
    ///
    /// # Errors
    /// The operating system's reason.
    fn create(&self, path: &StorePath) -> io::Result<File>;

    /// Opens a lock file, which is created empty if it is missing.
    ///
    /// # Errors
    /// The operating system's reason.
    fn open_lock(&self, path: &StorePath) -> io::Result<File>;

    /// Reserves space, so that a full disk shows before the first write.
    ///
    /// # Errors
    /// The operating system's reason.
    fn reserve(&self, file: &File, bytes: u64) -> io::Result<()>;

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// The operating system's reason.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;

    /// Makes the file's bytes and mode durable. An error is final: the file is not used after it.
    ///
    /// # Errors
    /// The operating system's reason.
    fn sync_file(&self, file: &File) -> io::Result<()>;

    /// Sets the permission bits, whatever the umask.
    ///
    /// # Errors
    /// The operating system's reason.
    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()>;

    /// Renames, and fails with `AlreadyExists` if there is a file at `to`.
    ///
    /// # Errors
    /// The operating system's reason.
    fn rename_new(&self, from: &StorePath, to: &StorePath) -> io::Result<()>;

    /// Renames, replacing a file at `to`.
    ///
    /// # Errors
    /// The operating system's reason.
    fn rename_over(&self, from: &StorePath, to: &StorePath) -> io::Result<()>;

    /// Whether everybody may read the store. Then its files and directories are made so.
    fn is_shared(&self) -> bool {
        false
    }

    /// Creates a directory that only the owner may write to, and in a store that isn't shared read.
    ///
    /// # Errors
    /// The operating system's reason.
    fn create_dir(&self, path: &StorePath) -> io::Result<()>;

    /// Makes the names in a directory durable.
    ///
    /// # Errors
    /// The operating system's reason.
    fn sync_dir(&self, path: &StorePath) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// The operating system's reason.
    fn remove_file(&self, path: &StorePath) -> io::Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    /// The operating system's reason.
    fn remove_dir(&self, path: &StorePath) -> io::Result<()>;

    /// The names in a directory, ascending, and whether each is a directory.
    ///
    /// # Errors
    /// The operating system's reason.
    fn list(&self, path: &StorePath) -> io::Result<Vec<(String, bool)>>;

    /// The bytes of a file, at most `bytes_max`.
    ///
    /// # Errors
    /// As [`Self::open`], and `FileTooLarge`.
    fn read(&self, path: &StorePath, bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(path)?
            .take(bytes_max + 1)
            .read_to_end(&mut bytes)?;
        match bytes.len() as u64 > bytes_max {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(bytes),
        }
    }
}

/// The operating system's files below one open directory.
#[derive(Debug)]
pub struct RealFs {
    root: OwnedFd,
    is_shared: bool,
}

impl RealFs {
    /// Opens the store's root.
    ///
    /// # Errors
    /// The operating system's reason; a link is not followed.
    pub fn open_root(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&root)?.st_mode);
        Ok(Self {
            is_shared: mode.contains(Mode::ROTH | Mode::XOTH),
            root,
        })
    }

    /// The root, for checking owner and mode.
    ///
    /// # Errors
    /// The operating system's reason.
    pub fn root(&self) -> io::Result<File> {
        Ok(File::from(self.root.try_clone()?))
    }

    /// Opens a regular file that is there for reading and writing.
    ///
    /// # Errors
    /// As [`StoreFs::open`].
    pub(crate) fn open_to_write(&self, path: &StorePath) -> io::Result<File> {
        self.open_as(path, OFlags::RDWR)
    }

    fn open_as(&self, path: &StorePath, access: OFlags) -> io::Result<File> {
        let flags = access | OFlags::NONBLOCK;
        let file = File::from(self.resolve(path.as_str(), flags, Mode::empty())?);
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn resolve(&self, path: &str, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        // The kernel asks for a retry when a rename elsewhere raced with the resolution.
        loop {
            match rustix::fs::openat2(&self.root, path, flags, mode, resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                // Old kernels, some sandboxes and valgrind don't know the call.
                Err(Errno::NOSYS) => return self.walk(path, flags, mode),
                other => return Ok(other?),
            }
        }
    }

    /// What [`Self::resolve`] asks of the kernel, a step at a time: a store path has no `..` and isn't
    /// absolute, and no step follows a link.
    fn walk(&self, path: &str, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let step = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut folder = self.root.try_clone()?;
        let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
        for parent in parents.split('/').filter(|parent| !parent.is_empty()) {
            folder = rustix::fs::openat(&folder, parent, step, Mode::empty())?;
        }
        Ok(rustix::fs::openat(&folder, name, flags, mode)?)
    }

    fn directory(&self, path: &str) -> io::Result<OwnedFd> {
        self.resolve(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
    }

    fn unlink(&self, path: &StorePath, flags: AtFlags) -> io::Result<()> {
        let (parent, name) = path.split();
        Ok(rustix::fs::unlinkat(self.directory(parent)?, name, flags)?)
    }
}

impl StoreFs for RealFs {
    fn is_shared(&self) -> bool {
        self.is_shared
    }

    fn open(&self, path: &StorePath) -> io::Result<File> {
        self.open_as(path, OFlags::RDONLY)
    }

    fn create(&self, path: &StorePath) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let file = File::from(self.resolve(path.as_str(), flags, Mode::RUSR | Mode::WUSR)?);
        let mode = if self.is_shared { 0o644 } else { 0o600 };
        self.set_mode(&file, mode)?;
        Ok(file)
    }

    fn open_lock(&self, path: &StorePath) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NONBLOCK;
        Ok(File::from(self.resolve(
            path.as_str(),
            flags,
            Mode::RUSR | Mode::WUSR,
        )?))
    }

    fn reserve(&self, file: &File, bytes: u64) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        failpoint::before_reservation()?;
        match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes) {
            // Some file systems cannot reserve; there a full disk shows at the write.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            other => Ok(other?),
        }
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        let written = failpoint::before_write(file, bytes)?;
        file.write_all(bytes.get(written..).unwrap_or_default())
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        failpoint::before_sync()?;
        // Not `sync_data`: an object whose mode was lost would be refused at the next load.
        file.sync_all()
    }

    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?)
    }

    fn rename_new(&self, from: &StorePath, to: &StorePath) -> io::Result<()> {
        let ((from_dir, from_name), (to_dir, to_name)) = (from.split(), to.split());
        let (from_dir, to_dir) = (self.directory(from_dir)?, self.directory(to_dir)?);
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(&from_dir, from_name, &to_dir, to_name, flags) {
            Err(Errno::INVAL | Errno::NOSYS) => {
                rustix::fs::linkat(&from_dir, from_name, &to_dir, to_name, AtFlags::empty())?;
                Ok(rustix::fs::unlinkat(
                    &from_dir,
                    from_name,
                    AtFlags::empty(),
                )?)
            }
            other => Ok(other?),
        }
    }

    fn rename_over(&self, from: &StorePath, to: &StorePath) -> io::Result<()> {
        let ((from_dir, from_name), (to_dir, to_name)) = (from.split(), to.split());
        let (from_dir, to_dir) = (self.directory(from_dir)?, self.directory(to_dir)?);
        Ok(rustix::fs::renameat(
            &from_dir, from_name, &to_dir, to_name,
        )?)
    }

    fn create_dir(&self, path: &StorePath) -> io::Result<()> {
        let (parent, name) = path.split();
        let mode = match self.is_shared {
            true => Mode::from_raw_mode(0o755),
            false => Mode::RWXU,
        };
        rustix::fs::mkdirat(self.directory(parent)?, name, Mode::RWXU)?;
        Ok(rustix::fs::fchmod(self.directory(path.as_str())?, mode)?)
    }

    fn sync_dir(&self, path: &StorePath) -> io::Result<()> {
        failpoint::before_sync()?;
        Ok(rustix::fs::fsync(self.directory(path.as_str())?)?)
    }

    fn remove_file(&self, path: &StorePath) -> io::Result<()> {
        self.unlink(path, AtFlags::empty())
    }

    fn remove_dir(&self, path: &StorePath) -> io::Result<()> {
        self.unlink(path, AtFlags::REMOVEDIR)
    }

    fn list(&self, path: &StorePath) -> io::Result<Vec<(String, bool)>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.directory(path.as_str())?)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push((name, entry.file_type() == FileType::Directory));
            }
        }
        names.sort();
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn walking_opens_what_resolving_opens_and_follows_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(root.join("a/b/file"), b"inside").unwrap();
        std::fs::write(outside.join("file"), b"outside").unwrap();
        symlink(&outside, root.join("a/link")).unwrap();
        symlink(outside.join("file"), root.join("a/b/linked")).unwrap();
        let fs = RealFs::open_root(&root).unwrap();
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        for path in ["a/b/file", "a/link/file", "a/b/linked", "a/absent"] {
            let resolved = fs.resolve(path, flags, Mode::empty());
            let walked = fs.walk(path, flags, Mode::empty());
            assert_eq!(walked.is_ok(), resolved.is_ok(), "{path}");
            assert_eq!(walked.is_ok(), path == "a/b/file", "{path}");
        }
    }
}
