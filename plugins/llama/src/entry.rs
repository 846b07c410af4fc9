//! The entry of `llama.c`, under the name that the build script gave it.
#![allow(unsafe_code)]

use guild_abi::abi::{guild_err, guild_host_v1, guild_plugin_v1, guild_status};

unsafe extern "C" {
    /// The plugin's entry, as `guild/abi.h` declares it.
    ///
    /// # Safety
    /// All three are valid for the call, `host` until `shutdown` returns.
    pub fn guild_llama_plugin_entry_v1(
        host: *const guild_host_v1,
        out: *mut guild_plugin_v1,
        err: *mut guild_err,
    ) -> guild_status;
}
