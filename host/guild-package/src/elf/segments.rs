//! Program headers: which bytes of the file lie where in memory, with which rights.
//!
//! Everything else is found by address, through what is loaded, as the system loader does; so the two
//! can't read different bytes. Section headers are never looked at.

use object::LittleEndian;
use object::elf::{
    ET_DYN, FileHeader64, PF_W, PF_X, PT_DYNAMIC, PT_GNU_RELRO, PT_GNU_STACK, PT_INTERP, PT_LOAD,
    PT_TLS, ProgramHeader64, ProgramType,
};
use object::read::ReadRef as _;
use object::read::elf::{FileHeader as _, NoteIterator};

use crate::elf::machine;
use crate::elf::refusal::{Refusal, SegmentRule};

/// Program headers of a library; those of gcc and rustc have 9 to 11.
pub(super) const PROGRAM_HEADERS_MAX: u16 = 16;
/// For a machine that is refused anyway.
const PAGE_BYTES_OF_OTHERS: u64 = 4096;

const LE: LittleEndian = LittleEndian;

/// The notes of a segment.
pub(super) type Notes<'data> = NoteIterator<'data, FileHeader64<LittleEndian>>;
/// A program header.
pub(super) type Segment = ProgramHeader64<LittleEndian>;

/// A library's file as its program headers lay it out.
pub(super) struct Image<'data> {
    data: &'data [u8],
    /// `e_machine`.
    pub machine: u16,
    segments: &'data [Segment],
}

impl<'data> Image<'data> {
    /// Reads the file header and finds the program headers.
    pub fn parse(data: &'data [u8]) -> Result<Self, Refusal> {
        let not_elf = |error: object::Error| Refusal::NotElf {
            detail: error.to_string(),
        };
        let header = FileHeader64::<LittleEndian>::parse(data).map_err(not_elf)?;
        header.endian().map_err(not_elf)?;
        if header.e_type(LE) != ET_DYN {
            let found = header.e_type(LE).0;
            return Err(Refusal::NotShared { found });
        }
        // First, since a number that doesn't fit here would be looked up in a section header.
        let found = header.e_phnum(LE);
        if found > PROGRAM_HEADERS_MAX {
            let max = PROGRAM_HEADERS_MAX;
            return Err(Refusal::ProgramHeaders { found, max });
        }
        Ok(Self {
            data,
            machine: header.e_machine(LE).0,
            segments: header.program_headers(LE, data).map_err(not_elf)?,
        })
    }

    /// The rules for segments.
    pub fn check(&self) -> Result<(), Refusal> {
        self.check_kinds()?;
        let page_bytes = self.page_bytes();
        let mut before = None;
        for (index, segment) in self.segments.iter().enumerate() {
            let refused = |rule| Refusal::Segment { index, rule };
            if is(segment, PT_LOAD) {
                self.check_loaded(segment).map_err(refused)?;
                before
                    .map_or(Ok(()), |before| check_order(before, segment, page_bytes))
                    .map_err(refused)?;
                before = Some(segment);
            } else {
                self.check_part(segment).map_err(refused)?;
            }
        }
        match before {
            Some(_) => Ok(()),
            None => Err(Refusal::NoSegment { kind: "PT_LOAD" }),
        }
    }

    /// The unit in which memory is mapped, the largest of this machine's systems.
    fn page_bytes(&self) -> u64 {
        machine::by_number(self.machine).map_or(PAGE_BYTES_OF_OTHERS, |machine| machine.page_bytes)
    }

