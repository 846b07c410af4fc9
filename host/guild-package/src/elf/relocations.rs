//! Relocations: what the system loader writes into a library while it loads it, before any check of the
//! loaded code. Kinds that only store an address are accepted, and only into the library's own data.

use object::LittleEndian;
use object::U64;
use object::elf::{
    DT_JMPREL, DT_PLTREL, DT_PLTRELSZ, DT_REL, DT_RELA, DT_RELACOUNT, DT_RELAENT, DT_RELASZ,
    DT_RELCOUNT, DT_RELENT, DT_RELR, DT_RELRENT, DT_RELRSZ, DT_RELSZ, DynamicTag, Rela64,
};
use object::read::ReadRef as _;

use crate::elf::dynamic::Dynamic;
use crate::elf::machine::RelocationKinds;
use crate::elf::refusal::Refusal;
use crate::elf::segments::Image;

const LE: LittleEndian = LittleEndian;
const TABLE: &str = "relocation table";
/// Bytes of a relocation, and of a packed one.
const RELA_BYTES: u64 = 24;
const RELR_BYTES: u64 = 8;
/// Tags of relocations without addends. No machine of ours has them, and the system loader takes that for granted: it ends
/// the process.
const WITHOUT_ADDENDS: [DynamicTag; 4] = [DT_REL, DT_RELSZ, DT_RELENT, DT_RELCOUNT];
/// Bytes that the widest kind writes.
const TARGET_BYTES: u64 = 8;
/// Words that one bitmap of packed relocations is about.
const BITMAP_WORDS: u64 = 63;

/// What relocations are judged by.
pub(super) struct Relocations<'a, 'data> {
    pub image: &'a Image<'data>,
    pub dynamic: &'a Dynamic,
    /// How many symbols were looked at.
    pub symbols: usize,
    pub kinds: &'static RelocationKinds,
}

impl Relocations<'_, '_> {
    /// Every relocation of every table.
    pub fn check(&self) -> Result<(), Refusal> {
        self.check_entries(DT_RELA, DT_RELAENT, RELA_BYTES)?;
        self.check_entries(DT_RELR, DT_RELRENT, RELR_BYTES)?;
        let mut without_addends = WITHOUT_ADDENDS.iter();
        if without_addends.any(|tag| self.dynamic.value(*tag).is_some()) {
            return Err(Refusal::table(TABLE, "has entries without addends"));
        }
        self.check_table(DT_RELA, DT_RELASZ)?;
        self.check_relative_count()?;
        let form = self.dynamic.value(DT_PLTREL).map(i64::try_from);
        match (form, self.dynamic.value(DT_JMPREL)) {
            (None, None) => {}
            (Some(Ok(form)), Some(_)) if form == DT_RELA.0 => {
                self.check_table(DT_JMPREL, DT_PLTRELSZ)?;
            }
            _ => return Err(Refusal::table(TABLE, "has entries of another form")),
        }
        self.check_packed()
    }

    /// Where there is a table the system loader reads the size of its entries, unasked.
    fn check_entries(
        &self,
        start: DynamicTag,
        size: DynamicTag,
        bytes: u64,
    ) -> Result<(), Refusal> {
        let is_there = |tag| self.dynamic.value(tag).is_some();
        if is_there(start) && !is_there(size) {
            return Err(Refusal::table(TABLE, "has entries of no known size"));
        }
        self.dynamic.check_entry_size(size, TABLE, bytes)
    }

    fn check_table(&self, start: DynamicTag, size: DynamicTag) -> Result<(), Refusal> {
        let table = self.table(start, size, RELA_BYTES)?;
        let table: &[Rela64<LittleEndian>] = records(table, RELA_BYTES)?;
        table.iter().try_for_each(|one| {
            let (symbol, kind) = (one.r_sym(LE, false), one.r_type(LE, false));
            self.check_one(one.r_offset.get(LE), symbol, kind.0)
        })
    }

