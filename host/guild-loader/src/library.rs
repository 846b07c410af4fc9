//! The only place of the project that opens a library.
//!
//! For plugins it takes a sealed memory file and nothing else, so there is no way to load a plain path. It
//! proves afterwards that the entry symbol lies in a mapping of that very file. Before the first plugin it
//! opens the few system libraries that plugins may need, so that nothing is searched for afterwards. A library is never closed: its
//! handle and its descriptor live as long as the process, because thread-local destructors, threads and
//! function pointers of unloaded code can't be accounted for. Equal bytes share one mapping.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use guild_package::Digest;
use guild_package::preflight::ENTRY_SYMBOL;
use guild_package::text::escape;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::mm::{MapFlags, ProtFlags};

use crate::call::EntryFn;
use crate::error::{Fault, Stage};
use crate::fp_control::FpControl;
use crate::maps::{self, FileIdentity, Mapping};
use crate::memfd::SealedImage;

/// A library whose entry is proven to lie in verified bytes.
#[derive(Debug)]
pub(crate) struct MappedLibrary {
    /// The entry.
    pub entry: EntryFn,
    /// Where the library's code is.
    pub text: Vec<Range<usize>>,
}

/// Libraries of this process by the digest of their bytes. Held while one is opened, so that equal
/// bytes are never mapped twice.
static MAPPED: Mutex<BTreeMap<Digest, &'static MappedLibrary>> = Mutex::new(BTreeMap::new());

/// Maps `image`, or finds the mapping that equal bytes already have. [`open_system_libraries`] comes first.
///
/// # Errors
/// `LOADER_UNAVAILABLE` where the system forbids code in memory files or answers with another library;
/// `PREFLIGHT_REFUSED` where the library can't be loaded, has no entry or changes the floating-point
/// control register.
pub(crate) fn map(image: SealedImage) -> Result<&'static MappedLibrary, Fault> {
    let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&library) = mapped.get(&image.digest()) {
        return Ok(library);
    }
    let digest = image.digest();
    let library: &'static MappedLibrary = Box::leak(Box::new(open_and_prove(image)?));
    mapped.insert(digest, library);
    Ok(library)
}

fn open_and_prove(image: SealedImage) -> Result<MappedLibrary, Fault> {
    let control = FpControl::read();
    let handle = open(&image)?;
    // From here on the library is mapped for life, so its descriptor stays open too, also when a check
    // below fails.
    let image: &'static SealedImage = Box::leak(Box::new(image));
    control.check_after(Stage::Constructors)?;
    let entry = entry_of(handle)?;
    let text = prove(&own_mappings()?, entry as usize, image.identity()?)?;
    Ok(MappedLibrary { entry, text })
}

/// Libraries of the system that plugins may need beside the C library, which every process has. The one for C++ is opened
/// for the plugins that need it: few do, and its constructors run in every process that has it.
const ALWAYS_OPENED: [&str; 2] = ["libm.so.6", "libgcc_s.so.1"];

/// Opens libraries of the C runtime, [`ALWAYS_OPENED`] and those of `needed`, and keeps them for life. A library of
/// the process is not searched for when a plugin names it, so a search path can't put another one in its place from then
/// on. The caller has checked the names. One that the system lacks is passed over: what needs it then fails to load.
pub(crate) fn open_system_libraries<'a>(needed: impl Iterator<Item = &'a str>) {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(c_library_folder);
    for name in ALWAYS_OPENED.into_iter().chain(needed) {
        // Beside the C library nobody's search path is asked.
        let beside = folder.as_deref().map(|folder| folder.join(name));
        let path = beside.filter(|path| path.exists());
        // Elsewhere it is searched for. A search path may lead anywhere, so nothing is opened for a plugin under one; what
        // the plugin itself then gets is a finding of the ambient scan.
        let is_searched = std::env::var_os("LD_LIBRARY_PATH").is_none_or(|path| path.is_empty());
        let Some(path) = path.or_else(|| is_searched.then(|| PathBuf::from(name))) else {
            continue;
        };
        // SAFETY: opening runs constructors. These are the C and C++ runtimes' own, from the folder of the C
        // library that runs already, or the ones that the system's search finds for every program.
        // The handle is leaked, so nothing of it is ever unloaded.
        let opened = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) };
        std::mem::forget(opened);
    }
}