    /// Which kinds there are, and how many of each.
    fn check_kinds(&self) -> Result<(), Refusal> {
        if self.of_kind(PT_INTERP).next().is_some() {
            return Err(Refusal::Interpreter);
        }
        for (kind, name, needed) in [
            (PT_DYNAMIC, "PT_DYNAMIC", true),
            (PT_GNU_STACK, "PT_GNU_STACK", true),
            (PT_GNU_RELRO, "PT_GNU_RELRO", false),
            (PT_TLS, "PT_TLS", false),
        ] {
            let mut found = self.of_kind(kind);
            if needed && found.next().is_none() {
                return Err(Refusal::NoSegment { kind: name });
            }
            if let Some((index, _)) = self.of_kind(kind).nth(1) {
                let rule = SegmentRule::Twice;
                return Err(Refusal::Segment { index, rule });
            }
        }
        let stack = self.of_kind(PT_GNU_STACK).next();
        match stack.map(|(_, stack)| stack.p_flags.get(LE)) {
            Some(flags) if flags.0 & PF_X.0 != 0 => {
                Err(Refusal::ExecutableStack { flags: flags.0 })
            }
            _ => Ok(()),
        }
    }

    /// One loaded segment by itself.
    fn check_loaded(&self, segment: &Segment) -> Result<(), SegmentRule> {
        let (offset, bytes) = (segment.p_offset.get(LE), segment.p_filesz.get(LE));
        self.data
            .read_bytes_at(offset, bytes)
            .map_err(|()| SegmentRule::OutsideFile)?;
        let rounded_end =
            memory_end(segment).and_then(|end| end.checked_next_multiple_of(self.page_bytes()));
        if bytes > segment.p_memsz.get(LE) || rounded_end.is_none() {
            return Err(SegmentRule::LargerThanMemory);
        }
        if offset % self.page_bytes() != segment.p_vaddr.get(LE) % self.page_bytes() {
            return Err(SegmentRule::Misaligned);
        }
        let flags = segment.p_flags.get(LE).0;
        match flags & PF_W.0 != 0 && flags & PF_X.0 != 0 {
            true => Err(SegmentRule::WriteExecute),
            false => Ok(()),
        }
    }

    /// A segment that is a part of a loaded one: the system loader finds it by its address, others by its
    /// offset, so both must lead to the same bytes. What it protects after relocation must be its own.
    fn check_part(&self, segment: &Segment) -> Result<(), SegmentRule> {
        self.bytes_of(segment).ok_or(SegmentRule::NotLoaded)?;
        if is(segment, PT_GNU_RELRO) {
            let address = segment.p_vaddr.get(LE);
            let inside = |load: &Segment| {
                let end = memory_end(load)
                    .and_then(|end| end.checked_next_multiple_of(self.page_bytes()));
                address >= load.p_vaddr.get(LE) && end >= memory_end(segment)
            };
            let is_own = memory_end(segment).is_some() && self.loads().any(inside);
            return is_own.then_some(()).ok_or(SegmentRule::NotLoaded);
        }
        Ok(())
    }

