//! The current types and the v1 snapshot are the same to `abi_stable`'s layout checker.

use abi_stable::{
    StableAbi, abi_stability::abi_checking::check_layout_compatibility, type_layout::TypeLayout,
};
use guild_abi_layout::{
    changed_argument, changed_field, changed_name, changed_size, current, snapshot_v1,
};

/// Checks in both directions, since the checker lets the second type have more than the first.
fn compare(now: &'static TypeLayout, then: &'static TypeLayout) -> Result<(), String> {
    for (first, second) in [(now, then), (then, now)] {
        check_layout_compatibility(first, second).map_err(|error| error.to_string())?;
    }
    Ok(())
}

macro_rules! same {
    ($($test:ident: $($path:ident)::+;)+) => {$(
        #[test]
        fn $test() {
            if let Err(error) = compare(
                current::$($path)::+::LAYOUT,
                snapshot_v1::$($path)::+::LAYOUT,
            ) {
                panic!(
                    "{} differs from snapshot/v1; after v1 is frozen that is an ABI break\n{error}",
                    stringify!($($path)::+)
                );
            }
        }
    )+};
}

same! {
    entry: abi::guild_plugin_entry_fn;
    host: abi::guild_host_v1;
    plugin: abi::guild_plugin_v1;
    exec: abi::guild_exec;
    scratch_slot: abi::guild_scratch_slot;
    formats: formats::guild_formats_v1;
    runner: runner::guild_runner_v1;
    ops: ops::guild_ops_v1;
    device: device::guild_device_v1;
    launch: device::guild_launch;
    counters: counters::guild_counters_v1;
    norm_params: core_ops::guild_norm_params;
    rope_params: core_ops::guild_rope_params;
    attention_params: core_ops::guild_attention_params;
    conv_params: core_ops::guild_conv_params;
    delta_params: core_ops::guild_delta_params;
    route_params: core_ops::guild_route_params;
    experts_params: core_ops::guild_experts_params;
}

#[test]
fn changes_deep_inside_are_seen_from_the_entry() {
    let then = snapshot_v1::abi::guild_plugin_entry_fn::LAYOUT;
    for (change, now) in [
        (
            "type of a field",
            changed_field::abi::guild_plugin_entry_fn::LAYOUT,
        ),
        (
            "name of a field",
            changed_name::abi::guild_plugin_entry_fn::LAYOUT,
        ),
        (
            "type of an argument",
            changed_argument::abi::guild_plugin_entry_fn::LAYOUT,
        ),
        (
            "number of fields",
            changed_size::abi::guild_plugin_entry_fn::LAYOUT,
        ),
    ] {
        assert!(
            compare(now, then).is_err(),
            "{change}: the checker saw no difference"
        );
    }
}
