//! The reference plugin against the conformance kit, through its C table.

use guild_conformance::Verdict;
use guild_plugin_reference::Reference;

#[test]
fn every_operation_passes_every_case() {
    let report = guild_conformance::run(guild_sdk::entry::<Reference>);
    assert!(report.failures().is_empty(), "{report}");
    // It reads weights in the file's layout alone.
    let packed = Verdict::Declined("reason 1: the weight is in a packed layout".to_owned());
    let mut declined = report.declined();
    declined.retain(|outcome| outcome.verdict != packed);
    assert!(declined.is_empty(), "{declined:#?}");
    assert_eq!(report.implementations().len(), 16, "{report}");
    for case in guild_conformance::case::all() {
        let id = case.op.name.replace("guild.core", "reference");
        assert!(report.passed(&id) > 0, "{id} ran nothing");
    }
}
