//! Host-owned copies of plugin tables. A copy lies on a read-only page of its own and lives as long as
//! the process, so neither a plugin nor a stray write can swap a function after it was checked.
#![allow(unsafe_code)]

use std::fmt;
use std::io;
use std::ops::Deref;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};

use crate::error::Fault;
use crate::record::Record;

/// A sealed copy of a plugin's table (`guild_plugin_v1`, `guild_runner_v1` or `guild_counters_v1`).
///
/// Any thread may read it. Whoever calls a function in it obeys the function's thread tag.
pub struct Table<T: 'static>(&'static T);

impl<T: Record> Table<T> {
    /// Copies `value` to a page of its own and makes the page read-only.
    ///
    /// # Errors
    /// `RESOURCE` without memory.
    pub(crate) fn seal(value: T) -> Result<Self, Fault> {
        let bytes = size_of::<T>();
        let no_memory = |error: rustix::io::Errno| Fault::Memory {
            bytes: bytes as u64,
            source: io::Error::from(error),
        };
        // SAFETY: a new mapping at an address of the kernel's choice replaces nothing. It starts at a
        // page, so it is aligned for `T`, and has at least `bytes` writable bytes. It is written before
        // it is protected, and never unmapped, so the reference is good for the life of the process.
        unsafe {
            let page = rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
            .map_err(no_memory)?;
            page.cast::<T>().write(value);
            rustix::mm::mprotect(page, bytes, MprotectFlags::READ).map_err(no_memory)?;
            Ok(Self(&*page.cast::<T>()))
        }
    }
}

impl<T> Table<T> {
    /// The table.
    #[must_use]
    pub fn get(self) -> &'static T {
        self.0
    }
}

impl<T> Clone for Table<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Table<T> {}

impl<T> Deref for Table<T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0
    }
}

impl<T> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({:p})", self.0)
    }
}

// SAFETY: only `Table::seal` makes one, and only of a `Record`: plain integers, function pointers and
// pointers that the host hands back to the plugin without following them. The bytes never change.
// Calling a function through it is a separate unsafe act, under the thread tag of that function.
unsafe impl<T> Send for Table<T> {}
// SAFETY: as above; shared access is reading of bytes that never change.
unsafe impl<T> Sync for Table<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use guild_abi::abi::guild_plugin_v1;

    /// The page really is read-only: the kernel refuses to write to it for us.
    #[test]
    fn a_sealed_table_cannot_be_written() {
        let mut table = crate::record::blank::<guild_plugin_v1>();
        table.op_count = 7;
        let sealed = Table::seal(table).unwrap();
        assert_eq!(sealed.op_count, 7);
        let text = std::fs::read_to_string("/proc/self/maps").unwrap();
        let address = format!("{:x}-", std::ptr::from_ref(sealed.get()) as usize);
        let line = text
            .lines()
            .find(|line| line.starts_with(&address))
            .unwrap();
        assert!(line.contains(" r--p "), "{line}");
    }
}
