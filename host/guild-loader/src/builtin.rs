//! Plugins that are linked into the host. They pass the same negotiation as installed ones.
#![allow(unsafe_code)]

use crate::call::EntryFn;

/// A plugin that is linked into the host.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    id: &'static str,
    entry: EntryFn,
}

impl Builtin {
    /// Names a linked plugin by its package id, without `builtin.`, and its entry.
    ///
    /// # Safety
    /// `entry` is the entry of a plugin that obeys the ABI (`docs/abi.md`), as the SDK's export macro
    /// makes it.
    #[must_use]
    pub const unsafe fn new(id: &'static str, entry: EntryFn) -> Self {
        Self { id, entry }
    }

    /// The package id without `builtin.`.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// The entry.
    pub(crate) const fn entry(&self) -> EntryFn {
        self.entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Fault;
    use crate::load::{LeftOutReason, LoadOptions, load_builtins, register_builtin};
    use crate::registry::{Origin, Registry};
    use guild_abi::abi::{
        GUILD_CLASS_EXACT, GUILD_PHASE_DECODE, GUILD_STATUS_ERR_INTERNAL, GUILD_STATUS_OK,
        guild_err, guild_execute_fn, guild_host_v1, guild_op_desc, guild_op_req, guild_plugin_v1,
        guild_refusal, guild_status, guild_str, guild_stream,
    };
    use guild_abi::contract::{ADD, SWIGLU};
    use guild_abi::text::write_error;
    use std::ffi::c_void;

    const ID: &str = "org.test.linked";

    /// A linked plugin with two operations.
    ///
    /// # Safety
    /// As the ABI says.
    unsafe extern "C" fn entry(
        _: *const guild_host_v1,
        out: *mut guild_plugin_v1,
        _: *mut guild_err,
    ) -> guild_status {
        // SAFETY: the host gives an exclusive table.
        let out = unsafe { &mut *out };
        out.id = guild_str::new(ID);
        out.version = guild_str::new("2.0.0");
        out.op_count = 2;
        out.describe = Some(describe);
        out.supports = Some(supports);
        out.create = Some(create);
        out.prepare = Some(prepare);
        out.destroy = Some(destroy);
        GUILD_STATUS_OK
    }

    /// # Safety
    /// As the ABI says.
    unsafe extern "C" fn describe(
        _: *mut c_void,
        index: u32,
        out: *mut guild_op_desc,
        _: *mut guild_err,
    ) -> guild_status {
        let core = if index == 0 { ADD } else { SWIGLU };
        // SAFETY: the host gives an exclusive description.
        let out = unsafe { &mut *out };
        out.name = guild_str::new(core.name);
        out.implementation = guild_str::new("linked.one");
        (out.op_min, out.op_max) = (1, 1);
        out.contract = core.hash;
        out.phases = GUILD_PHASE_DECODE;
        out.exactness = GUILD_CLASS_EXACT;
        GUILD_STATUS_OK
    }

    /// # Safety
    /// Never called.
    unsafe extern "C" fn supports(
        _: *mut c_void,
        _: u32,
        _: *const guild_op_req,
        _: *mut guild_refusal,
    ) -> guild_status {
        GUILD_STATUS_ERR_INTERNAL
    }

    /// # Safety
    /// Never called.
    unsafe extern "C" fn create(
        _: *mut c_void,
        _: u32,
        _: *const guild_op_req,
        _: *mut *mut c_void,
        _: *mut guild_err,
    ) -> guild_status {
        GUILD_STATUS_ERR_INTERNAL
    }

    /// # Safety
    /// Never called.
    unsafe extern "C" fn prepare(
        _: *mut c_void,
        _: *mut c_void,
        _: *const guild_stream,
        _: *mut guild_execute_fn,
        _: *mut guild_err,
    ) -> guild_status {
        GUILD_STATUS_ERR_INTERNAL
    }

    /// # Safety
    /// Never called.
    unsafe extern "C" fn destroy(_: *mut c_void, _: *mut c_void) {}

    /// # Safety
    /// As the ABI says.
    unsafe extern "C" fn refusing_entry(
        _: *const guild_host_v1,
        _: *mut guild_plugin_v1,
        err: *mut guild_err,
    ) -> guild_status {
        // SAFETY: the host gives a live error buffer.
        unsafe { write_error(err, GUILD_STATUS_ERR_INTERNAL, format_args!("not here")) };
        GUILD_STATUS_ERR_INTERNAL
    }

    fn builtin(id: &'static str, entry: EntryFn) -> Builtin {
        // SAFETY: both entries of this file obey the ABI.
        unsafe { Builtin::new(id, entry) }
    }

    #[test]
    fn a_linked_plugin_is_registered_under_its_builtin_name() {
        let mut registry = Registry::default();
        register_builtin(&mut registry, &builtin(ID, entry)).unwrap();
        let add: Vec<_> = registry.operations("guild.core.add", 1).collect();
        assert_eq!(add.len(), 1);
        assert_eq!(add[0].package.id, "builtin.org.test.linked");
        assert_eq!(add[0].package.version, "2.0.0");
        assert_eq!(add[0].package.digest, None);
        assert_eq!(add[0].package.origin, Origin::Builtin);
        assert_eq!(registry.all_operations().count(), 2);
    }

    #[test]
    fn a_linked_plugin_passes_the_same_checks() {
        let mut registry = Registry::default();
        let error = register_builtin(&mut registry, &builtin("org.test.other", entry)).unwrap_err();
        assert!(
            matches!(*error.fault, Fault::IdentityMismatch { .. }),
            "{error}"
        );
        let error = register_builtin(&mut registry, &builtin(ID, refusing_entry)).unwrap_err();
        assert_eq!(error.package, "builtin.org.test.linked");
        assert!(
            error.to_string().ends_with("status -6: not here"),
            "{error}"
        );
        assert_eq!(registry.packages().count(), 0);
    }

    #[test]
    fn options_leave_linked_plugins_out_and_say_why() {
        let reason = |external_only, disabled: &[&str]| {
            let loaded = load_builtins(&LoadOptions {
                external_only,
                builtins: vec![builtin(ID, entry)],
                disabled_builtins: disabled.iter().map(|id| (*id).to_owned()).collect(),
                ..LoadOptions::default()
            })
            .unwrap();
            let left_out = loaded.left_out().first();
            assert_ne!(
                left_out.is_some(),
                loaded.registry().packages().count() == 1
            );
            left_out.map(|left_out| left_out.reason)
        };
        assert_eq!(reason(false, &[]), None);
        assert_eq!(reason(true, &[]), Some(LeftOutReason::ExternalOnly));
        assert_eq!(reason(false, &[ID]), Some(LeftOutReason::SwitchedOff));
        assert_eq!(reason(false, &["org.test"]), None);
    }
}
