//! The child's side of a trial run: everything that happens between its start and its last line.

use std::ffi::OsString;
use std::fs::{DirEntry, File};
use std::io::{self, Read};

use guild_package::manifest::Artifact;
use guild_package::probe::{
    Answer, DescribedOperation, Descriptor, ProbeReport, Sandbox, golden_artifacts,
};
use guild_package::{Manifest, limits, preflight};
use rustix::process::Signal;

use crate::call::Plugin;
use crate::error::Fault;
use crate::library;
use crate::memfd::SealedImage;
use crate::negotiate::{Expected, negotiate};
use crate::probe::golden::OnTrial;
use crate::probe::{answer, sandbox};
use crate::registry::{Origin, Registration, Registry};

/// The first argument of a child; no command for people.
pub const COMMAND: &str = "__probe";
/// The last argument where a system without a sandbox is refused.
pub(super) const REQUIRE_SANDBOX: &str = "require-sandbox";

/// The exit code of a child that answered, whatever its answer.
const ANSWERED: u8 = 0;
/// The exit code of a child that could not even answer.
const BROKEN: u8 = 1;
/// The exit code of a child whose arguments make no sense.
const USAGE: u8 = 2;

/// What the parent passes.
struct Arguments {
    parent: u32,
    manifest: u32,
    image: u32,
    golden: u32,
    require_sandbox: bool,
}

/// Runs a package and answers on standard output. `arguments` are those after [`COMMAND`]. Call it on the
/// only thread of a process that was started for this, and end the process with the code that it gives.
#[must_use]
pub fn serve(arguments: &[OsString]) -> u8 {
    let Some(arguments) = Arguments::read(arguments) else {
        eprintln!(
            "guild starts this command itself, to try a package; `guild kernel install` does that"
        );
        return USAGE;
    };
    match run(&arguments) {
        Ok(()) => ANSWERED,
        Err(error) => {
            eprintln!("the trial run could not begin: {error}");
            BROKEN
        }
    }
}

impl Arguments {
    fn read(arguments: &[OsString]) -> Option<Self> {
        let words: Option<Vec<&str>> = arguments.iter().map(|word| word.to_str()).collect();
        let words = words?;
        let (numbers, rest) = words.split_at_checked(4)?;
        let numbers: Vec<u32> = numbers
            .iter()
            .map(|word| word.parse().ok())
            .collect::<Option<_>>()?;
        let [parent, manifest, image, golden] = numbers.try_into().ok()?;
        let require_sandbox = match rest {
            [] => false,
            [word] if *word == REQUIRE_SANDBOX => true,
            _ => return None,
        };
        Some(Self {
            parent,
            manifest,
            image,
            golden,
            require_sandbox,
        })
    }
}

fn run(arguments: &Arguments) -> io::Result<()> {
    die_with(arguments.parent)?;
    close_others(&[arguments.manifest, arguments.image, arguments.golden])?;
    let mut bytes = Vec::new();
    passed(arguments.manifest)?
        .take(limits::MANIFEST_MAX_BYTES)
        .read_to_end(&mut bytes)?;
    let manifest = Manifest::decode(&bytes).map_err(io::Error::other)?;
    let golden = golden_files(&manifest, passed(arguments.golden)?)?;
    let output = own_output()?;
    let prepared = prepare(&manifest, arguments.image);
    let sandbox = sandbox::close()?;
    answer::write(&output, &sandbox.encode().map_err(io::Error::other)?)?;
    let answer = match prepared {
        _ if arguments.require_sandbox && !sandbox.is_whole() => {
            answer::refusal(&Fault::LoaderUnavailable {
                step: "shut a trial run in",
                reason: no_sandbox(sandbox),
                next: "leave --require-sandbox out to try it all the same",
            })
        }
        Ok(image) => match try_out(&manifest, image, &golden) {
            Ok(report) => Answer::found(report),
            Err(fault) => answer::refusal(&fault),
        },
        Err(fault) => answer::refusal(&fault),
    };
    answer::write(&output, &answer.encode().map_err(io::Error::other)?)
}

/// Which part of the sandbox is missing, in words.
pub(super) fn no_sandbox(sandbox: Sandbox) -> String {
    let missing = match (sandbox.landlock_abi, sandbox.seccomp) {
        (0, true) => "no Landlock",
        (0, false) => "neither Landlock nor seccomp",
        (_, false) => "no seccomp",
        (_, true) => "a whole sandbox",
    };
    format!("this system has {missing}")
}

/// Ends with the process that wants the answer, also where it has ended already.
fn die_with(parent: u32) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let now = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().cast_unsigned());
    match now == Some(parent) {
        true => Ok(()),
        false => Err(io::Error::other("whoever started it has ended")),
    }
}

