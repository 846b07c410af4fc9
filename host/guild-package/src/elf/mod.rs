//! A shared library as the system loader will see it, read from its program headers and dynamic table.
//! Section headers may be absent or lie. Nothing is executed.
//!
//! | File | Holds |
//! |---|---|
//! | `segments` | which bytes lie where in memory, with which rights |
//! | `dynamic` | the dynamic table: tags and flags |
//! | `symbols` | what others can look up |
//! | `relocations` | what is written while it is loaded |
//! | `versions` | the libraries it needs |
//! | `note` | which package it says it is |
//! | `machine` | the processors it may be for |
//! | `refusal` | why it is refused |
//!
//! Each file has the rules for its part. No size that the file declares leads to an allocation.

mod dynamic;
mod machine;
mod note;
mod refusal;
mod relocations;
mod segments;
mod symbols;
mod versions;

use object::elf::{
    DT_FINI, DT_FINI_ARRAYSZ, DT_INIT, DT_INIT_ARRAYSZ, DT_NEEDED, DT_PREINIT_ARRAYSZ, DT_SONAME,
};

use crate::digest::Digest;
use crate::elf::dynamic::Dynamic;
use crate::elf::note::Note;
use crate::elf::relocations::Relocations;
use crate::elf::segments::Image;
use crate::elf::symbols::Symbols;
use crate::manifest::{ElfFacts, Manifest};
use crate::text::PlainText;

pub use refusal::{Refusal, SegmentRule};
pub use versions::{GLIBC_CEILING, SYSTEM_LIBRARIES};

/// Bytes of one entry of an init or fini array.
const POINTER_BYTES: u64 = 8;

/// Whether this guild knows the libraries of an architecture.
pub fn knows(arch: &str) -> bool {
    machine::of(arch).is_some()
}

/// A 64-bit shared library.
pub struct Library<'data> {
    image: Image<'data>,
    dynamic: Dynamic,
}

/// What a library is held to.
pub struct Signed<'a> {
    /// The manifest: which package it is.
    pub manifest: &'a Manifest,
    /// The processor architecture of its target.
    pub arch: &'a str,
    /// What the manifest says about it.
    pub facts: &'a ElfFacts,
    /// The one function that it exports.
    pub entry: &'static str,
}

impl<'data> Library<'data> {
    /// The library whose file is `data`. This finds its parts; [`Self::check`] judges them.
    ///
    /// # Errors
    /// If it is no such library or its dynamic table lies outside the file.
    pub fn parse(data: &'data [u8]) -> Result<Self, Refusal> {
        let image = Image::parse(data)?;
        let dynamic = Dynamic::parse(&image)?;
        Ok(Self { image, dynamic })
    }

    /// What the manifest says about it.
    ///
    /// # Errors
    /// If a table lies outside the file or a name cannot be read.
    pub fn facts(&self) -> Result<ElfFacts, Refusal> {
        let strings = self.dynamic.strings(&self.image)?;
        let text = |offset| {
            let text = strings.text(offset)?.parse::<PlainText>();
            text.map_err(|_| Refusal::Table {
                table: "string table",
                detail: "has a name that is no plain text",
            })
        };
        let array = |tag| {
            self.dynamic
                .value(tag)
                .map_or(0, |bytes| bytes / POINTER_BYTES)
        };
        let single = |tag| self.dynamic.values(tag).count() as u64;
        Ok(ElfFacts {
            soname: self.dynamic.value(DT_SONAME).map(text).transpose()?,
            needed: self
                .dynamic
                .values(DT_NEEDED)
                .map(text)
                .collect::<Result<_, _>>()?,
            init_count: single(DT_INIT) + array(DT_INIT_ARRAYSZ) + array(DT_PREINIT_ARRAYSZ),
            fini_count: single(DT_FINI) + array(DT_FINI_ARRAYSZ),
            note_hash: Note::find(&self.image)?.map(|note| note.digest()),
        })
    }

    /// Digest of the ABI tables it was compiled against, if its GUILD note says so.
    #[must_use]
    pub fn abi_table_hash(&self) -> Option<Digest> {
        Note::find(&self.image).ok().flatten()?.abi()
    }

    /// Every rule of `docs/package-format.md`, section 8.1.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn check(&self, signed: &Signed<'_>) -> Result<(), Refusal> {
        let machine = self.check_machine(signed.arch)?;
        self.image.check()?;
        self.dynamic.check()?;
        let symbols = Symbols::parse(&self.image, &self.dynamic)?;
        symbols.check(signed.entry)?;
        let relocations = Relocations {
            image: &self.image,
            dynamic: &self.dynamic,
            symbols: symbols.count(),
            kinds: &machine.kinds,
        };
        relocations.check()?;
        versions::check(&self.image, &self.dynamic, symbols.count())?;
        let note = Note::find(&self.image)?.ok_or(Refusal::NoteMissing)?;
        note.check(signed.manifest)?;
        let facts = self.facts()?;
        check_own_name(facts.soname.as_ref())?;
        check_facts(signed.facts, &facts)
    }

    fn check_machine(&self, arch: &str) -> Result<&'static machine::Machine, Refusal> {
        let found = self.image.machine;
        let expected = machine::of(arch);
        match expected.filter(|machine| machine.number == found) {
            Some(machine) => Ok(machine),
            None => Err(Refusal::Machine {
                arch: arch.to_owned(),
                expected: expected.map(|machine| machine.number),
                found,
            }),
        }
    }
}

/// Under a system library's name it would be taken for that one by the next library that needs it.
fn check_own_name(soname: Option<&PlainText>) -> Result<(), Refusal> {
    let name = soname.map(PlainText::as_str).unwrap_or_default();
    match SYSTEM_LIBRARIES.contains(&name) {
        true => Err(Refusal::SystemName {
            name: name.to_owned(),
        }),
        false => Ok(()),
    }
}

/// The library is as the manifest describes it.
fn check_facts(signed: &ElfFacts, found: &ElfFacts) -> Result<(), Refusal> {
    let differ = |field, signed: String, found: String| match signed == found {
        true => Ok(()),
        false => Err(Refusal::Facts {
            field,
            signed,
            found,
        }),
    };
    let list = |names: &[PlainText]| match names {
        [] => "none".to_owned(),
        _ => names
            .iter()
            .map(PlainText::as_str)
            .collect::<Vec<_>>()
            .join(", "),
    };
    let name = |name: &Option<PlainText>| list(name.as_slice());
    let digest = |digest: Option<Digest>| {
        digest.map_or_else(|| "none".to_owned(), |digest| digest.to_string())
    };
    differ("soname", name(&signed.soname), name(&found.soname))?;
    differ("needed", list(&signed.needed), list(&found.needed))?;
    let counts = |facts: &ElfFacts| (facts.init_count.to_string(), facts.fini_count.to_string());
    let ((signed_init, signed_fini), (init, fini)) = (counts(signed), counts(found));
    differ("init_count", signed_init, init)?;
    differ("fini_count", signed_fini, fini)?;
    differ(
        "note_hash",
        digest(signed.note_hash),
        digest(found.note_hash),
    )
}
