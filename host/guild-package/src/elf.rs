//! Facts about a shared library, read from its program headers and dynamic table, as the loader sees
//! it; section headers may be absent or lie. Nothing is executed.

use object::Endianness;
use object::elf::{
    DT_FINI, DT_FINI_ARRAYSZ, DT_GNU_HASH, DT_HASH, DT_INIT, DT_INIT_ARRAYSZ, DT_NEEDED, DT_NULL,
    DT_PREINIT_ARRAYSZ, DT_SONAME, DT_STRSZ, DT_STRTAB, DT_SYMTAB, DynamicTag, ET_DYN,
    FileHeader64, PT_DYNAMIC, PT_LOAD, PT_NOTE, ProgramHeader64, SHN_UNDEF, STB_GLOBAL, STB_WEAK,
    STT_FUNC, STV_DEFAULT, STV_PROTECTED, Sym64,
};
use object::read::elf::{
    Dyn as _, FileHeader as _, GnuHashTable, HashTable, ProgramHeader as _, Sym as _,
};
use object::read::{ReadRef as _, StringTable};

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

type Header = FileHeader64<Endianness>;
type Segment = ProgramHeader64<Endianness>;
type Symbol = Sym64<Endianness>;

/// A 64-bit shared library.
pub struct Library<'data> {
    /// For errors.
    name: &'data str,
    data: &'data [u8],
    endian: Endianness,
    segments: &'data [Segment],
    /// The dynamic table up to its end mark.
    dynamic: Vec<(DynamicTag, u64)>,
}

impl<'data> Library<'data> {
    /// The library whose file is `data`; `name` is for errors.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it is no such library or its dynamic table lies outside the file.
    pub fn parse(name: &'data str, data: &'data [u8]) -> Result<Self> {
        let unreadable = |error: object::Error| Error::malformed(name, error.to_string());
        let header = Header::parse(data).map_err(unreadable)?;
        let endian = header.endian().map_err(unreadable)?;
        if header.e_type(endian) != ET_DYN {
            return Err(Error::malformed(name, "it is not a shared library"));
        }
        let segments = header.program_headers(endian, data).map_err(unreadable)?;
        if segments.len() > PROGRAM_HEADERS_MAX {
            return Err(Error::malformed(
                name,
                "it has more than 64 program headers",
            ));
        }
        let segment = segments
            .iter()
            .find(|segment| segment.p_type(endian) == PT_DYNAMIC)
            .ok_or_else(|| Error::malformed(name, "it has no dynamic table"))?;
        let entries = segment.dynamic(endian, data).map_err(unreadable)?;
        let dynamic = entries
            .unwrap_or_default()
            .iter()
            .map(|entry| (entry.d_tag(endian), entry.d_val(endian)))
            .take(DYNAMIC_ENTRIES_MAX)
            .take_while(|(tag, _)| *tag != DT_NULL)
            .collect();
        Ok(Self {
            name,
            data,
            endian,
            segments,
            dynamic,
        })
    }

    /// What the manifest says about it.
    ///
    /// # Errors
    /// [`Error::Malformed`] if a table lies outside the file or a name cannot be read.
    pub fn facts(&self) -> Result<ElfFacts> {
        let strings = self.strings()?;
        let strings = StringTable::new(strings, 0, strings.len() as u64);
        let text = |offset: u64| {
            let bytes = u32::try_from(offset)
                .ok()
                .and_then(|offset| strings.get(offset).ok());
            let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
            text.and_then(|text| text.parse::<PlainText>().ok())
                .ok_or_else(|| self.malformed("a name in its dynamic table cannot be read"))
        };
        Ok(ElfFacts {
            soname: self.value(DT_SONAME).map(text).transpose()?,
            needed: self.values(DT_NEEDED).map(text).collect::<Result<_>>()?,
            init_count: self.values(DT_INIT).count() as u64
                + self.array_len(DT_INIT_ARRAYSZ)
                + self.array_len(DT_PREINIT_ARRAYSZ),
            fini_count: self.values(DT_FINI).count() as u64 + self.array_len(DT_FINI_ARRAYSZ),
            note_hash: self.note()?,
        })
    }

