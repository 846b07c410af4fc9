//! Why a library is refused before it is mapped, as data: the rule, the value that broke it, what to do.

use std::fmt;

/// The rule of the preflight that a library breaks (`docs/package-format.md`, section 8.1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Other bytes.
    #[error("it is not a 64-bit little-endian ELF file ({detail}). Build it for 64-bit Linux")]
    NotElf {
        /// What its first bytes lack.
        detail: String,
    },
    /// An executable or object file.
    #[error("its ELF type is {found}, not 3, a shared library. Link it with -shared")]
    NotShared {
        /// `e_type`.
        found: u16,
    },
    /// Code for another machine than the signed one.
    #[error(
        "its code is for ELF machine {found}, and the signed target `{arch}` {}. Build it for that target, or correct the target in package.toml", .expected.map_or_else(|| "is none that this guild knows".to_owned(), |machine| format!("is {machine}"))
    )]
    Machine {
        /// The signed target's processor architecture.
        arch: String,
        /// The machine of that architecture, if this guild knows it.
        expected: Option<u16>,
        /// `e_machine`.
        found: u16,
    },
    /// More program headers than a linker writes.
    #[error(
        "it has {found} program headers, and at most {max} are read. Link it with the linker's own script"
    )]
    ProgramHeaders {
        /// How many it has.
        found: u16,
        /// The limit.
        max: u16,
    },
    /// A segment that is not as the system loader and this reader both take it.
    #[error(
        "its program header {index} {rule}. Link it with an unchanged linker, and don't edit it afterwards"
    )]
    Segment {
        /// Position in the program headers, from 0.
        index: usize,
        /// What is wrong with it.
        rule: SegmentRule,
    },
    /// No segment of a kind that must be there.
    #[error(
        "it has no {kind} header. Link it as a shared library, for the stack with -z noexecstack"
    )]
    NoSegment {
        /// Such as `PT_DYNAMIC`.
        kind: &'static str,
    },
    /// Code could be put on the stack of the whole process.
    #[error(
        "it asks for an executable stack (flags {flags:#x}). Link it with -z noexecstack, and mark assembly files with a .note.GNU-stack section"
    )]
    ExecutableStack {
        /// Flags of `PT_GNU_STACK`.
        flags: u32,
    },
    /// It is a program of its own.
    #[error("it names an interpreter (PT_INTERP). Link it with -shared and without -pie")]
    Interpreter,
    /// A dynamic table without an end.
    #[error("its dynamic table has no end within {entries} entries. Link it again")]
    DynamicUnterminated {
        /// Entries that were looked at.
        entries: usize,
    },
    /// Two answers where one reader takes the first and another the last.
    #[error("its dynamic table has the tag {tag:#x} twice. Link it with an unchanged linker")]
    TagTwice {
        /// The tag.
        tag: i64,
    },
    /// It would change where libraries are found, what is called, or its own code.
    #[error("its dynamic table has {tag}, which {effect}. Link it without {option}")]
    ForbiddenTag {
        /// Such as `DT_RUNPATH`.
        tag: &'static str,
        /// What it does.
        effect: &'static str,
        /// The linker's option that makes it.
        option: &'static str,
    },
    /// Flags that change the process around it.
    #[error(
        "its {field} has the bits {flags:#x}, and a plugin may have only {allowed:#x}. Link it without {option}"
    )]
    ForbiddenFlags {
        /// `DT_FLAGS` or `DT_FLAGS_1`.
        field: &'static str,
        /// Its bits beyond the allowed ones.
        flags: u64,
        /// The allowed bits.
        allowed: u64,
        /// The linker's options that make such bits.
        option: &'static str,
    },
    /// A table that doesn't lie where it says, or not as both readers take it.
    #[error("its {table} {detail}. Link it again, and don't edit it afterwards")]
    Table {
        /// Which table.
        table: &'static str,
        /// What is wrong with it.
        detail: &'static str,
    },
    /// It would bring code that no signature covers.
    #[error(
        "it needs `{library}`, which would be loaded without being verified. Build it as a shared library that needs nothing but libc, libm, libgcc_s and libstdc++"
    )]
    ForeignLibrary {
        /// The `DT_NEEDED` name.
        library: String,
    },
    /// It passes for a library of the system.
    #[error(
        "it calls itself `{name}`, as a library of the system does. Link it with another -soname"
    )]
    SystemName {
        /// Its `DT_SONAME`.
        name: String,
    },
    /// It needs a newer C library than the oldest that guild runs on.
    #[error(
        "it needs version `{version}` of `{library}`, and {ceiling} is the newest that every host has. Build it on a system with an older C library"
    )]
    LibraryVersion {
        /// The library.
        library: String,
        /// The version.
        version: String,
        /// The newest version that is accepted.
        ceiling: &'static str,
    },
    /// No way in.
    #[error(
        "it does not export the function `{symbol}`, so no host can enter it. Build it with the SDK's export macro, or in C give the function external linkage and default visibility, and sign it again"
    )]
    EntryMissing {
        /// The symbol.
        symbol: &'static str,
    },
    /// More ways in than the one that is checked.
    #[error(
        "it exports `{symbol}` beside its entry. Build it with -fvisibility=hidden or a version script, so that others see the entry alone"
    )]
    ExtraExport {
        /// The symbol.
        symbol: String,
    },
    /// Code that runs while symbols are looked up, before every check.
    #[error(
        "its symbol `{symbol}` is an indirect function (IFUNC), whose resolver runs before any check. Choose between variants in `init`"
    )]
    IndirectFunction {
        /// The symbol.
        symbol: String,
    },
    /// Code that runs while the library is relocated, before every check.
    #[error(
        "its relocation at {address:#x} is IRELATIVE, which calls code before any check. Build it without ifunc attributes; choose between variants in `init`"
    )]
    IndirectRelocation {
        /// What it would write to.
        address: u64,
    },
    /// A relocation that no plugin needs.
    #[error(
        "its relocation at {address:#x} has type {kind}, which a plugin may not have. Build it with -fPIC"
    )]
    RelocationKind {
        /// What it would write to.
        address: u64,
        /// `r_type`.
        kind: u32,
    },
    /// A relocation that writes where it must not.
    #[error("its relocation at {address:#x} {detail}. Link it again, and don't edit it afterwards")]
    RelocationTarget {
        /// What it would write to.
        address: u64,
        /// What is there.
        detail: &'static str,
    },
    /// A symbol that the symbol table's length hides.
    #[error(
        "its relocation at {address:#x} names symbol {symbol}, and it has {count}. Link it again"
    )]
    RelocationSymbol {
        /// What it would write to.
        address: u64,
        /// The symbol's number.
        symbol: u32,
        /// How many there are.
        count: usize,
    },
    /// The library isn't as the manifest describes it.
    #[error(
        "its {field} is {found}, and the signed manifest says {signed}. Sign the library that was built"
    )]
    Facts {
        /// Field of the manifest's `elf`.
        field: &'static str,
        /// The manifest's value.
        signed: String,
        /// The library's value.
        found: String,
    },
    /// It doesn't say which package it is.
    #[error(
        "it has no GUILD note, so it does not say which package it is. In Rust use the SDK's export macro, in C `GUILD_NOTE` of guild/note.h"
    )]
    NoteMissing,
    /// Two identities.
    #[error(
        "it has more than one GUILD note. Use `export_plugin!` or `GUILD_NOTE` once in a library"
    )]
    NoteTwice,
    /// A note of another form.
    #[error(
        "its GUILD note {detail}. Write it with the SDK's export macro, or in C with `GUILD_NOTE` of guild/note.h"
    )]
    NoteMalformed {
        /// What is wrong with it.
        detail: &'static str,
    },
    /// It is another package, another version, or built against another ABI.
    #[error(
        "its GUILD note says {field} `{note}`, and the signed manifest says `{manifest}`. Build and sign the same release"
    )]
    NoteMismatch {
        /// `id`, `version` or `abi`.
        field: &'static str,
        /// The manifest's value.
        manifest: String,
        /// The note's value.
        note: String,
    },
}