/// Closes what the host itself inherited and passed on without knowing: neither Landlock nor the filter stands between
/// code on trial and a descriptor that is open.
fn close_others(kept: &[u32]) -> io::Result<()> {
    const STANDARD: u32 = 3;
    let number = |entry: io::Result<DirEntry>| {
        let name = entry?.file_name();
        Ok(name.to_str().and_then(|name| name.parse::<u32>().ok()))
    };
    // Collected, so that the list's own descriptor, which is in it, is closed by then.
    let numbers = std::fs::read_dir("/proc/self/fd")?.map(number);
    let numbers: Vec<u32> = numbers
        .filter_map(Result::transpose)
        .collect::<io::Result<_>>()?;
    let is_unknown = |number: &u32| *number >= STANDARD && !kept.contains(number);
    for number in numbers.into_iter().filter(is_unknown) {
        match nix::unistd::close(number.cast_signed()) {
            Ok(()) | Err(nix::errno::Errno::EBADF) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A descriptor that was inherited, opened anew.
fn passed(number: u32) -> io::Result<File> {
    File::open(format!("/proc/self/fd/{number}"))
}

/// The golden files, one behind the other in the order of the manifest.
fn golden_files(manifest: &Manifest, mut files: File) -> io::Result<Vec<(Artifact, Vec<u8>)>> {
    golden_artifacts(manifest)
        .map(|artifact| {
            let mut bytes = Vec::new();
            files.by_ref().take(artifact.size).read_to_end(&mut bytes)?;
            match bytes.len() as u64 == artifact.size {
                true => Ok((artifact.clone(), bytes)),
                false => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            }
        })
        .collect()
}

/// The pipe to the parent, out of reach of code that prints: its standard output becomes standard error.
fn own_output() -> io::Result<File> {
    let output = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(File::from(output))
}

/// What needs the file system: after this, mapping the image looks up no name.
fn prepare(manifest: &Manifest, image: u32) -> Result<SealedImage, Fault> {
    let Some((_, artifact)) = manifest.plugin() else {
        return Err(Fault::malformed(
            "manifest",
            "it has no plugin for this machine",
        ));
    };
    let image = SealedImage::inherited(image, artifact.sha256)?;
    // The parent has asked too; the names that are opened next are known to be the system's by this.
    preflight::check_library(manifest, artifact, &image.read()?)?;
    let needed = artifact.elf.iter().flat_map(|facts| &facts.needed);
    library::open_system_libraries(needed.map(|name| name.as_str()));
    Ok(image)
}

/// Maps, negotiates, computes.
fn try_out(
    manifest: &Manifest,
    image: SealedImage,
    golden: &[(Artifact, Vec<u8>)],
) -> Result<ProbeReport, Fault> {
    let label = format!("{}@{}", manifest.id, manifest.version);
    let library = library::map(image)?;
    let expected = Expected {
        id: manifest.id.as_str(),
        plugin_id: manifest.id.as_str(),
        version: Some(&manifest.version),
        digest: None,
        receipt: None,
        origin: Origin::Installed,
        text: Some(&library.text),
        manifest: Some(manifest),
    };
    let registration = negotiate(Plugin::enter_mapped(&label, library)?, &expected)?;
    let descriptor = describe(manifest, &registration)?;
    let mut registry = Registry::default();
    registry.register(registration)?;
    Ok(ProbeReport {
        descriptor,
        golden: OnTrial::new(&registry).reproduce(manifest, golden)?,
    })
}

/// What the plugin said, in the report's terms.
fn describe(manifest: &Manifest, registration: &Registration) -> Result<Descriptor, Fault> {
    let invalid = |invalid: guild_package::text::Invalid| {
        Fault::malformed("description", invalid.to_string())
    };
    let operations = registration.operations.iter().map(|operation| {
        Ok(DescribedOperation {
            name: operation.name.parse().map_err(invalid)?,
            first: operation.op_min.into(),
            last: operation.op_max.into(),
            implementation: operation.implementation.parse().map_err(invalid)?,
            contract: operation.contract,
            exactness: operation.exactness.into(),
            phases: operation.phases.into(),
            formats: operation
                .formats
                .iter()
                .map(|format| u64::from(*format))
                .collect(),
        })
    });
    let runners = registration.runners.iter();
    let runners = runners.map(|runner| runner.id.parse().map_err(invalid));
    Ok(Descriptor {
        // Negotiation compared both with what the plugin says.
        id: manifest.id.clone(),
        version: manifest.version.clone(),
        operations: operations.collect::<Result<_, Fault>>()?,
        runners: runners.collect::<Result<_, Fault>>()?,
    })
}
