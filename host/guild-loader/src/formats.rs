//! Host extension `guild.formats/1`: numbers and block sizes of element formats by name.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::offset_of;

use guild_abi::abi::{
    GUILD_KIND_EXTENSION, GUILD_STATUS_ERR_INVALID, GUILD_STATUS_ERR_NOT_FOUND, GUILD_STATUS_OK,
    guild_hdr, guild_quant, guild_status, guild_str,
};
use guild_abi::formats::guild_formats_v1;
use guild_sdk::format::{fixed_format, fixed_formats};

/// The extension's id.
pub(crate) const ID: &str = "guild.formats/1";

/// The extension's table; it needs no context.
pub(crate) const TABLE: guild_formats_v1 = guild_formats_v1 {
    h: guild_hdr::new(size_of::<guild_formats_v1>(), GUILD_KIND_EXTENSION),
    ctx: std::ptr::null_mut(),
    number: Some(number),
    describe: Some(describe),
    reserved: [0; 3],
};

/// Bytes of a `guild_quant` that this function fills.
const DESCRIBED_BYTES: u32 = offset_of!(guild_quant, axis) as u32;

/// # Safety
/// The plugin's duty: `name` is readable, `number` is null or writable.
unsafe extern "C" fn number(_: *mut c_void, name: guild_str, number: *mut u32) -> guild_status {
    // SAFETY: the plugin promises `len` readable bytes during the call.
    let name = unsafe { name.as_str() };
    let (Some(name), false) = (name, number.is_null()) else {
        return GUILD_STATUS_ERR_INVALID;
    };
    match fixed_formats().find(|format| format.ggml_name == name) {
        Some(format) => {
            // SAFETY: not null, and the plugin promises that it is writable.
            unsafe { number.write(format.number) };
            GUILD_STATUS_OK
        }
        None => GUILD_STATUS_ERR_NOT_FOUND,
    }
}

/// # Safety
/// The plugin's duty: `out` is null or points to a `guild_quant` of `out->size` writable bytes.
unsafe extern "C" fn describe(_: *mut c_void, number: u32, out: *mut guild_quant) -> guild_status {
    // SAFETY: `size` is the first field of whatever version of the struct this is.
    if out.is_null() || unsafe { (*out).size } < DESCRIBED_BYTES {
        return GUILD_STATUS_ERR_INVALID;
    }
    match fixed_format(number) {
        Some(format) => {
            // SAFETY: the three fields end at `DESCRIBED_BYTES`, which `size` covers.
            unsafe {
                (*out).format = format.number;
                (*out).block_elems = format.storage.block_elems as u32;
                (*out).block_bytes = format.storage.block_bytes as u32;
            }
            GUILD_STATUS_OK
        }
        None => GUILD_STATUS_ERR_NOT_FOUND,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number_of(name: &str) -> Result<u32, guild_status> {
        let mut found = 0;
        // SAFETY: both arguments live during the call.
        match unsafe { number(std::ptr::null_mut(), guild_str::new(name), &raw mut found) } {
            GUILD_STATUS_OK => Ok(found),
            status => Err(status),
        }
    }

    #[test]
    fn names_lead_to_numbers_and_numbers_to_block_sizes() {
        assert_eq!(number_of("ggml.q6_K"), Ok(20));
        assert_eq!(number_of("ggml.q6_k"), Err(GUILD_STATUS_ERR_NOT_FOUND));
        // SAFETY: zeros are a value of this struct.
        let mut quant = unsafe { std::mem::zeroed::<guild_quant>() };
        quant.size = size_of::<guild_quant>() as u32;
        // SAFETY: a live struct with its size.
        let status = unsafe { describe(std::ptr::null_mut(), 20, &raw mut quant) };
        assert_eq!(status, GUILD_STATUS_OK);
        assert_eq!((quant.block_elems, quant.block_bytes), (256, 210));
        // SAFETY: as above.
        let status = unsafe { describe(std::ptr::null_mut(), 99, &raw mut quant) };
        assert_eq!(status, GUILD_STATUS_ERR_NOT_FOUND);
        quant.size = 8;
        // SAFETY: as above.
        let status = unsafe { describe(std::ptr::null_mut(), 20, &raw mut quant) };
        assert_eq!(status, GUILD_STATUS_ERR_INVALID);
    }
}
