//! What in this process's surroundings could put foreign code beside verified code: variables of the
//! system loader and of drivers, and the system-wide preload file. The scan reports and decides nothing.

use std::ffi::OsString;
use std::fs;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmbientFinding {
    /// The variable, or the file's path.
    pub source: String,
    /// The variable's value or the file's first line, with unprintable characters escaped.
    pub value: String,
    /// What it can do.
    pub effect: &'static str,
}

const PRELOAD_FILE: &str = "/etc/ld.so.preload";
const LOADS_CODE: &str = "loads other code into this process";
const REDIRECTS: &str = "changes which libraries are found";
const CHANGES_LOADER: &str = "changes how the system loader works";
const LOADS_DRIVER_CODE: &str = "makes a driver load other code into this process";

/// Names and effects; a name that ends in `*` stands for every variable that begins so.
const VARIABLES: &[(&str, &str)] = &[
    ("LD_PRELOAD", LOADS_CODE),
    ("LD_AUDIT", LOADS_CODE),
    ("LD_LIBRARY_PATH", REDIRECTS),
    ("LD_ORIGIN_PATH", REDIRECTS),
    ("LD_DEBUG*", CHANGES_LOADER),
    ("LD_PROFILE*", CHANGES_LOADER),
    ("LD_BIND_NOT", CHANGES_LOADER),
    ("LD_DYNAMIC_WEAK", CHANGES_LOADER),
    ("LD_HWCAP_MASK", CHANGES_LOADER),
    ("GLIBC_TUNABLES", CHANGES_LOADER),
    ("GCONV_PATH", LOADS_CODE),
    ("CUDA_INJECTION*", LOADS_DRIVER_CODE),
    ("NVTX_INJECTION*", LOADS_DRIVER_CODE),
    (
        "CUDA_CACHE_PATH",
        "changes where a driver finds compiled code",
    ),
];

/// Looks at this process's environment and at the system-wide preload file.
#[must_use]
pub fn scan() -> Vec<AmbientFinding> {
    let mut findings = scan_variables(std::env::vars_os());
    findings.extend(scan_preload_file(&match fs::read(PRELOAD_FILE) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(),
    }));
    findings
}

/// The findings in a given environment, in its order. An empty value has no effect and is left out.
pub fn scan_variables(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<AmbientFinding> {
    variables
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let (_, effect) = VARIABLES.iter().find(|(known, _)| matches(known, &name))?;
            Some(AmbientFinding {
                source: name,
                value: guild_package::text::escape(&value.to_string_lossy()),
                effect,
            })
        })
        .collect()
}

fn scan_preload_file(text: &str) -> Option<AmbientFinding> {
    let entries = text.lines().map(str::trim);
    let entry = entries
        .filter(|line| !line.starts_with('#'))
        .find(|line| !line.is_empty())?;
    Some(AmbientFinding {
        source: PRELOAD_FILE.to_owned(),
        value: guild_package::text::escape(entry),
        effect: LOADS_CODE,
    })
}

fn matches(known: &str, name: &str) -> bool {
    match known.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(variables: &[(&str, &str)]) -> Vec<String> {
        scan_variables(
            variables
                .iter()
                .map(|(name, value)| (name.into(), value.into())),
        )
        .into_iter()
        .map(|finding| finding.source)
        .collect()
    }

    #[test]
    fn rows_72_82_every_listed_variable_is_found() {
        let set = [
            ("LD_PRELOAD", "/tmp/x.so"),
            ("LD_AUDIT", "/tmp/x.so"),
            ("LD_LIBRARY_PATH", "/tmp"),
            ("LD_DEBUG_OUTPUT", "/tmp/log"),
            ("LD_BIND_NOT", "1"),
            ("GLIBC_TUNABLES", "glibc.malloc.check=3"),
            ("GCONV_PATH", "/tmp"),
            ("CUDA_INJECTION64_PATH", "/tmp/x.so"),
            ("NVTX_INJECTION64_PATH", "/tmp/x.so"),
            ("CUDA_CACHE_PATH", "/tmp"),
        ];
        let names: Vec<_> = set.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(sources(&set), names);
    }

    #[test]
    fn other_and_empty_variables_are_not_reported() {
        let set = [
            ("PATH", "/usr/bin"),
            ("LD_PRELOAD", ""),
            ("XLD_PRELOAD", "/tmp/x.so"),
            ("LD_PRELOADED", "yes"),
        ];
        assert!(sources(&set).is_empty());
    }

    #[test]
    fn values_are_safe_to_print() {
        let found = scan_variables([("LD_AUDIT".into(), "a\u{1b}[2Jb".into())]);
        assert_eq!(found.len(), 1);
        assert!(!found[0].value.contains('\u{1b}'));
        assert_eq!(
            scan_preload_file("\n  /lib/x.so \n").unwrap().value,
            "/lib/x.so"
        );
        assert!(scan_preload_file("\n").is_none());
        assert!(scan_preload_file("# nothing\n\n").is_none());
    }
}
