//! The dynamic table: what the system loader is told to do with a library.

use object::LittleEndian;
use object::elf::{
    DF_1_NOW, DF_TEXTREL, DT_AUDIT, DT_AUXILIARY, DT_DEPAUDIT, DT_FILTER, DT_FLAGS, DT_FLAGS_1,
    DT_NEEDED, DT_NULL, DT_RPATH, DT_RUNPATH, DT_STRSZ, DT_STRTAB, DT_TEXTREL, Dyn64, DynamicTag,
    PT_DYNAMIC,
};
use object::read::ReadRef as _;

use crate::elf::refusal::Refusal;
use crate::elf::segments::Image;

const LE: LittleEndian = LittleEndian;

/// Entries of a dynamic table that are looked at; a plugin has about thirty.
const ENTRIES_MAX: usize = 1024;
/// Bytes of one entry.
const ENTRY_BYTES: usize = 16;

/// Tags that no plugin may have: name, effect, and the linker's option that makes it.
const FORBIDDEN: [(DynamicTag, &str, &str, &str); 7] = [
    (DT_RPATH, "DT_RPATH", SEARCH, "-rpath"),
    (DT_RUNPATH, "DT_RUNPATH", SEARCH, "-rpath"),
    (DT_AUDIT, "DT_AUDIT", LOADS, "--audit"),
    (DT_DEPAUDIT, "DT_DEPAUDIT", LOADS, "--depaudit"),
    (DT_FILTER, "DT_FILTER", LOADS, "-F"),
    (DT_AUXILIARY, "DT_AUXILIARY", LOADS, "-f"),
    (
        DT_TEXTREL,
        "DT_TEXTREL",
        CHANGES_CODE,
        "-z notext; build with -fPIC",
    ),
];
const SEARCH: &str = "changes where libraries are found";
const LOADS: &str = "loads code that no signature covers";
const CHANGES_CODE: &str = "makes its code writable while it is loaded";

/// A dynamic table up to its end mark.
pub(super) struct Dynamic {
    entries: Vec<(DynamicTag, u64)>,
    /// Addresses of the whole table.
    address: u64,
    bytes: u64,
}

impl Dynamic {
    /// Reads the table.
    pub fn parse(image: &Image<'_>) -> Result<Self, Refusal> {
        let segment = image.of_kind(PT_DYNAMIC).next();
        let (_, segment) = segment.ok_or(Refusal::NoSegment { kind: "PT_DYNAMIC" })?;
        let outside = Refusal::Table {
            table: "dynamic table",
            detail: "is outside the file",
        };
        // The length in memory says what a relocation may not change.
        if segment.p_filesz.get(LE) != segment.p_memsz.get(LE) {
            return Err(Refusal::Table {
                table: "dynamic table",
                detail: "has another length in memory than in the file",
            });
        }
        let bytes = image.bytes_of(segment).ok_or_else(|| outside.clone())?;
        let count = (bytes.len() / ENTRY_BYTES).min(ENTRIES_MAX);
        let table: &[Dyn64<LittleEndian>] = bytes.read_slice_at(0, count).map_err(|()| outside)?;
        let end = table
            .iter()
            .position(|entry| entry.d_tag.get(LE) == DT_NULL);
        let end = end.ok_or(Refusal::DynamicUnterminated { entries: count })?;
        let entries = table.iter().take(end);
        Ok(Self {
            entries: entries
                .map(|entry| (entry.d_tag.get(LE), entry.d_val.get(LE)))
                .collect(),
            address: segment.p_vaddr.get(LE),
            bytes: segment.p_memsz.get(LE),
        })
    }

    /// The rules for tags and flags.
    pub fn check(&self) -> Result<(), Refusal> {
        for &(forbidden, tag, effect, option) in &FORBIDDEN {
            if self.value(forbidden).is_some() {
                return Err(Refusal::ForbiddenTag {
                    tag,
                    effect,
                    option,
                });
            }
        }
        if self.value(DT_FLAGS).unwrap_or(0) & DF_TEXTREL.0 != 0 {
            return Err(Refusal::ForbiddenTag {
                tag: "DF_TEXTREL",
                effect: CHANGES_CODE,
                option: "-z notext; build with -fPIC",
            });
        }
        let allowed = DF_1_NOW.0;
        let flags = self.value(DT_FLAGS_1).unwrap_or(0) & !allowed;
        if flags != 0 {
            return Err(Refusal::ForbiddenFlags {
                field: "DT_FLAGS_1",
                flags,
                allowed,
                option: "-z interpose, initfirst, nodelete and the like",
            });
        }
        self.check_unique()
    }

    /// The system loader takes the last of two equal tags, others the first.
    fn check_unique(&self) -> Result<(), Refusal> {
        let mut tags: Vec<i64> = self.entries.iter().map(|(tag, _)| tag.0).collect();
        tags.retain(|&tag| tag != DT_NEEDED.0);
        tags.sort_unstable();
        let mut pairs = tags.iter().zip(tags.iter().skip(1));
        match pairs.find(|(tag, next)| tag == next) {
            Some((&tag, _)) => Err(Refusal::TagTwice { tag }),
            None => Ok(()),
        }
    }

    /// Every value of a tag, in order.
    pub fn values(&self, tag: DynamicTag) -> impl Iterator<Item = u64> {
        let entries = self.entries.iter();
        entries
            .filter(move |(found, _)| *found == tag)
            .map(|(_, value)| *value)
    }

    /// The value of a tag.
    pub fn value(&self, tag: DynamicTag) -> Option<u64> {
        self.values(tag).next()
    }

    /// Whether any of `bytes` bytes at `address` belongs to the table.
    pub fn meets(&self, address: u64, bytes: u64) -> bool {
        let end = |address: u64, bytes| address.saturating_add(bytes);
        address < end(self.address, self.bytes) && self.address < end(address, bytes)
    }

    /// The names that other tables refer to.
    pub fn strings<'data>(&self, image: &Image<'data>) -> Result<Strings<'data>, Refusal> {
        const TABLE: &str = "string table";
        match (self.value(DT_STRTAB), self.value(DT_STRSZ)) {
            (Some(address), Some(bytes)) => Ok(Strings(image.table(TABLE, address, bytes)?)),
            _ => Err(Refusal::Table {
                table: TABLE,
                detail: "is missing",
            }),
        }
    }

    /// An entry's declared size is the one that both readers use.
    pub fn check_entry_size(
        &self,
        tag: DynamicTag,
        table: &'static str,
        bytes: u64,
    ) -> Result<(), Refusal> {
        match self.value(tag) {
            Some(found) if found != bytes => Err(Refusal::Table {
                table,
                detail: "has entries of another size",
            }),
            _ => Ok(()),
        }
    }
}

/// A string table.
#[derive(Clone, Copy)]
pub(super) struct Strings<'data>(&'data [u8]);

impl<'data> Strings<'data> {
    /// The bytes at `offset` up to the next zero.
    pub fn bytes(&self, offset: u64) -> Option<&'data [u8]> {
        let from = self.0.get(usize::try_from(offset).ok()?..)?;
        from.get(..from.iter().position(|&byte| byte == 0)?)
    }

    /// The same as text that is safe to print.
    pub fn text(&self, offset: u64) -> Result<&'data str, Refusal> {
        let text = self.bytes(offset).map(std::str::from_utf8);
        text.and_then(Result::ok).ok_or(Refusal::Table {
            table: "string table",
            detail: "has no such name, or one that is not UTF-8",
        })
    }
}