    /// The bytes of a segment, which must be those that are loaded at its address.
    pub fn bytes_of(&self, segment: &Segment) -> Option<&'data [u8]> {
        let (offset, bytes) = (segment.p_offset.get(LE), segment.p_filesz.get(LE));
        if bytes == 0 {
            return Some(&[]);
        }
        let (load, into) = self.load_at(segment.p_vaddr.get(LE))?;
        if load.p_offset.get(LE).checked_add(into)? != offset {
            return None;
        }
        self.loaded(segment.p_vaddr.get(LE), bytes)
    }

    /// The notes of a segment.
    pub fn notes(&self, segment: &Segment) -> Result<Notes<'data>, Refusal> {
        let outside = Refusal::Table {
            table: "notes",
            detail: "are outside the file",
        };
        let bytes = self.bytes_of(segment).ok_or_else(|| outside.clone())?;
        Notes::new(LE, segment.p_align.get(LE), bytes).map_err(|_| outside)
    }

    /// The program headers of one kind with their positions.
    pub fn of_kind(&self, kind: ProgramType) -> impl Iterator<Item = (usize, &'data Segment)> {
        let all = self.segments.iter().enumerate();
        all.filter(move |(_, segment)| is(segment, kind))
    }

    fn loads(&self) -> impl Iterator<Item = &'data Segment> {
        self.of_kind(PT_LOAD).map(|(_, segment)| segment)
    }

    /// The loaded segment with file bytes at `address`, and how far into it that is.
    fn load_at(&self, address: u64) -> Option<(&'data Segment, u64)> {
        self.loads().find_map(|load| {
            let into = address.checked_sub(load.p_vaddr.get(LE))?;
            (into < load.p_filesz.get(LE)).then_some((load, into))
        })
    }

    /// What is loaded from the file at `address` and after it, up to the end of that segment.
    fn loaded_from(&self, address: u64) -> Option<&'data [u8]> {
        let (load, into) = self.load_at(address)?;
        let bytes = load.p_filesz.get(LE).checked_sub(into)?;
        let offset = load.p_offset.get(LE).checked_add(into)?;
        self.data.read_bytes_at(offset, bytes).ok()
    }

    /// `bytes` bytes of the file that are loaded at `address`.
    pub fn loaded(&self, address: u64, bytes: u64) -> Option<&'data [u8]> {
        let from = self.loaded_from(address)?;
        from.get(..usize::try_from(bytes).ok()?)
    }

    /// A table from `address` on, to the end of its segment. It must not be writable: a relocation
    /// could change it between this look and the system loader's.
    pub fn table_from(&self, table: &'static str, address: u64) -> Result<&'data [u8], Refusal> {
        let outside = Refusal::Table {
            table,
            detail: "is outside the file",
        };
        let (load, _) = self.load_at(address).ok_or_else(|| outside.clone())?;
        if load.p_flags.get(LE).0 & PF_W.0 != 0 {
            let detail = "can be written while the library is loaded";
            return Err(Refusal::Table { table, detail });
        }
        self.loaded_from(address).ok_or(outside)
    }

    /// A table of `bytes` bytes at `address`; see [`Self::table_from`].
    pub fn table(
        &self,
        table: &'static str,
        address: u64,
        bytes: u64,
    ) -> Result<&'data [u8], Refusal> {
        if bytes == 0 {
            return Ok(&[]);
        }
        let from = self.table_from(table, address)?;
        let end = usize::try_from(bytes).ok();
        end.and_then(|end| from.get(..end)).ok_or(Refusal::Table {
            table,
            detail: "is outside the file",
        })
    }

    /// Whether all of `bytes` bytes at `address` are the library's own memory and can be written.
    pub fn is_writable(&self, address: u64, bytes: u64) -> bool {
        let Some(end) = address.checked_add(bytes) else {
            return false;
        };
        self.loads().any(|load| {
            load.p_flags.get(LE).0 & PF_W.0 != 0
                && load.p_vaddr.get(LE) <= address
                && memory_end(load).is_some_and(|last| end <= last)
        })
    }
}

/// Two loaded segments that follow each other share nothing. The system loader maps whole pages, the
/// later over the earlier.
fn check_order(before: &Segment, segment: &Segment, page_bytes: u64) -> Result<(), SegmentRule> {
    let (first, address) = (before.p_vaddr.get(LE), segment.p_vaddr.get(LE));
    if address <= first {
        return Err(SegmentRule::NotAscending);
    }
    let first_page = address - address % page_bytes;
    let end = memory_end(before).and_then(|end| end.checked_next_multiple_of(page_bytes));
    if end.is_none_or(|end| first_page < end) {
        return Err(SegmentRule::OverlapsInMemory);
    }
    let file_end = before.p_offset.get(LE).checked_add(before.p_filesz.get(LE));
    let has_bytes = segment.p_filesz.get(LE) > 0;
    match has_bytes && file_end.is_none_or(|end| segment.p_offset.get(LE) < end) {
        true => Err(SegmentRule::OverlapsInFile),
        false => Ok(()),
    }
}

fn memory_end(segment: &Segment) -> Option<u64> {
    let (address, bytes) = (segment.p_vaddr.get(LE), segment.p_memsz.get(LE));
    address.checked_add(bytes)
}

fn is(segment: &Segment, kind: ProgramType) -> bool {
    segment.p_type.get(LE) == kind
}