    /// Whether a host can look up the function `symbol`: it is defined here, and others may see it.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the symbol table or what it refers to lies outside the file.
    pub fn exports_function(&self, symbol: &str) -> Result<bool> {
        let strings = self.strings()?;
        let is_named = |entry: &Symbol| {
            let name = usize::try_from(entry.st_name(self.endian)).ok();
            let rest = name
                .and_then(|offset| strings.get(offset..))
                .and_then(|text| text.strip_prefix(symbol.as_bytes()));
            rest.is_some_and(|rest| rest.first() == Some(&0))
        };
        Ok(self.symbols()?.iter().any(|entry| {
            entry.st_type() == STT_FUNC
                && entry.st_shndx(self.endian) != SHN_UNDEF
                && [STB_GLOBAL, STB_WEAK].contains(&entry.st_bind())
                && [STV_DEFAULT, STV_PROTECTED].contains(&entry.st_visibility())
                && is_named(entry)
        }))
    }

    fn values(&self, tag: DynamicTag) -> impl Iterator<Item = u64> {
        self.dynamic
            .iter()
            .filter(move |(found, _)| *found == tag)
            .map(|(_, value)| *value)
    }

    fn value(&self, tag: DynamicTag) -> Option<u64> {
        self.values(tag).next()
    }

    fn array_len(&self, size_tag: DynamicTag) -> u64 {
        self.value(size_tag)
            .map_or(0, |bytes| bytes / POINTER_BYTES)
    }

    /// What is loaded from the file at `address` and after it, up to the end of that segment.
    fn loaded(&self, address: u64) -> Option<&'data [u8]> {
        let segments = self
            .segments
            .iter()
            .filter(|segment| segment.p_type(self.endian) == PT_LOAD);
        segments
            .filter_map(|segment| {
                let into = address.checked_sub(segment.p_vaddr(self.endian))?;
                let bytes = segment
                    .p_filesz(self.endian)
                    .checked_sub(into)
                    .filter(|&bytes| bytes > 0)?;
                let offset = segment.p_offset(self.endian).checked_add(into)?;
                self.data.read_bytes_at(offset, bytes).ok()
            })
            .next()
    }

    /// The string table.
    fn strings(&self) -> Result<&'data [u8]> {
        let address = self.value(DT_STRTAB).zip(self.value(DT_STRSZ));
        address
            .and_then(|(address, bytes)| self.loaded(address)?.get(..usize::try_from(bytes).ok()?))
            .ok_or_else(|| self.malformed("its string table is outside the file"))
    }

    /// The dynamic symbols.
    fn symbols(&self) -> Result<&'data [Symbol]> {
        let count = self.symbol_count()?;
        self.value(DT_SYMTAB)
            .and_then(|address| self.loaded(address)?.read_slice_at(0, count).ok())
            .ok_or_else(|| self.malformed("its symbol table is outside the file"))
    }

    /// How many dynamic symbols there are: the dynamic table does not say, but the hash table by which a
    /// symbol is looked up does. Without one nothing can be looked up.
    fn symbol_count(&self) -> Result<usize> {
        let unreadable = |error: object::Error| self.malformed(error.to_string());
        let table = |address| {
            self.loaded(address)
                .ok_or_else(|| self.malformed("its symbol hash table is outside the file"))
        };
        let count = match (self.value(DT_HASH), self.value(DT_GNU_HASH)) {
            (Some(address), _) => HashTable::<Header>::parse(self.endian, table(address)?)
                .map_err(unreadable)?
                .symbol_table_length(),
            (None, Some(address)) => GnuHashTable::<Header>::parse(self.endian, table(address)?)
                .map_err(unreadable)?
                .symbol_table_length(self.endian)
                .unwrap_or(0),
            (None, None) => 0,
        };
        usize::try_from(count).map_err(|_| self.malformed("it has too many symbols"))
    }

    /// SHA-256 of the descriptor of the one GUILD note, if there is one.
    fn note(&self) -> Result<Option<Digest>> {
        let unreadable = |error: object::Error| self.malformed(error.to_string());
        let mut found = None;
        for segment in self
            .segments
            .iter()
            .filter(|segment| segment.p_type(self.endian) == PT_NOTE)
        {
            let notes = segment.notes(self.endian, self.data).map_err(unreadable)?;
            let Some(mut notes) = notes else {
                continue;
            };
            while let Some(note) = notes.next().map_err(unreadable)? {
                if note.name() != NOTE_OWNER {
                    continue;
                }
                if found.replace(Digest::of(note.desc())).is_some() {
                    return Err(self.malformed("it has two GUILD notes"));
                }
            }
        }
        Ok(found)
    }

    fn malformed(&self, detail: impl Into<String>) -> Error {
        Error::malformed(self.name, detail)
    }
}
