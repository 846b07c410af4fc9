//! The names of the formats, each a type that only its grammar can make: package ids, provided
//! operations and runners, artifact paths, versions, ABI versions and scope prefixes.
//!
//! All grammars are ASCII and checked byte by byte, so a NUL, a line feed or a look-alike letter has no way in.

use std::fmt;
use std::str::FromStr;

use crate::limits::{
    NAME_MAX_BYTES, NAME_MAX_LABELS, PATH_MAX_BYTES, PATH_MAX_SEGMENTS, VERSION_MAX_BYTES,
};
use crate::text::Invalid;

/// A package's identity, such as `org.guild.kernels.cpu`: two to eight dotted labels.
/// `builtin.` is kept for code that is linked into the host.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct PackageId(String);

/// What a package provides: an operation `org.name.op@N`, or a runner or device id without `@N`.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct ProvidedName(String);

/// The name of a bundle entry: lower-case segments joined by `/`. It is never joined to a file-system
/// path by the installer.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct ArtifactPath(String);

/// A package version: strict SemVer without build metadata, so that equal versions have equal text.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct PackageVersion(semver::Version);

/// Which versions of a dependency will do, in the usual comparator syntax.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct VersionRequirement(semver::VersionReq);

/// A version of the C ABI, `MAJOR.MINOR`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct AbiVersion {
    /// Part of the entry symbol's name; versions with different majors share nothing.
    pub major: u16,
    /// Grows by additions only.
    pub minor: u16,
}

/// The area of a trust scope: a dotted prefix matched by whole labels, or `*` for every id.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct ScopePrefix(String);

/// The machines of a trust scope: `*` for every machine, or `os-arch`.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct TargetPattern(String);

/// A short lower-case word, such as a data type, an instruction set or an operating system.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Word(String);

impl ProvidedName {
    /// Whether this names an operation (`…@N`).
    #[must_use]
    pub fn is_operation(&self) -> bool {
        self.0.contains('@')
    }
}

impl VersionRequirement {
    /// Whether `version` satisfies the requirement.
    #[must_use]
    pub fn matches(&self, version: &PackageVersion) -> bool {
        self.0.matches(&version.0)
    }
}

impl ScopePrefix {
    /// The scope that covers every id.
    pub const EVERYTHING: &'static str = "*";

    /// Whether `id` is the prefix itself or lies below it, by whole labels: `org.guild` covers
    /// `org.guild.kernels` and not `org.guilds`.
    #[must_use]
    pub fn covers(&self, id: &PackageId) -> bool {
        self.covers_labels(&id.0)
    }

    /// Whether every id of `area` is covered: `org` covers `org.guild`, and only `*` covers `*`.
    #[must_use]
    pub fn covers_area(&self, area: &Self) -> bool {
        self.covers_labels(&area.0)
    }

    fn covers_labels(&self, labels: &str) -> bool {
        if self.is_everything() {
            return true;
        }
        match labels.strip_prefix(&self.0) {
            Some(rest) => rest.is_empty() || rest.starts_with('.'),
            None => false,
        }
    }

    /// Whether this is `*`.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.0 == Self::EVERYTHING
    }

    /// How specific the prefix is: its number of labels, 0 for `*`.
    #[must_use]
    pub fn specificity(&self) -> usize {
        if self.is_everything() {
            return 0;
        }
        self.0.split('.').count()
    }
}

impl PackageId {
    fn check(text: &str) -> bool {
        is_dotted(text, 2) && !text.starts_with("builtin.")
    }
}

impl ProvidedName {
    fn check(text: &str) -> bool {
        match text.split_once('@') {
            None => is_dotted(text, 1),
            Some((name, version)) => is_dotted(name, 2) && is_small_number(version),
        }
    }
}

impl ArtifactPath {
    fn check(text: &str) -> bool {
        let is_segment = |segment: &str| {
            starts_alphanumeric(segment)
                && segment
                    .bytes()
                    .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
        };
        text.len() <= PATH_MAX_BYTES
            && text.split('/').count() <= PATH_MAX_SEGMENTS
            && text.split('/').all(is_segment)
    }
}

impl ScopePrefix {
    fn check(text: &str) -> bool {
        text == Self::EVERYTHING || is_dotted(text, 1)
    }
}

impl TargetPattern {
    /// Whether the pattern covers the machine written as `os-arch`.
    #[must_use]
    pub fn covers(&self, target: &str) -> bool {
        self.0 == "*" || self.0 == target
    }

