//! The host's side of the wall: the `guild_host_v1` that a plugin's entry gets.
//!
//! Each plugin gets a table of its own, so that log lines name the package. Table and context live as
//! long as the process, since a plugin may keep them.
#![allow(unsafe_code)]

use std::alloc::Layout;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use guild_abi::abi::{
    GUILD_ABI_MINOR, GUILD_ABI_MINOR_FLOOR, GUILD_KIND_HOST, GUILD_LOG_ERROR, GUILD_LOG_INFO,
    GUILD_LOG_WARN, guild_hdr, guild_host_v1, guild_str,
};
use guild_abi::formats::guild_formats_v1;
use guild_package::text::escape;

use crate::formats;

/// What the host's functions know about their caller.
struct Context {
    package: String,
}

/// A host table for `package` (`id@version`), kept for the life of the process.
pub(crate) fn host_table(package: &str) -> &'static guild_host_v1 {
    let context: &'static Context = Box::leak(Box::new(Context {
        package: package.to_owned(),
    }));
    Box::leak(Box::new(guild_host_v1 {
        h: guild_hdr::new(size_of::<guild_host_v1>(), GUILD_KIND_HOST),
        abi_minor: GUILD_ABI_MINOR,
        abi_minor_floor: GUILD_ABI_MINOR_FLOOR,
        caps: [0; 2],
        ctx: std::ptr::from_ref(context).cast_mut().cast(),
        log: Some(log),
        alloc: Some(alloc),
        free: Some(free),
        get_extension: Some(get_extension),
        reserved: [0; 8],
    }))
}

/// # Safety
/// `ctx` is a `Context` of this file, as every host table that a plugin gets has it.
unsafe fn package_of<'a>(ctx: *mut c_void) -> &'a str {
    // SAFETY: the caller promises a leaked `Context`, which is never written.
    unsafe { ctx.cast::<Context>().as_ref() }.map_or("unknown", |context| &context.package)
}

/// # Safety
/// The plugin's duty: `ctx` comes from its host table, `message` is readable during the call.
unsafe extern "C" fn log(ctx: *mut c_void, level: u32, message: guild_str) {
    // SAFETY: the plugin promises both.
    let (package, message) = unsafe { (package_of(ctx), message.as_str()) };
    let message = escape(message.unwrap_or("(text that is not UTF-8)"));
    // A subscriber is foreign code; if it panics, the line is lost and the plugin goes on.
    let _ = catch_unwind(AssertUnwindSafe(|| match level {
        GUILD_LOG_ERROR => tracing::error!(target: "guild::plugin", package, "{message}"),
        GUILD_LOG_WARN => tracing::warn!(target: "guild::plugin", package, "{message}"),
        GUILD_LOG_INFO => tracing::info!(target: "guild::plugin", package, "{message}"),
        _ => tracing::debug!(target: "guild::plugin", package, "{message}"),
    }));
}

/// # Safety
/// None beyond the types: every value of the arguments is answered.
unsafe extern "C" fn alloc(_: *mut c_void, bytes: u64, align: u64, _tag: u32) -> *mut c_void {
    match layout(bytes, align) {
        // SAFETY: `layout` never gives a size of zero.
        Some(layout) => unsafe { std::alloc::alloc(layout) }.cast(),
        None => std::ptr::null_mut(),
    }
}

/// # Safety
/// The plugin's duty: `ptr` is null or came from `alloc` with the same `bytes` and `align`, and is used
/// no more.
unsafe extern "C" fn free(_: *mut c_void, ptr: *mut c_void, bytes: u64, align: u64) {
    if let (Some(layout), false) = (layout(bytes, align), ptr.is_null()) {
        // SAFETY: the plugin promises that this pointer came from `alloc` with this layout.
        unsafe { std::alloc::dealloc(ptr.cast(), layout) };
    }
}

/// The layout of a request; `None` for an alignment or a size that no allocation can have.
fn layout(bytes: u64, align: u64) -> Option<Layout> {
    let bytes = usize::try_from(bytes.max(1)).ok()?;
    Layout::from_size_align(bytes, usize::try_from(align).ok()?).ok()
}

/// # Safety
/// The plugin's duty: `id` is readable during the call.
unsafe extern "C" fn get_extension(_: *mut c_void, id: guild_str) -> *const c_void {
    static FORMATS: Shared<guild_formats_v1> = Shared(formats::TABLE);
    // SAFETY: the plugin promises `len` readable bytes.
    match unsafe { id.as_str() } {
        Some(formats::ID) => (&raw const FORMATS.0).cast(),
        _ => std::ptr::null(),
    }
}

struct Shared<T>(T);

// SAFETY: the one value is a constant whose context pointer is null and whose functions take any thread.
unsafe impl Sync for Shared<guild_formats_v1> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_impossible_requests_give_null() {
        let host = host_table("org.test@1.0.0");
        let (alloc, free) = (host.alloc.unwrap(), host.free.unwrap());
        for (bytes, align) in [(0, 1), (1, 4096), (100, 64)] {
            // SAFETY: every request is answered; what it gave is freed with the same layout.
            unsafe {
                let ptr = alloc(host.ctx, bytes, align, 0);
                assert!(!ptr.is_null() && ptr.addr() % align as usize == 0);
                free(host.ctx, ptr, bytes, align);
            }
        }
        for (bytes, align) in [
            (8, 0),
            (8, 3),
            (u64::MAX, 8),
            (8, 1 << 63),
            (1 << 62, 1 << 62),
        ] {
            // SAFETY: every request is answered.
            let ptr = unsafe { alloc(host.ctx, bytes, align, 0) };
            assert!(ptr.is_null(), "{bytes} aligned to {align}");
        }
        // SAFETY: null is allowed.
        unsafe { free(host.ctx, std::ptr::null_mut(), 8, 8) };
    }

    #[test]
    fn only_known_extensions_are_given() {
        let host = host_table("org.test@1.0.0");
        let get = |id| {
            // SAFETY: the text lives during the call.
            unsafe { host.get_extension.unwrap()(host.ctx, guild_str::new(id)) }
        };
        assert!(!get("guild.formats/1").is_null());
        for other in ["guild.formats/2", "guild.ops/1", "guild.formats/1\0", ""] {
            assert!(get(other).is_null(), "{other:?}");
        }
    }
}
