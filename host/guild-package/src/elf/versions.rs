//! Libraries that a plugin needs, and which versions of their symbols.
//!
//! The process has these libraries already, so nothing is searched for when a plugin asks for them. A
//! version above the ceiling would make a package load on its author's machine and on no other.

use std::collections::BTreeSet;

use object::LittleEndian;
use object::elf::{
    DT_NEEDED, DT_VERDEF, DT_VERNEED, DT_VERNEEDNUM, DT_VERSYM, VER_NDX_GLOBAL, VER_NDX_LOCAL,
    Vernaux, Verneed,
};
use object::read::ReadRef as _;

use crate::elf::dynamic::{Dynamic, Strings};
use crate::elf::refusal::Refusal;
use crate::elf::segments::Image;
use crate::text::escape;

const LE: LittleEndian = LittleEndian;
const TABLE: &str = "table of needed versions";
/// The bits of a symbol's version that are its number; the highest one hides the symbol.
const VERSION_NUMBER: u16 = 0x7fff;
/// Records of that table that are looked at; a plugin has about ten.
const RECORDS_MAX: usize = 4096;

/// Libraries that a plugin may ask the system loader for: the C runtime, which this process has too.
pub const SYSTEM_LIBRARIES: [&str; 6] = [
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
];

/// The newest version of the C library that a plugin may need: that of the oldest system on which guild
/// runs, Debian 12.
pub const GLIBC_CEILING: &str = "GLIBC_2.36";
/// The same as numbers.
const CEILING: (u32, u32) = (2, 36);
/// How versions of the C library begin.
const GLIBC_PREFIX: &str = "GLIBC_";
/// Says that the C library must know packed relocations, as each has since 2.36.
const PACKED_RELOCATIONS: &str = "GLIBC_ABI_DT_RELR";

/// The libraries and versions that the plugin needs are ones that every host has.
pub(super) fn check(image: &Image<'_>, dynamic: &Dynamic, symbols: usize) -> Result<(), Refusal> {
    let strings = dynamic.strings(image)?;
    for offset in dynamic.values(DT_NEEDED) {
        let library = strings.text(offset)?;
        if !SYSTEM_LIBRARIES.contains(&library) {
            let library = escape(library);
            return Err(Refusal::ForeignLibrary { library });
        }
    }
    if dynamic.value(DT_VERDEF).is_some() {
        return Err(Refusal::table(
            TABLE,
            "stands beside one of versions that the library has itself",
        ));
    }
    let mut declared = BTreeSet::from([VER_NDX_LOCAL.0, VER_NDX_GLOBAL.0]);
    match (dynamic.value(DT_VERNEED), dynamic.value(DT_VERNEEDNUM)) {
        (None, None | Some(0)) => {}
        (Some(address), Some(count)) => {
            let table = image.table_from(TABLE, address)?;
            if check_libraries(table, strings, &mut declared)? != count {
                return Err(Refusal::table(TABLE, "has another length than it says"));
            }
        }
        _ => return Err(Refusal::table(TABLE, "has no place or no length")),
    }
    match dynamic.value(DT_VERSYM) {
        Some(address) => check_symbols(image, address, symbols, &declared),
        None => Ok(()),
    }
}

/// Each symbol has a version that is declared: the system loader looks it up by this number, unasked.
fn check_symbols(
    image: &Image<'_>,
    address: u64,
    symbols: usize,
    declared: &BTreeSet<u16>,
) -> Result<(), Refusal> {
    let table = image.table(TABLE, address, 2 * symbols as u64)?;
    let (versions, _) = table.as_chunks::<2>();
    let is_declared =
        |version: &[u8; 2]| declared.contains(&(u16::from_le_bytes(*version) & VERSION_NUMBER));
    match versions.iter().all(is_declared) {
        true => Ok(()),
        false => Err(Refusal::table(TABLE, "lacks the version of a symbol")),
    }
}

/// Each library's record; gives how many there are. Records lead forward only, so this ends.
fn check_libraries(
    table: &[u8],
    strings: Strings<'_>,
    declared: &mut BTreeSet<u16>,
) -> Result<u64, Refusal> {
    let mut at = 0_u64;
    let mut count = 0;
    // Each library may lead to the same versions, so it is their number that is limited.
    let mut left = RECORDS_MAX;
    loop {
        let record: &Verneed<LittleEndian> = read(table, at)?;
        count += 1;
        let library = strings.text(u64::from(record.vn_file.get(LE)))?;
        let versions = at.saturating_add(u64::from(record.vn_aux.get(LE)));
        left = check_versions(table, versions, left, |record| {
            declared.insert(record.vna_other.get(LE).0 & VERSION_NUMBER);
            check_version(library, strings.text(u64::from(record.vna_name.get(LE)))?)
        })?;
        match record.vn_next.get(LE) {
            0 => return Ok(count),
            next => at = at.saturating_add(forward(next)?),
        }
    }
}

/// Hands each version of one library to `check`; gives how many records may still follow.
fn check_versions(
    table: &[u8],
    mut at: u64,
    left: usize,
    mut check: impl FnMut(&Vernaux<LittleEndian>) -> Result<(), Refusal>,
) -> Result<usize, Refusal> {
    for left in (0..left).rev() {
        let record: &Vernaux<LittleEndian> = read(table, at)?;
        check(record)?;
        match record.vna_next.get(LE) {
            0 => return Ok(left),
            next => at = at.saturating_add(forward(next)?),
        }
    }
    Err(Refusal::table(TABLE, "is too long"))
}

fn check_version(library: &str, version: &str) -> Result<(), Refusal> {
    if !version.starts_with(GLIBC_PREFIX) || is_old_enough(version) {
        return Ok(());
    }
    Err(Refusal::LibraryVersion {
        library: escape(library),
        version: escape(version),
        ceiling: GLIBC_CEILING,
    })
}

/// Whether a version of the C library is at most the ceiling. Private versions belong to one build of it.
fn is_old_enough(version: &str) -> bool {
    if version == PACKED_RELOCATIONS {
        return true;
    }
    let numbers = version.strip_prefix(GLIBC_PREFIX).unwrap_or_default();
    let mut numbers = numbers.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => {
            (major, minor) <= CEILING && numbers.all(|number| number.is_ok())
        }
        _ => false,
    }
}

/// A step to the next record. A shorter one than a record could lead through the same bytes many times.
fn forward(step: u32) -> Result<u64, Refusal> {
    match step >= 16 {
        true => Ok(u64::from(step)),
        false => Err(Refusal::table(TABLE, "leads into itself")),
    }
}

fn read<T: object::pod::Pod>(table: &[u8], at: u64) -> Result<&T, Refusal> {
    table
        .read_at(at)
        .map_err(|()| Refusal::table(TABLE, "is outside the file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for accepted in [
            "GLIBC_2.2.5",
            "GLIBC_2.9",
            "GLIBC_2.36",
            "GLIBC_1.99",
            PACKED_RELOCATIONS,
        ] {
            assert!(is_old_enough(accepted), "{accepted}");
        }
        for refused in [
            "GLIBC_2.37",
            "GLIBC_2.100",
            "GLIBC_3.0",
            "GLIBC_PRIVATE",
            "GLIBC_",
            "GLIBC_2",
            "GLIBC_2.x",
            "GLIBC_2.2.x",
            "GLIBC_99999999999.1",
        ] {
            assert!(!is_old_enough(refused), "{refused}");
        }
        assert_eq!(GLIBC_CEILING, format!("GLIBC_{}.{}", CEILING.0, CEILING.1));
    }
}
