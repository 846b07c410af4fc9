//! Rows 71 and 72: what stands around a load. Variables of the system's loader count from the start of a
//! process, so each case is a process of its own.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::fixture::{Bench, Package, child_of};

/// A library of this name that leaves a file behind when it is loaded.
fn evil(folder: &Path, name: &str, trace: &Path) {
    let code = folder.join("evil.c");
    let source = format!(
        "#include <fcntl.h>\n__attribute__((constructor)) static void run(void) \
         {{ (void)!open(\"{}\", O_CREAT | O_WRONLY, 0600); }}\n",
        trace.display()
    );
    fs::write(&code, source).unwrap();
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-nostdlib"]);
    command.arg(format!("-Wl,-soname,{name}"));
    let output = command.arg("-o").args([&folder.join(name), &code]).output();
    assert!(output.unwrap().status.success());
}

#[track_caller]
fn passed(output: &Output) {
    let (said, complained) = (&output.stdout, &output.stderr);
    let said = String::from_utf8_lossy(said);
    let complained = String::from_utf8_lossy(complained);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\n{complained}"
    );
}

/// What plugins may need beside the C library and isn't in this process from the start.
const NEEDED: [&str; 2] = ["libm.so.6", "libstdc++.so.6"];

/// A plugin that needs one library.
fn needing(library: &'static &'static str) -> Package<'static> {
    Package {
        libraries: std::slice::from_ref(library),
        ..Package::of("good")
    }
}

/// The search path names a folder with other libraries of these names; a plugin gets the system's.
#[test]
fn row_71_a_search_path_does_not_redirect_what_a_plugin_needs() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("evil-ran");
    for name in NEEDED {
        evil(folder.path(), name, &trace);
    }
    let name = "surroundings::row_71_a_search_path_does_not_redirect_what_a_plugin_needs";
    let first = format!("export LD_LIBRARY_PATH={}", folder.path().display());
    let child = child_of(name, &first, || {
        let searched = std::env::var("LD_LIBRARY_PATH").unwrap();
        for library in &NEEDED {
            let loaded = Bench::with(&needing(library)).load().unwrap();
            // The compiler that the fixture starts may fall for it; this process must not.
            let maps = fs::read_to_string("/proc/self/maps").unwrap();
            assert!(maps.contains(&format!("/{library}")), "{maps}");
            assert!(!maps.contains(&searched), "{maps}");
            let found = loaded.ambient().iter().map(|finding| &finding.source);
            assert_eq!(found.collect::<Vec<_>>(), ["LD_LIBRARY_PATH"]);
        }
    });
    if let Some(child) = child {
        passed(&child);
    }
}

/// Once this program runs nothing is searched for: not when the runtimes are opened before the first plugin, and not for a
/// later plugin that needs what the first does not.
#[test]
fn row_71_nothing_is_searched_for_when_a_plugin_is_mapped() {
    let name = "surroundings::row_71_nothing_is_searched_for_when_a_plugin_is_mapped";
    let child = child_of(name, "export LD_DEBUG=libs", || {
        let bench = Bench::with(&Package {
            id: "org.test.first",
            defines: &[
                ("PLUGIN_ID", "\"org.test.first\"".to_owned()),
                ("FIRST_IMPLEMENTATION", "\"test.first\"".to_owned()),
            ],
            ..Package::of("good")
        });
        drop(bench.load().unwrap());
        for library in &NEEDED {
            drop(Bench::with(&needing(library)).load().unwrap());
        }
    });
    let Some(child) = child else {
        return;
    };
    passed(&child);
    let text = String::from_utf8_lossy(&child.stderr);
    // The compiler's own lines are not ours: they have another process number.
    let number = |line: &str| {
        let (number, rest) = line.trim_start().split_once(':')?;
        Some((number.to_owned(), rest.to_owned()))
    };
    let is_plugin = |line: &str| line.contains("calling init: /proc/self/fd/");
    let mapped = text.lines().find(|line| is_plugin(line)).unwrap();
    let (process, _) = number(mapped).unwrap();
    let own = text.lines().filter_map(number);
    let own: Vec<String> = own
        .filter(|(number, _)| *number == process)
        .map(|(_, line)| line)
        .collect();
    let begins = own
        .iter()
        .position(|line| line.contains("transferring control:"));
    let running = &own[begins.unwrap()..];
    let plugins = running.iter().filter(|line| is_plugin(line)).count();
    assert_eq!(plugins, 1 + NEEDED.len(), "{text}");
    let searched: Vec<_> = running
        .iter()
        .filter(|line| line.contains("find library=") || line.contains("search path="))
        .collect();
    assert!(searched.is_empty(), "{searched:?}");
    for library in NEEDED {
        let file = format!("/{library}");
        let is_opened = |line: &String| line.contains("calling init:") && line.ends_with(&file);
        assert!(running.iter().any(is_opened), "no {library}: {text}");
    }
}

#[test]
fn row_72_a_strict_policy_refuses_tainted_surroundings() {
    let name = "surroundings::row_72_a_strict_policy_refuses_tainted_surroundings";
    for variable in [
        "LD_LIBRARY_PATH",
        "GLIBC_TUNABLES",
        "LD_BIND_NOT",
        "GCONV_PATH",
        "CUDA_INJECTION64_PATH",
    ] {
        let child = child_of(
            name,
            &format!("unset LD_LIBRARY_PATH && export {variable}=/nowhere"),
            || {
                let bench = Bench::with(&Package::of("good"));
                let variable = std::env::vars()
                    .find(|(_, value)| value == "/nowhere")
                    .unwrap()
                    .0;
                let found: Vec<_> = bench.load().unwrap().ambient().to_vec();
                assert_eq!(found.len(), 1, "{found:?}");
                bench.be_strict_below("org.other");
                bench.load().unwrap();
                bench.be_strict_below("org.test");
                let words = [
                    "cannot load org.test.plugin@1.0.0",
                    &variable,
                    "`/nowhere`",
                    "strict",
                ];
                bench.refuses("AMBIENT_TAINTED", 24, &words);
            },
        );
        match child {
            Some(child) => passed(&child),
            None => return,
        }
    }
}

#[test]
fn row_72_a_strict_policy_accepts_clean_surroundings() {
    let name = "surroundings::row_72_a_strict_policy_accepts_clean_surroundings";
    if fs::read_to_string("/etc/ld.so.preload").is_ok_and(|text| !text.trim().is_empty()) {
        eprintln!("skipped: this system loads other code into every process");
        return;
    }
    let first = "for name in $(env | grep -oE '^(LD_|GLIBC_|GCONV_|CUDA_|NVTX_)[A-Za-z0-9_]*'); do unset $name; done";
    let child = child_of(name, first, || {
        let bench = Bench::with(&Package::of("good"));
        bench.be_strict_below("org.test");
        assert!(bench.load().unwrap().ambient().is_empty());
    });
    if let Some(child) = child {
        passed(&child);
    }
}
