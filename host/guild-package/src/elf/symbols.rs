//! Dynamic symbols: what others can look up in a library, and what of it would run at once.
//!
//! The dynamic table does not say how many there are. The hash tables do, by which they are looked up.

use object::LittleEndian;
use object::elf::{
    DT_GNU_HASH, DT_HASH, DT_SYMENT, DT_SYMTAB, SHN_UNDEF, STB_LOCAL, STT_FUNC, STT_GNU_IFUNC,
    STV_DEFAULT, STV_PROTECTED, Sym64,
};
use object::read::ReadRef as _;
use object::read::elf::Sym as _;
use object::{U32, pod::Pod};

use crate::elf::dynamic::{Dynamic, Strings};
use crate::elf::refusal::Refusal;
use crate::elf::segments::Image;
use crate::text::escape;

const LE: LittleEndian = LittleEndian;
const HASH_TABLE: &str = "symbol hash table";
const SYMBOL_TABLE: &str = "symbol table";
/// What may be wrong with either.
const ASTRAY: &str = "is outside the file or leads outside itself";
/// Bytes of one symbol.
const SYMBOL_BYTES: u64 = 24;

type Symbol = Sym64<LittleEndian>;
type Word = U32<LittleEndian>;

/// The dynamic symbols of a library.
pub(super) struct Symbols<'data> {
    table: &'data [Symbol],
    strings: Strings<'data>,
}

impl<'data> Symbols<'data> {
    /// Finds the table and how long it is.
    pub fn parse(image: &Image<'data>, dynamic: &Dynamic) -> Result<Self, Refusal> {
        dynamic.check_entry_size(DT_SYMENT, SYMBOL_TABLE, SYMBOL_BYTES)?;
        let sysv = dynamic.value(DT_HASH).map(|address| {
            let bytes = image.table_from(HASH_TABLE, address)?;
            sysv_count(bytes).ok_or(Refusal::table(HASH_TABLE, ASTRAY))
        });
        let gnu = dynamic.value(DT_GNU_HASH).map(|address| {
            let bytes = image.table_from(HASH_TABLE, address)?;
            gnu_count(bytes).ok_or(Refusal::table(HASH_TABLE, ASTRAY))
        });
        // Of two tables the system loader uses one; a symbol that either can reach is looked at.
        let count = sysv.transpose()?.max(gnu.transpose()?).unwrap_or(0);
        let bytes = (count as u64).saturating_mul(SYMBOL_BYTES);
        let address = dynamic.value(DT_SYMTAB).unwrap_or(0);
        let table = image.table(SYMBOL_TABLE, address, bytes)?;
        Ok(Self {
            table: slice(table, 0, count).ok_or(Refusal::table(SYMBOL_TABLE, ASTRAY))?,
            strings: dynamic.strings(image)?,
        })
    }

    /// How many there are.
    pub const fn count(&self) -> usize {
        self.table.len()
    }

    /// Others see the function `entry` and nothing else, and no symbol runs code when it is looked up.
    pub fn check(&self, entry: &'static str) -> Result<(), Refusal> {
        let named = |symbol: &&Symbol| self.name(symbol) == Some(entry.as_bytes());
        let mut entries = self.table.iter().filter(|symbol| is_exported(symbol));
        let is_entry = |symbol: &&Symbol| symbol.st_type() == STT_FUNC && named(symbol);
        if !entries.any(|symbol| is_entry(&symbol)) {
            return Err(Refusal::EntryMissing { symbol: entry });
        }
        let indirect = |symbol: &&Symbol| symbol.st_type() == STT_GNU_IFUNC;
        if let Some(symbol) = self.table.iter().find(indirect) {
            let symbol = self.printable(symbol);
            return Err(Refusal::IndirectFunction { symbol });
        }
        let exported = self.table.iter().filter(|symbol| is_exported(symbol));
        // A second symbol of the entry's name is one too many as well.
        let (entries, others): (Vec<_>, Vec<_>) = exported.partition(is_entry);
        match others.first().or(entries.get(1)) {
            Some(symbol) => Err(Refusal::ExtraExport {
                symbol: self.printable(symbol),
            }),
            None => Ok(()),
        }
    }

    fn name(&self, symbol: &Symbol) -> Option<&'data [u8]> {
        self.strings.bytes(u64::from(symbol.st_name(LE)))
    }

    fn printable(&self, symbol: &Symbol) -> String {
        let name = self.name(symbol).unwrap_or(b"a symbol without a name");
        escape(&String::from_utf8_lossy(name))
    }
}

/// It is defined here, and others may see it.
fn is_exported(symbol: &Symbol) -> bool {
    symbol.st_shndx(LE) != SHN_UNDEF
        && symbol.st_bind() != STB_LOCAL
        && [STV_DEFAULT, STV_PROTECTED].contains(&symbol.st_visibility())
}

/// Symbols by the older table: `nchain`. The system loader follows buckets and chains without a bound, so
/// none may lead beyond it.
fn sysv_count(table: &[u8]) -> Option<usize> {
    let header: &[Word] = slice(table, 0, 2)?;
    let buckets = header.first()?.get(LE);
    let symbols = header.get(1)?.get(LE) as usize;
    let links = (buckets as usize).checked_add(symbols)?;
    let links: &[Word] = slice(table, 8, links)?;
    let all_known = links.iter().all(|link| (link.get(LE) as usize) < symbols);
    (buckets > 0 && all_known).then_some(symbols)
}

/// Symbols by the newer table: one more than the last of the last chain.
fn gnu_count(table: &[u8]) -> Option<usize> {
    let header: &[Word] = slice(table, 0, 4)?;
    let [buckets, first, bloom] = [0, 1, 2].map(|at| header.get(at).map(|word| word.get(LE)));
    let (buckets, first, bloom) = (buckets?, first?, bloom?);
    let at = 16_u64.checked_add(u64::from(bloom).checked_mul(8)?)?;
    let starts: &[Word] = slice(table, at, buckets as usize)?;
    let used = |start: &&Word| start.get(LE) != 0;
    // Before the first hashed symbol there is no chain.
    if starts.is_empty()
        || starts
            .iter()
            .filter(used)
            .any(|start| start.get(LE) < first)
    {
        return None;
    }
    let Some(last) = starts
        .iter()
        .map(|start| start.get(LE))
        .max()
        .filter(|&last| last > 0)
    else {
        return Some(first as usize);
    };
    let chains = at.checked_add(u64::from(buckets).checked_mul(4)?)?;
    let chains = table.get(usize::try_from(chains).ok()?..)?;
    let chain: &[Word] = slice(chains, 0, chains.len() / 4)?;
    let chain = chain.get((last - first) as usize..)?;
    let steps = chain.iter().position(|hash| hash.get(LE) & 1 == 1)?;
    (last as usize).checked_add(steps)?.checked_add(1)
}

/// `count` records of a table from byte `offset` on.
fn slice<T: Pod>(table: &[u8], offset: u64, count: usize) -> Option<&[T]> {
    table.read_slice_at(offset, count).ok()
}