/// What can be wrong with one program header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentRule {
    /// File offset plus size is beyond the file.
    OutsideFile,
    /// More bytes in the file than in memory, or an address beyond the end of all addresses.
    LargerThanMemory,
    /// Offset and address differ within a page.
    Misaligned,
    /// Its address is not above that of the segment before.
    NotAscending,
    /// It shares a page of memory with the segment before.
    OverlapsInMemory,
    /// It shares bytes of the file with the segment before.
    OverlapsInFile,
    /// Code that can be written.
    WriteExecute,
    /// Its bytes are not those that are loaded at its address.
    NotLoaded,
    /// A second one of a kind that there is one of.
    Twice,
}

impl Refusal {
    /// A table that is wrong.
    pub(super) const fn table(table: &'static str, detail: &'static str) -> Self {
        Self::Table { table, detail }
    }
}

impl fmt::Display for SegmentRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutsideFile => "lies outside the file",
            Self::LargerThanMemory => "does not fit into memory",
            Self::Misaligned => "has an offset and an address that differ within a page",
            Self::NotAscending => "is not above the segment before it",
            Self::OverlapsInMemory => "shares memory with the segment before it",
            Self::OverlapsInFile => "shares bytes of the file with the segment before it",
            Self::WriteExecute => "is code that can be written",
            Self::NotLoaded => "has other bytes than those that are loaded at its address",
            Self::Twice => "is the second of its kind",
        })
    }
}