/// The folder from which this process got its C library.
fn c_library_folder() -> Option<PathBuf> {
    let paths = maps::own().ok()?.into_iter().filter_map(|it| it.path);
    let mut libraries = paths.filter(|path| path.ends_with("libc.so.6"));
    libraries.next()?.parent().map(Path::to_owned)
}

/// Opens the library and keeps the handle for life.
fn open(image: &SealedImage) -> Result<&'static Library, Fault> {
    // SAFETY: opening runs the library's constructors. The bytes are those that a trusted key signed
    // (the caller verified them, `SealedImage` compared the digest), and nobody can have changed them
    // since. The handle is leaked, so the termination routines that closing would run never run.
    let opened = unsafe { Library::open(Some(image.path()), RTLD_NOW | RTLD_LOCAL) };
    match opened {
        Ok(library) => Ok(Box::leak(Box::new(library))),
        Err(error) => match check_code_is_allowed(image) {
            Ok(()) => Err(Fault::LibraryRefused {
                reason: escape(&loader_words(&error)),
            }),
            Err(reason) => Err(Fault::LoaderUnavailable {
                step: "map code from a memory file",
                reason: reason.to_string(),
                next: "allow executable mappings of memory files for this process (mandatory access control, vm.memfd_noexec)",
            }),
        },
    }
}