    fn check(text: &str) -> bool {
        text == "*" || (Word::check(text) && text.contains('-'))
    }
}

impl Word {
    fn check(text: &str) -> bool {
        text.len() <= 32
            && starts_alphanumeric(text)
            && text
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.'))
    }
}

/// Labels of `[a-z0-9_-]` that begin with a letter or digit, at least `labels_min` of them.
fn is_dotted(text: &str, labels_min: usize) -> bool {
    let is_label = |label: &str| {
        starts_alphanumeric(label)
            && label
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
    };
    let labels = text.split('.').count();
    text.len() <= NAME_MAX_BYTES
        && (labels_min..=NAME_MAX_LABELS).contains(&labels)
        && text.split('.').all(is_label)
}

fn starts_alphanumeric(text: &str) -> bool {
    matches!(text.bytes().next(), Some(b'a'..=b'z' | b'0'..=b'9'))
}

/// A decimal number below 65536 without sign or leading zero.
fn is_small_number(text: &str) -> bool {
    text.parse::<u16>()
        .is_ok_and(|number| number.to_string() == text)
}

/// Gives a checked text type its conversions: `FromStr`, `Display`, `as_str` and the pair serde uses.
macro_rules! text_type {
    ($type:ident, $what:literal, $rule:literal) => {
        impl $type {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = Invalid;

            /// # Errors
            /// Text that breaks the grammar.
            fn from_str(text: &str) -> Result<Self, Invalid> {
                match Self::check(text) {
                    true => Ok(Self(text.to_owned())),
                    false => Err(Invalid::new($what, text, $rule)),
                }
            }
        }

        string_conversions!($type);
    };
}

/// `TryFrom<String>` and `Into<String>` over `FromStr` and the inner value's `Display`.
macro_rules! string_conversions {
    ($type:ident) => {
        impl TryFrom<String> for $type {
            type Error = Invalid;
            fn try_from(text: String) -> Result<Self, Invalid> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    };
}

macro_rules! display_inner {
    ($($type:ident),*) => {$(
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    )*};
}

text_type!(
    PackageId,
    "package id",
    "2 to 8 dotted labels of a-z, 0-9, _ and -, at most 96 bytes, not below `builtin.`"
);
text_type!(
    ProvidedName,
    "operation name or runner id",
    "dotted labels of a-z, 0-9, _ and -, with @N for an operation, at most 96 bytes"
);
text_type!(
    ArtifactPath,
    "artifact path",
    "1 to 6 segments of a-z, 0-9, ., _ and - joined by /, each beginning with a letter or digit, at most 120 bytes"
);
text_type!(
    ScopePrefix,
    "scope",
    "dotted labels of a-z, 0-9, _ and -, or `*`"
);
text_type!(
    TargetPattern,
    "target",
    "`*` or os-arch, such as linux-x86_64"
);
text_type!(Word, "word", "1 to 32 characters of a-z, 0-9, _, - and .");
display_inner!(
    PackageId,
    ProvidedName,
    ArtifactPath,
    ScopePrefix,
    TargetPattern,
    Word,
    PackageVersion,
    VersionRequirement
);
string_conversions!(PackageVersion);
string_conversions!(VersionRequirement);
string_conversions!(AbiVersion);

impl FromStr for PackageVersion {
    type Err = Invalid;

    /// # Errors
    /// Text that is not strict SemVer, or carries build metadata.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let rule =
            "MAJOR.MINOR.PATCH with an optional -pre-release and no +build, at most 64 bytes";
        if text.len() > VERSION_MAX_BYTES {
            return Err(Invalid::new("version", text, rule));
        }
        match semver::Version::parse(text) {
            Ok(version) if version.build.is_empty() => Ok(Self(version)),
            _ => Err(Invalid::new("version", text, rule)),
        }
    }
}

impl FromStr for VersionRequirement {
    type Err = Invalid;

    /// # Errors
    /// Text that is not a list of SemVer comparators.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("version requirement", text, "comparators such as ^1.2.0");
        if text.len() > VERSION_MAX_BYTES {
            return Err(invalid());
        }
        semver::VersionReq::parse(text)
            .map(Self)
            .map_err(|_| invalid())
    }
}

impl fmt::Display for AbiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for AbiVersion {
    type Err = Invalid;

