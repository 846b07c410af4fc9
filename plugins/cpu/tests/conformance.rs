//! Every kernel against the oracle, for every instruction set of this machine.

use guild_conformance::{Verdict, case};
use guild_plugin_cpu::detect::{Detected, IsaName};
use guild_plugin_cpu::{kernels, plugin};
use guild_sdk::abi::contract::{CORE_OPS, LINEAR, ROPE};
use guild_sdk::abi::formats::GUILD_FORMAT_BF16;
use guild_sdk::{Plugin, PluginSource, entry};

/// The registers after which a pool is named that a plan must ask for; none of another implementation.
fn pool(id: &str) -> Option<&str> {
    let pool = id.strip_prefix("cpu.expert_pool.")?;
    let (kind, set) = pool.split_once('.')?;
    ["fused", "interleaved"].contains(&kind).then_some(set)
}

/// A plugin that is forced to one set; the pools that use its registers are there too.
macro_rules! forced {
    ($test:ident, $source:ident, $name:ident, $pool:literal) => {
        struct $source;

        impl PluginSource for $source {
            const PLUGIN: &'static Plugin =
                &plugin(|_| kernels::kernels(Detected::new(), Some(IsaName::$name)));
        }

        #[test]
        fn $test() {
            if !Detected::new().has(IsaName::$name) {
                eprintln!("this machine has no {}", IsaName::$name.text());
                return;
            }
            let report = guild_conformance::run(entry::<$source>);
            // The sets that aren't forced decline every case; a failure prints without them.
            let failures = report.failures();
            assert!(failures.is_empty(), "{failures:#?}");
            let suffix = format!(".{}", IsaName::$name.text());
            let ids = report.implementations();
            let own = ids
                .iter()
                .filter(|id| id.ends_with(&suffix) && pool(id).is_none());
            assert_eq!(own.clone().count(), CORE_OPS.len());
            let pools = ids.iter().filter(|id| pool(id) == Some($pool));
            assert_eq!(pools.clone().count(), if $pool.is_empty() { 0 } else { 2 });
            for id in own.chain(pools) {
                assert!(report.passed(id) > 0, "no case of {id} ran");
            }
            // The forced set serves every case, in every weight format; RoPE writes beside its input.
            let beside = Verdict::Declined("without GUILD_CAP_INPLACE".to_owned());
            let mut declined = report.declined();
            declined.retain(|outcome| {
                outcome.implementation.ends_with(&suffix)
                    && pool(&outcome.implementation).is_none()
                    && !(outcome.op == ROPE.name && outcome.verdict == beside)
            });
            assert!(declined.is_empty(), "{declined:#?}");
        }
    };
}

forced!(portable_gives_the_oracle_s_bits, Portable, Portable, "");
forced!(avx2_gives_the_oracle_s_bits, Avx2, Avx2, "avx2");
forced!(avxvnni_gives_the_oracle_s_bits, AvxVnni, AvxVnni, "avx2");
forced!(avx512_gives_the_oracle_s_bits, Avx512, Avx512, "avx512");
forced!(
    avx512vnni_gives_the_oracle_s_bits,
    Avx512Vnni,
    Avx512Vnni,
    "avx512"
);
forced!(amx_gives_the_oracle_s_bits, Amx, Amx, "avx512");

/// The tolerant product serves every case whose weights are all BF16, within its bound.
#[test]
fn amx_bf16_stays_within_its_bound() {
    if Detected::new().amx_bf16().is_none() {
        eprintln!("this machine has no tiles for BF16");
        return;
    }
    const ID: &str = "cpu.linear.amx_bf16";
    let mut cases = case::all();
    cases.retain(|case| case.op.name == LINEAR.name);
    let bf16 = |case: &case::Case| {
        let mut weights = case.inputs[1..].iter();
        weights.all(|weight| weight.format == GUILD_FORMAT_BF16)
    };
    let served = cases.iter().filter(|case| bf16(case)).count();
    let many = cases.iter().filter(|case| bf16(case) && case.rows >= 16);
    assert!(many.count() >= 12);
    let report = guild_conformance::run_cases(entry::<Amx>, &cases);
    let failures = report.failures();
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(report.passed(ID), served);
}
