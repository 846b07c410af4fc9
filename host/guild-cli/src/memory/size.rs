//! Byte counts as people write and read them.

use std::fmt;
use std::str::FromStr;

/// A number of bytes, written as `8589934592`, `8GiB` or `8GB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct ByteSize(pub u64);

/// Units with their bytes. One letter means the binary unit, as in `docker` and `systemd`.
const UNITS: [(&str, u64); 14] = [
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kib", 1 << 10),
    ("kb", 1_000),
    ("m", 1 << 20),
    ("mib", 1 << 20),
    ("mb", 1_000_000),
    ("g", 1 << 30),
    ("gib", 1 << 30),
    ("gb", 1_000_000_000),
    ("t", 1 << 40),
    ("tib", 1 << 40),
    ("tb", 1_000_000_000_000),
];

/// A text that is no size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no size in bytes; write a whole number above 0 with a unit or none, such as 8GiB, 500MB or 8589934592"
)]
pub struct SizeError {
    /// The text.
    pub text: String,
}

impl FromStr for ByteSize {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<ByteSize, SizeError> {
        let error = || SizeError {
            text: text.to_owned(),
        };
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let number: u64 = number.parse().map_err(|_| error())?;
        let unit = unit.trim_start().to_ascii_lowercase();
        let (_, factor) = UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(error)?;
        match number.checked_mul(*factor) {
            Some(bytes) if bytes > 0 => Ok(ByteSize(bytes)),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for ByteSize {
    /// Four digits at most, in the largest binary unit that keeps a digit before the point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let mut number = self.0 as f64;
        let mut name = "bytes";
        for unit in units {
            // What would be shown as 1024 belongs to the next unit.
            if number < 1023.5 {
                break;
            }
            (number, name) = (number / 1024.0, unit);
        }
        let decimals = match number {
            _ if name == "bytes" => 0,
            number if number < 9.995 => 2,
            number if number < 99.95 => 1,
            _ => 0,
        };
        write!(f, "{number:.decimals$} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_binary_and_decimal_units() {
        let sizes = [
            ("8589934592", 1 << 33),
            ("8GiB", 1 << 33),
            ("8g", 1 << 33),
            ("8 GiB", 1 << 33),
            ("8GB", 8_000_000_000),
            ("500MB", 500_000_000),
            ("3k", 3072),
            ("7b", 7),
            ("2TiB", 1 << 41),
        ];
        for (text, bytes) in sizes {
            let read = text.parse::<ByteSize>().map_or(0, |size| size.0);
            assert_eq!(read, bytes, "{text}");
        }
        for text in [
            "",
            "0",
            "GiB",
            "-1",
            "1.5GiB",
            "8GiBs",
            "99999999999TiB",
            "1 2",
        ] {
            let error = text.parse::<ByteSize>().unwrap_err();
            assert!(error.to_string().contains("such as 8GiB"), "{error}");
        }
    }

    #[test]
    fn sizes_are_shown_short() {
        let shown = [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.00 KiB"),
            (10_235, "10.0 KiB"),
            (1_048_575, "1.00 MiB"),
            (1_572_864, "1.50 MiB"),
            (22_544_384, "21.5 MiB"),
            (1 << 37, "128 GiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (bytes, text) in shown {
            assert_eq!(ByteSize(bytes).to_string(), text);
        }
    }
}