    /// # Errors
    /// Anything but two decimal numbers joined by a dot.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("ABI version", text, "MAJOR.MINOR, such as 1.0");
        let (major, minor) = text.split_once('.').ok_or_else(invalid)?;
        if !is_small_number(major) || !is_small_number(minor) {
            return Err(invalid());
        }
        let number = |digits: &str| digits.parse().map_err(|_| invalid());
        Ok(Self {
            major: number(major)?,
            minor: number(minor)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows 6, 7 and 14: names that other archive readers have let through.
    const HOSTILE_PATHS: [&str; 44] = [
        "",
        ".",
        "..",
        "/",
        "/a",
        "a/",
        "a//b",
        "a/./b",
        "a/../b",
        "../a",
        "a/..",
        "./a",
        "\\a",
        "a\\b",
        "..\\a",
        "c:/a",
        "c:a",
        "a\0",
        "\0a",
        "a\0b",
        "a\n",
        "a\r",
        "a\r\nb",
        "a\x7f",
        "a ",
        " a",
        "a b",
        "A",
        "lib/A.so",
        "é",
        "a\u{202e}b",
        "a\u{fe0f}",
        ".a",
        "a/.b",
        "-a",
        "_a",
        "~",
        "~/a",
        "a*",
        "a?",
        "a:b",
        "a%2f..",
        "a/b/c/d/e/f/g",
        "lib/con|x",
    ];

    #[test]
    fn rows_06_07_14_hostile_names_are_refused() {
        for name in HOSTILE_PATHS {
            assert!(
                name.parse::<ArtifactPath>().is_err(),
                "{name:?} was accepted"
            );
        }
        assert!("a".repeat(120).parse::<ArtifactPath>().is_ok());
        assert!("a".repeat(121).parse::<ArtifactPath>().is_err());
        for name in ["manifest.json", "lib/libguild_cpu.so", "a/b/c/d/e/f", "0"] {
            assert!(name.parse::<ArtifactPath>().is_ok(), "{name:?} was refused");
        }
    }

    #[test]
    fn row_34_scopes_match_whole_labels() {
        let scope: ScopePrefix = "org.guild.kernels".parse().unwrap();
        let covers = |id: &str| scope.covers(&id.parse().unwrap());
        assert!(covers("org.guild.kernels"));
        assert!(covers("org.guild.kernels.cpu"));
        assert!(!covers("org.guild.kernelsx"));
        assert!(!covers("org.guild.kernels-x"));
        assert!(!covers("org.guild"));
        assert!(!covers("com.org.guild.kernels"));
        assert!("org.".parse::<ScopePrefix>().is_err());
        assert!("org.*".parse::<ScopePrefix>().is_err());
    }

    #[test]
    fn ids_and_provided_names_follow_their_grammar() {
        for id in [
            "org",
            "Org.guild",
            "org..guild",
            ".org.guild",
            "org.guild.",
            "builtin.cpu",
            "org.gu ild",
            "org/guild",
        ] {
            assert!(id.parse::<PackageId>().is_err(), "{id:?} was accepted");
        }
        for name in [
            "guild.core.op@",
            "guild.core.op@01",
            "guild.core.op@-1",
            "guild.core.op@65536",
            "op@1",
            "a.b@1@2",
        ] {
            assert!(
                name.parse::<ProvidedName>().is_err(),
                "{name:?} was accepted"
            );
        }
        let operation: ProvidedName = "guild.core.moe_experts@1".parse().unwrap();
        let runner: ProvidedName = "guild.runner.qwen3_5_moe.v1".parse().unwrap();
        assert!(operation.is_operation() && !runner.is_operation());
    }

    #[test]
    fn row_45_versions_are_strict_and_ordered() {
        for text in [
            "1", "1.0", "v1.0.0", "1.0.0+b", "01.0.0", "1.0.0 ", "1.0.0-", "",
        ] {
            assert!(
                text.parse::<PackageVersion>().is_err(),
                "{text:?} was accepted"
            );
        }
        let version = |text: &str| text.parse::<PackageVersion>().unwrap();
        assert!(version("1.0.0-rc.1") < version("1.0.0"));
        assert!(version("1.0.9") < version("1.0.10"));
        for text in ["1", "1.0.0", "1.x", "+1.0", "1.00", "1.-0"] {
            assert!(text.parse::<AbiVersion>().is_err(), "{text:?} was accepted");
        }
        assert_eq!("1.5".parse::<AbiVersion>().unwrap().to_string(), "1.5");
    }
}