/// What the system loader said; the crate keeps its text as the source of its own error.
fn loader_words(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Whether this system lets a process map code from `image` at all.
fn check_code_is_allowed(image: &SealedImage) -> rustix::io::Result<()> {
    const ONE_BYTE: usize = 1;
    // SAFETY: a new private mapping at an address of the kernel's choice; it replaces nothing, nothing
    // refers to it, and it is removed with the same address and length.
    unsafe {
        let address = rustix::mm::mmap(
            std::ptr::null_mut(),
            ONE_BYTE,
            ProtFlags::READ | ProtFlags::EXEC,
            MapFlags::PRIVATE,
            image.as_fd(),
            0,
        )?;
        rustix::mm::munmap(address, ONE_BYTE)
    }
}

fn entry_of(handle: &'static Library) -> Result<EntryFn, Fault> {
    // SAFETY: the ABI fixes the type of the function behind this name, and the library stays mapped
    // for life. That the address lies in the verified bytes is proven by the caller before any call.
    let symbol = unsafe { handle.get::<EntryFn>(ENTRY_SYMBOL.as_bytes()) };
    symbol
        .map(|symbol| *symbol)
        .map_err(|_| Fault::EntryMissing {
            symbol: ENTRY_SYMBOL,
        })
}

fn own_mappings() -> Result<Vec<Mapping>, Fault> {
    maps::own().map_err(|error| Fault::LoaderUnavailable {
        step: "prove which file a library was mapped from",
        reason: error.to_string(),
        next: "mount /proc for this process",
    })
}

/// Checks that `address` lies in code of `expected`, and gives all code of that file.
fn prove(
    mappings: &[Mapping],
    address: usize,
    expected: FileIdentity,
) -> Result<Vec<Range<usize>>, Fault> {
    let found = maps::containing(mappings, address);
    match found {
        Some(mapping) if mapping.executable && mapping.file == expected => {
            Ok(maps::text_of(mappings, expected))
        }
        _ => Err(Fault::OtherLibraryMapped {
            expected: expected.to_string(),
            found: found.map_or_else(
                || "no mapping".to_owned(),
                |mapping| mapping.file.to_string(),
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: FileIdentity = FileIdentity {
        device_major: 0,
        device_minor: 1,
        inode: 7,
    };

    fn mapping(addresses: Range<usize>, executable: bool, inode: u64) -> Mapping {
        Mapping {
            addresses,
            executable,
            file: FileIdentity { inode, ..EXPECTED },
            path: None,
        }
    }

    #[test]
    fn an_entry_outside_the_verified_bytes_is_refused() {
        let mappings = [
            mapping(0x1000..0x2000, false, 7),
            mapping(0x2000..0x4000, true, 7),
            mapping(0x8000..0x9000, true, 8),
        ];
        assert_eq!(
            prove(&mappings, 0x2000, EXPECTED).unwrap(),
            std::slice::from_ref(&(0x2000..0x4000))
        );
        for address in [0x1fff, 0x4000, 0x8000, 0] {
            let fault = prove(&mappings, address, EXPECTED).unwrap_err();
            assert_eq!(fault.code().name, "LOADER_UNAVAILABLE", "{address:#x}");
        }
        let other_device = FileIdentity {
            device_minor: 2,
            ..EXPECTED
        };
        assert!(prove(&mappings, 0x2000, other_device).is_err());
    }

    /// A library whose entry gives `answer`.
    fn library_bytes(answer: i32) -> Vec<u8> {
        compiled(&format!(
            "int {ENTRY_SYMBOL}(void) {{ return {answer}; }}\n"
        ))
    }

    fn compiled(text: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("a.c"), folder.path().join("a.so"));
        std::fs::write(&source, text).unwrap();
        let built = std::process::Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .status()
            .unwrap();
        assert!(built.success());
        std::fs::read(library).unwrap()
    }

    /// Install looks for the entry by itself; here the system loader does.
    #[test]
    fn a_library_without_the_entry_is_refused() {
        let image = SealedImage::of_bytes(&compiled("int other(void) { return 1; }\n"));
        let fault = map(image).unwrap_err();
        assert_eq!(fault.code().name, "PREFLIGHT_REFUSED");
        assert!(fault.to_string().contains("does not export"), "{fault}");
    }

    /// Row 73, the experiment: the system loader goes by the path's text, so a second library under a
    /// number that was used before gives the first one's code. The proof notices.
    #[test]
    fn row_73_a_stale_library_is_noticed() {
        const NUMBER: i32 = 900;
        let first = SealedImage::of_bytes(&library_bytes(1)).at_number(NUMBER);
        let entry = entry_of(open(&first).unwrap()).unwrap();
        let mappings = own_mappings().unwrap();
        assert!(prove(&mappings, entry as usize, first.identity().unwrap()).is_ok());

        drop(first);
        let second = SealedImage::of_bytes(&library_bytes(2)).at_number(NUMBER);
        let stale = entry_of(open(&second).unwrap()).unwrap();
        assert_eq!(stale as usize, entry as usize, "this loader is not fooled");
        let mappings = own_mappings().unwrap();
        let fault = prove(&mappings, stale as usize, second.identity().unwrap()).unwrap_err();
        assert!(matches!(fault, Fault::OtherLibraryMapped { .. }), "{fault}");
    }

    /// The same two libraries the loader's way: each gets its own code.
    #[test]
    fn row_73_fresh_numbers_give_fresh_libraries() {
        let map_bytes = |answer| map(SealedImage::of_bytes(&library_bytes(answer))).unwrap();
        let (first, second) = (map_bytes(3), map_bytes(4));
        assert_ne!(first.entry as usize, second.entry as usize);
        assert_eq!(map_bytes(3).entry as usize, first.entry as usize);
    }

    #[test]
    fn bytes_that_are_no_library_are_refused() {
        let script = "#!/bin/sh\n".repeat(400);
        let fault = map(SealedImage::of_bytes(script.as_bytes())).unwrap_err();
        assert_eq!(fault.code().name, "PREFLIGHT_REFUSED");
        assert!(fault.to_string().contains("invalid ELF header"), "{fault}");
    }
}
