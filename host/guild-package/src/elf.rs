//! Facts about a shared library, read from its program headers and dynamic table, as the loader sees
//! it; section headers may be absent or lie. Nothing is executed.

use object::Endianness;
use object::elf::{
    DT_FINI, DT_FINI_ARRAYSZ, DT_INIT, DT_INIT_ARRAYSZ, DT_NEEDED, DT_NULL, DT_PREINIT_ARRAYSZ,
    DT_SONAME, DT_STRSZ, DT_STRTAB, DynamicTag, ET_DYN, FileHeader64, PT_DYNAMIC, PT_LOAD, PT_NOTE,
    ProgramHeader64,
};
use object::read::StringTable;
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::manifest::ElfFacts;
use crate::text::PlainText;

/// Owner of the note that names the package inside its library.
const NOTE_OWNER: &[u8] = b"GUILD";
/// Program headers looked at; a plugin has about ten.
const PROGRAM_HEADERS_MAX: usize = 64;
/// Entries of a dynamic table looked at.
const DYNAMIC_ENTRIES_MAX: usize = 4096;
/// Bytes of one entry of an init or fini array.
const POINTER_BYTES: u64 = 8;

/// The facts of the 64-bit shared library `data`; `name` is for errors.
///
/// # Errors
/// [`Error::Malformed`] if it is not such a library or its tables lie outside the file.
pub fn read_facts(name: &str, data: &[u8]) -> Result<ElfFacts> {
    let malformed = |detail: &str| Error::malformed(name, detail);
    let unreadable = |error: object::Error| Error::malformed(name, error.to_string());
    let header = FileHeader64::<Endianness>::parse(data).map_err(unreadable)?;
    let endian = header.endian().map_err(unreadable)?;
    if header.e_type(endian) != ET_DYN {
        return Err(malformed("it is not a shared library"));
    }
    let segments = header.program_headers(endian, data).map_err(unreadable)?;
    if segments.len() > PROGRAM_HEADERS_MAX {
        return Err(malformed("it has more than 64 program headers"));
    }
    let dynamic = Dynamic::read(name, segments, endian, data)?;
    let strings = dynamic.strings(name, segments, endian, data)?;
    let text = |offset: &u64| {
        let bytes = u32::try_from(*offset)
            .ok()
            .and_then(|offset| strings.get(offset).ok());
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.and_then(|text| text.parse::<PlainText>().ok())
            .ok_or_else(|| malformed("a name in its dynamic table cannot be read"))
    };
    Ok(ElfFacts {
        soname: dynamic.values(DT_SONAME).next().map(text).transpose()?,
        needed: dynamic.values(DT_NEEDED).map(text).collect::<Result<_>>()?,
        init_count: dynamic.values(DT_INIT).count() as u64
            + dynamic.array_len(DT_INIT_ARRAYSZ)
            + dynamic.array_len(DT_PREINIT_ARRAYSZ),
        fini_count: dynamic.values(DT_FINI).count() as u64 + dynamic.array_len(DT_FINI_ARRAYSZ),
        note_hash: note(name, segments, endian, data)?,
    })
}

/// Whether the dynamic string table of the shared library `data` has `symbol` as a name: without it
/// there can be no such symbol. `name` is for errors.
///
/// # Errors
/// As [`read_facts`].
pub fn names_symbol(name: &str, data: &[u8], symbol: &str) -> Result<bool> {
    let unreadable = |error: object::Error| Error::malformed(name, error.to_string());
    let header = FileHeader64::<Endianness>::parse(data).map_err(unreadable)?;
    let endian = header.endian().map_err(unreadable)?;
    let segments = header.program_headers(endian, data).map_err(unreadable)?;
    let dynamic = Dynamic::read(name, segments, endian, data)?;
    let strings = dynamic.string_bytes(name, segments, endian, data)?;
    // A linker may let a name be the end of a longer one.
    Ok(strings
        .split(|byte| *byte == 0)
        .any(|string| string.ends_with(symbol.as_bytes())))
}

