//! Which file lies behind an address of this process: `/proc/self/maps`, parsed.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use guild_package::text::escape;

/// Where a process reads its own mappings.
pub(crate) const PATH: &str = "/proc/self/maps";

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
    /// The name by which the file was mapped, if it is one of the file system.
    pub path: Option<PathBuf>,
}

/// The mappings of this process.
///
/// # Errors
/// The operating system's reason; `InvalidData` with the line where one doesn't parse.
pub(crate) fn own() -> io::Result<Vec<Mapping>> {
    let text = std::fs::read_to_string(PATH)?;
    let strange = |line: String| {
        let reason = format!("strange line `{}`", escape(&line));
        io::Error::new(io::ErrorKind::InvalidData, reason)
    };
    parse(&text).map_err(strange)
}

/// The mappings in a text of the form of `/proc/self/maps`. A line that does not parse is an error:
/// a mapping that was overlooked could be the one that matters.
fn parse(text: &str) -> Result<Vec<Mapping>, String> {
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
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?;
    fields.next()?;
    let (device_major, device_minor) = fields.next()?.split_once(':')?;
    let inode = fields.next()?.parse().ok()?;
    // Padded, so that paths stand one below the other.
    let path = fields.next().unwrap_or_default().trim_start();
    Some(Mapping {
        addresses: usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?,
        executable: permissions.as_bytes().get(2) == Some(&b'x'),
        file: FileIdentity {
            device_major: u32::from_str_radix(device_major, 16).ok()?,
            device_minor: u32::from_str_radix(device_minor, 16).ok()?,
            inode,
        },
        path: path.starts_with('/').then(|| path.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Lines in the form of the manual page proc_pid_maps(5).
    const TEXT: &str = "\
00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/dbus-daemon
00651000-00652000 r--p 00051000 08:02 173521      /usr/bin/dbus-daemon
7f0000000000-7f0000002000 r-xp 00000000 00:01 2057   /memfd:guild:org.a@1.0.0 (deleted)
35b1dff000-35b1e00000 rw-p 00000000 00:00 0
00e03000-00e24000 r--p 00000000 08:02 42                         /opt/a folder/libc.so.6
7fff35800000-7fff35820000 rw-p 00000000 00:00 0       [stack]
";

    #[test]
    fn addresses_lead_to_files() {
        let mappings = parse(TEXT).unwrap();
        assert_eq!(mappings.len(), 6);
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
    fn a_mapping_has_its_file_s_name() {
        let mappings = parse(TEXT).unwrap();
        let paths: Vec<_> = mappings
            .iter()
            .map(|mapping| mapping.path.as_deref().and_then(Path::to_str))
            .collect();
        assert_eq!(
            paths,
            [
                Some("/usr/bin/dbus-daemon"),
                Some("/usr/bin/dbus-daemon"),
                Some("/memfd:guild:org.a@1.0.0 (deleted)"),
                None,
                Some("/opt/a folder/libc.so.6"),
                None,
            ]
        );
        let own = own().unwrap();
        let is_c_library = |mapping: &Mapping| {
            mapping
                .path
                .as_ref()
                .is_some_and(|it| it.ends_with("libc.so.6"))
        };
        assert!(own.iter().any(is_c_library), "{own:?}");
    }

    #[test]
    fn a_strange_line_is_an_error() {
        assert!(parse("00400000 r-xp 0 08:02 1 x").is_err());
        assert!(parse("00400000-00452000 r-xp 0 0802 1 x").is_err());
        assert!(parse("00400000-00452000 r-xp 0 08:02").is_err());
    }
}