    /// The system loader takes so many relocations from the front of the table for relative ones without looking at their
    /// kind, and doesn't ask whether the table has so many: the count must be true.
    fn check_relative_count(&self) -> Result<(), Refusal> {
        let Some(count) = self.dynamic.value(DT_RELACOUNT) else {
            return Ok(());
        };
        let table = self.table(DT_RELA, DT_RELASZ, RELA_BYTES)?;
        let table: &[Rela64<LittleEndian>] = records(table, RELA_BYTES)?;
        let counted = usize::try_from(count).ok();
        let counted = counted.and_then(|count| table.get(..count));
        let is_relative =
            |one: &Rela64<LittleEndian>| one.r_type(LE, false).0 == self.kinds.relative;
        match counted.is_some_and(|counted| counted.iter().all(is_relative)) {
            true => Ok(()),
            false => Err(Refusal::table(
                TABLE,
                "doesn't begin with the relative entries that it counts",
            )),
        }
    }

    fn check_one(&self, address: u64, symbol: u32, kind: u32) -> Result<(), Refusal> {
        if kind == self.kinds.irelative {
            return Err(Refusal::IndirectRelocation { address });
        }
        if kind == self.kinds.none {
            return Ok(());
        }
        if !self.kinds.accepted.contains(&kind) {
            return Err(Refusal::RelocationKind { address, kind });
        }
        if symbol as usize >= self.symbols.max(1) {
            let count = self.symbols;
            return Err(Refusal::RelocationSymbol {
                address,
                symbol,
                count,
            });
        }
        let bytes = match kind == self.kinds.descriptor {
            true => 2 * TARGET_BYTES,
            false => TARGET_BYTES,
        };
        self.check_target(address, bytes)
    }

    /// A relocation writes into the library's own data, and not into the table that directs the loader.
    fn check_target(&self, address: u64, bytes: u64) -> Result<(), Refusal> {
        let refused = |detail| Err(Refusal::RelocationTarget { address, detail });
        if !self.image.is_writable(address, bytes) {
            return refused("writes to what is not the library's own data");
        }
        match self.dynamic.meets(address, bytes) {
            true => refused("changes the dynamic table"),
            false => Ok(()),
        }
    }

    /// Packed relative relocations: an even entry is an address, an odd one a bitmap of the words after
    /// the last address.
    fn check_packed(&self) -> Result<(), Refusal> {
        let table = self.table(DT_RELR, DT_RELRSZ, RELR_BYTES)?;
        let table: &[U64<LittleEndian>] = records(table, RELR_BYTES)?;
        let mut next = None;
        for entry in table.iter().map(|entry| entry.get(LE)) {
            if entry & 1 == 0 {
                self.check_target(entry, TARGET_BYTES)?;
                next = entry.checked_add(TARGET_BYTES);
                continue;
            }
            let base =
                next.ok_or_else(|| Refusal::table(TABLE, "has a bitmap without an address"))?;
            for word in (0..BITMAP_WORDS).filter(|word| entry >> (word + 1) & 1 == 1) {
                let address = base.saturating_add(word * TARGET_BYTES);
                self.check_target(address, TARGET_BYTES)?;
            }
            next = base.checked_add(BITMAP_WORDS * TARGET_BYTES);
        }
        Ok(())
    }

    /// The bytes of a table that two tags describe; none if neither is there.
    fn table(&self, start: DynamicTag, size: DynamicTag, entry: u64) -> Result<&[u8], Refusal> {
        let (start, size) = (self.dynamic.value(start), self.dynamic.value(size));
        match (start, size) {
            (None, None | Some(0)) => Ok(&[]),
            (Some(address), Some(bytes)) if bytes % entry == 0 => {
                self.image.table(TABLE, address, bytes)
            }
            _ => Err(Refusal::table(
                TABLE,
                "has no place or no whole number of entries",
            )),
        }
    }
}

fn records<T: object::pod::Pod>(table: &[u8], bytes: u64) -> Result<&[T], Refusal> {
    let count = table.len() as u64 / bytes;
    let count = usize::try_from(count).map_err(|_| Refusal::table(TABLE, "is too long"))?;
    table
        .read_slice_at(0, count)
        .map_err(|()| Refusal::table(TABLE, "is outside the file"))
}
