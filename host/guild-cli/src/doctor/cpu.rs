//! The processor: what it can do, what the system lets programs use of it, and what kernels choose.

use super::Check;
use crate::system::SystemFiles;
use crate::wiring::builtins;
use serde_json::{Value, json};

/// What is known of the processor.
#[derive(Clone, Debug, Default)]
struct Processor {
    model: String,
    /// Feature, whether the processor has it, whether programs may use it.
    features: Vec<(&'static str, bool, bool)>,
    /// State that the system saves on a task switch, in bytes; 0 where unknown.
    saved_bytes: u32,
    /// Tile state of AMX: in the processor, and saved by the system.
    tiles: (bool, bool),
    /// Whether the system gave it to the kernels; none where none asked.
    tiles_granted: Option<bool>,
}

/// Model, features, the state that the system saves, and AMX.
pub fn check(files: &SystemFiles) -> Check {
    let mut processor = read(files);
    if processor.tiles == (true, true) {
        processor.tiles_granted = builtins::tiles_granted();
    }
    judge(&processor)
}

fn judge(processor: &Processor) -> Check {
    let features: Vec<Value> = processor
        .features
        .iter()
        .map(|(name, has, usable)| json!({ "name": name, "processor": has, "usable": usable }))
        .collect();
    let amx = match (processor.tiles, processor.tiles_granted) {
        ((false, _), _) => "absent",
        ((true, false), _) => "not saved by the system",
        // A process must ask for it; the kernels do when they are loaded.
        ((true, true), None) => "available on request, not requested",
        ((true, true), Some(false)) => "refused by the system",
        ((true, true), Some(true)) => "granted",
    };
    let details = json!({
        "model": processor.model,
        "features": features,
        "saved_state_bytes": processor.saved_bytes,
        "amx": amx,
    });
    let usable = processor.features.iter().filter(|(_, _, usable)| *usable);
    let usable: Vec<&str> = usable.map(|(name, _, _)| *name).collect();
    let mut finding = format!("{}; usable: {}", processor.model, usable.join(" "));
    if processor.tiles.0 {
        finding += &format!("; AMX {amx}");
    }
    let check = Check::ok("cpu", finding, details);
    let hidden = processor
        .features
        .iter()
        .filter(|(_, has, usable)| *has && !usable);
    let hidden: Vec<&str> = hidden.map(|(name, _, _)| *name).collect();
    if !hidden.is_empty() {
        let what = format!(
            "the processor has {}, but the system doesn't save their registers (XCR0)",
            hidden.join(" ")
        );
        return check.warn(
            format!("{what}; kernels use a slower instruction set"),
            "grep -o 'noxsave[a-z]*\\|clearcpuid=[^ ]*' /proc/cmdline",
        );
    }
    let needed = ["avx2", "fma", "f16c"];
    if cfg!(target_arch = "x86_64") && !needed.iter().all(|name| usable.contains(name)) {
        return check.warn(
            "only the portable kernels can run, many times slower",
            "use a processor with AVX2, or give the virtual machine the host's processor model",
        );
    }
    check
}

#[cfg(target_arch = "x86_64")]
fn read(_files: &SystemFiles) -> Processor {
    use std::arch::is_x86_feature_detected as usable;
    let cpuid = raw_cpuid::CpuId::new();
    let basic = cpuid.get_feature_info();
    let extended = cpuid.get_extended_feature_info();
    let basic = |has: fn(&raw_cpuid::FeatureInfo) -> bool| basic.as_ref().is_some_and(has);
    let more = |has: fn(&raw_cpuid::ExtendedFeatures) -> bool| extended.as_ref().is_some_and(has);
    let saved_bytes = cpuid
        .get_extended_state_info()
        .map_or(0, |state| state.xsave_area_size_enabled_features());
    let model = cpuid
        .get_processor_brand_string()
        .map_or(String::new(), |brand| brand.as_str().trim().to_owned());
    Processor {
        model,
        // The standard library's answer includes OSXSAVE and XCR0.
        features: vec![
            ("avx", basic(|f| f.has_avx()), usable!("avx")),
            ("f16c", basic(|f| f.has_f16c()), usable!("f16c")),
            ("fma", basic(|f| f.has_fma()), usable!("fma")),
            ("avx2", more(|f| f.has_avx2()), usable!("avx2")),
            ("avx512f", more(|f| f.has_avx512f()), usable!("avx512f")),
            ("avx512bw", more(|f| f.has_avx512bw()), usable!("avx512bw")),
            ("avx512dq", more(|f| f.has_avx512dq()), usable!("avx512dq")),
            ("avx512vl", more(|f| f.has_avx512vl()), usable!("avx512vl")),
            (
                "avx512vnni",
                more(|f| f.has_avx512vnni()),
                usable!("avx512vnni"),
            ),
            ("avxvnni", more(|f| f.has_avx_vnni()), usable!("avxvnni")),
        ],
        saved_bytes,
        tiles: (
            more(|f| f.has_amx_tile()),
            saved_bytes >= TILE_STATE_END_BYTES,
        ),
        tiles_granted: None,
    }
}

/// Where the tile data of AMX end in the saved state: component 18 lies at 2816 and has 8192 bytes
/// (Intel's manual, volume 1, table 13-1). CPUID leaf 13 counts only what XCR0 has switched on.
#[cfg(target_arch = "x86_64")]
const TILE_STATE_END_BYTES: u32 = 2816 + 8192;

#[cfg(not(target_arch = "x86_64"))]
fn read(files: &SystemFiles) -> Processor {
    let text = files.read("proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    Processor {
        model: field("model name")
            .or_else(|| field("CPU part"))
            .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        ..Processor::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Status;

    fn processor(avx512_usable: bool) -> Processor {
        Processor {
            model: "A processor".to_owned(),
            features: vec![
                ("avx2", true, true),
                ("fma", true, true),
                ("f16c", true, true),
                ("avx512f", true, avx512_usable),
            ],
            ..Processor::default()
        }
    }

    #[test]
    fn tiles_are_granted_refused_or_not_asked_for() {
        for (granted, text) in [
            (None, "available on request, not requested"),
            (Some(false), "refused by the system"),
            (Some(true), "granted"),
        ] {
            let tiles = Processor {
                tiles: (true, true),
                tiles_granted: granted,
                ..processor(true)
            };
            assert_eq!(judge(&tiles).details["amx"], text);
        }
        assert_eq!(judge(&processor(true)).details["amx"], "absent");
    }

    #[test]
    fn a_feature_that_the_system_does_not_save_is_a_warning() {
        assert_eq!(judge(&processor(true)).status, Status::Ok);
        let check = judge(&processor(false));
        assert_eq!(check.status, Status::Warning);
        assert!(
            check.consequence.contains("avx512f"),
            "{}",
            check.consequence
        );
        assert!(!check.finding.contains("avx512f"), "{}", check.finding);
    }
}