type Segment = ProgramHeader64<Endianness>;

/// The dynamic table up to its end mark.
struct Dynamic(Vec<(DynamicTag, u64)>);

impl Dynamic {
    fn read(name: &str, segments: &[Segment], endian: Endianness, data: &[u8]) -> Result<Self> {
        let segment = segments
            .iter()
            .find(|segment| segment.p_type(endian) == PT_DYNAMIC);
        let segment = segment.ok_or_else(|| Error::malformed(name, "it has no dynamic table"))?;
        let entries = segment
            .dynamic(endian, data)
            .map_err(|error| Error::malformed(name, error.to_string()))?
            .unwrap_or_default();
        let pairs = entries
            .iter()
            .map(|entry| (entry.d_tag(endian), entry.d_val(endian)));
        let table: Vec<(DynamicTag, u64)> = pairs
            .take(DYNAMIC_ENTRIES_MAX)
            .take_while(|(tag, _)| *tag != DT_NULL)
            .collect();
        Ok(Self(table))
    }

    fn values(&self, tag: DynamicTag) -> impl Iterator<Item = &u64> {
        self.0
            .iter()
            .filter(move |(found, _)| *found == tag)
            .map(|(_, value)| value)
    }

    fn array_len(&self, size_tag: DynamicTag) -> u64 {
        self.values(size_tag)
            .next()
            .map_or(0, |bytes| bytes / POINTER_BYTES)
    }

    /// The string table as a reader of names.
    fn strings<'data>(
        &self,
        name: &str,
        segments: &[Segment],
        endian: Endianness,
        data: &'data [u8],
    ) -> Result<StringTable<'data>> {
        let strings = self.string_bytes(name, segments, endian, data)?;
        Ok(StringTable::new(strings, 0, strings.len() as u64))
    }

    /// The string table, found through the loaded segment that holds its address.
    fn string_bytes<'data>(
        &self,
        name: &str,
        segments: &[Segment],
        endian: Endianness,
        data: &'data [u8],
    ) -> Result<&'data [u8]> {
        let malformed = || Error::malformed(name, "its string table is outside the file");
        let (Some(&address), Some(&bytes)) =
            (self.values(DT_STRTAB).next(), self.values(DT_STRSZ).next())
        else {
            return Err(malformed());
        };
        let offset = segments
            .iter()
            .filter(|segment| segment.p_type(endian) == PT_LOAD)
            .find_map(|segment| {
                let into = address.checked_sub(segment.p_vaddr(endian))?;
                let inside = into < segment.p_filesz(endian);
                inside.then(|| segment.p_offset(endian).checked_add(into))?
            })
            .ok_or_else(malformed)?;
        let range = usize::try_from(offset)
            .ok()
            .zip(usize::try_from(bytes).ok());
        let strings = range.and_then(|(offset, bytes)| data.get(offset..)?.get(..bytes));
        strings.ok_or_else(malformed)
    }
}

/// SHA-256 of the descriptor of the one GUILD note, if there is one.
fn note(
    name: &str,
    segments: &[Segment],
    endian: Endianness,
    data: &[u8],
) -> Result<Option<Digest>> {
    let unreadable = |error: object::Error| Error::malformed(name, error.to_string());
    let mut found = None;
    for segment in segments
        .iter()
        .filter(|segment| segment.p_type(endian) == PT_NOTE)
    {
        let Some(mut notes) = segment.notes(endian, data).map_err(unreadable)? else {
            continue;
        };
        while let Some(note) = notes.next().map_err(unreadable)? {
            if note.name() != NOTE_OWNER {
                continue;
            }
            if found.replace(Digest::of(note.desc())).is_some() {
                return Err(Error::malformed(name, "it has two GUILD notes"));
            }
        }
    }
    Ok(found)
}
