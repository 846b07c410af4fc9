//! Which file lies behind an address of this process: `/proc/self/maps`, parsed.

use std::fmt;
use std::ops::Range;

/// A file as the kernel knows it, whatever its names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    pub device_major: u32,
    pub device_minor: u32,
    pub inode: u64,
}

impl fmt::Display for FileIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            device_major,
            device_minor,
            inode,
        } = self;
        write!(
            f,
            "device {device_major:02x}:{device_minor:02x} inode {inode}"
        )
    }
}

/// One mapping of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub addresses: Range<usize>,
    pub executable: bool,
    /// Inode 0 means that no file is behind it.
    pub file: FileIdentity,
}

/// The mappings in a text of the form of `/proc/self/maps`. A line that does not parse is an error:
/// a mapping that was overlooked could be the one that matters.
pub(crate) fn parse(text: &str) -> Result<Vec<Mapping>, String> {
    text.lines()
        .map(|line| parse_line(line).ok_or_else(|| line.to_owned()))
        .collect()
}

/// The mapping that holds `address`.
pub(crate) fn containing(mappings: &[Mapping], address: usize) -> Option<&Mapping> {
    mappings
        .iter()
        .find(|mapping| mapping.addresses.contains(&address))
}

/// The executable address ranges that map `file`.
pub(crate) fn text_of(mappings: &[Mapping], file: FileIdentity) -> Vec<Range<usize>> {
    mappings
        .iter()
        .filter(|mapping| mapping.executable && mapping.file == file)
        .map(|mapping| mapping.addresses.clone())
        .collect()
}

/// `start-end perms offset major:minor inode path`; the path may be absent or hold spaces.
fn parse_line(line: &str) -> Option<Mapping> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?;
    fields.next()?;
    let (device_major, device_minor) = fields.next()?.split_once(':')?;
    let inode = fields.next()?.parse().ok()?;
    Some(Mapping {
        addresses: usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?,
        executable: permissions.as_bytes().get(2) == Some(&b'x'),
        file: FileIdentity {
            device_major: u32::from_str_radix(device_major, 16).ok()?,
            device_minor: u32::from_str_radix(device_minor, 16).ok()?,
            inode,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines in the form of the manual page proc_pid_maps(5).
    const TEXT: &str = "\
00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/dbus-daemon
00651000-00652000 r--p 00051000 08:02 173521      /usr/bin/dbus-daemon
7f0000000000-7f0000002000 r-xp 00000000 00:01 2057   /memfd:guild:org.a@1.0.0 (deleted)
35b1dff000-35b1e00000 rw-p 00000000 00:00 0
7fff35800000-7fff35820000 rw-p 00000000 00:00 0       [stack]
";

    #[test]
    fn addresses_lead_to_files() {
        let mappings = parse(TEXT).unwrap();
        assert_eq!(mappings.len(), 5);
        let memory = FileIdentity {
            device_major: 0,
            device_minor: 1,
            inode: 2057,
        };
        let found = containing(&mappings, 0x7f00_0000_1fff).unwrap();
        assert_eq!(found.file, memory);
        assert!(containing(&mappings, 0x7f00_0000_2000).is_none());
        assert_eq!(
            text_of(&mappings, memory),
            std::slice::from_ref(&(0x7f00_0000_0000..0x7f00_0000_2000))
        );
        let disk = containing(&mappings, 0x0040_0000).unwrap().file;
        assert_eq!((disk.device_major, disk.device_minor), (8, 2));
        assert_eq!(
            text_of(&mappings, disk),
            std::slice::from_ref(&(0x0040_0000..0x0045_2000))
        );
    }

    #[test]
    fn a_strange_line_is_an_error() {
        assert!(parse("00400000 r-xp 0 08:02 1 x").is_err());
        assert!(parse("00400000-00452000 r-xp 0 0802 1 x").is_err());
        assert!(parse("00400000-00452000 r-xp 0 08:02").is_err());
    }
}
