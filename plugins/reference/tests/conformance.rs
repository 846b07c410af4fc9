//! The reference plugin against the conformance kit, through its C table.

use guild_plugin_reference::Reference;

#[test]
fn every_operation_passes_every_case() {
    let report = guild_conformance::run(guild_sdk::entry::<Reference>);
    assert!(report.failures().is_empty(), "{report}");
    assert!(report.declined().is_empty(), "{report}");
    assert_eq!(report.implementations().len(), 16, "{report}");
    for case in guild_conformance::case::all() {
        let id = case.op.name.replace("guild.core", "reference");
        assert!(report.passed(&id) > 0, "{id} ran nothing");
    }
}
