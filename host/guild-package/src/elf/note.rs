//! The GUILD note: which package a library is, readable before any of it is mapped
//! (`docs/package-format.md`, section 8.2).

use object::elf::PT_NOTE;

use crate::digest::Digest;
use crate::elf::refusal::Refusal;
use crate::elf::segments::Image;
use crate::manifest::Manifest;
use crate::text::escape;

/// Owner of the note that names the package inside its library.
const OWNER: &[u8] = b"GUILD";
/// The note's type.
const TYPE: u32 = 1;

/// What follows the note's header: the descriptor, as it stands in the file.
pub(super) struct Note<'data> {
    kind: u32,
    text: &'data [u8],
}

impl<'data> Note<'data> {
    /// The one GUILD note of a library, if it has one.
    pub fn find(image: &Image<'data>) -> Result<Option<Self>, Refusal> {
        let mut found = None;
        for (_, segment) in image.of_kind(PT_NOTE) {
            let mut notes = image.notes(segment)?;
            while let Some(note) = notes.next().map_err(|_| damaged())? {
                let (name, kind, text) =
                    (note.name(), note.n_type(object::LittleEndian), note.desc());
                if name != OWNER {
                    continue;
                }
                if found.replace(Self { kind: kind.0, text }).is_some() {
                    return Err(Refusal::NoteTwice);
                }
            }
        }
        Ok(found)
    }

    /// SHA-256 of the descriptor.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text)
    }

    /// Digest of the ABI tables that the library was compiled against.
    pub fn abi(&self) -> Option<Digest> {
        Identity::read(self).ok()?.abi.parse().ok()
    }

    /// It says what the manifest says.
    pub fn check(&self, manifest: &Manifest) -> Result<(), Refusal> {
        let says = Identity::read(self)?;
        let same = |field, signed: String, note: &str| match signed == note {
            true => Ok(()),
            false => Err(Refusal::NoteMismatch {
                field,
                manifest: signed,
                note: escape(note),
            }),
        };
        same("id", manifest.id.to_string(), says.id)?;
        same("version", manifest.version.to_string(), says.version)?;
        if says.abi.parse::<Digest>().is_err() {
            let detail = "has an ABI that is no SHA-256 in lower-case hex";
            return Err(Refusal::NoteMalformed { detail });
        }
        match manifest.abi.table_hash {
            Some(signed) => same("abi", signed.to_string(), says.abi),
            None => Ok(()),
        }
    }
}

/// The three lines of the descriptor.
struct Identity<'data> {
    id: &'data str,
    version: &'data str,
    abi: &'data str,
}

impl<'data> Identity<'data> {
    fn read(note: &Note<'data>) -> Result<Self, Refusal> {
        let malformed = |detail| Refusal::NoteMalformed { detail };
        if note.kind != TYPE {
            return Err(malformed("has another type than 1"));
        }
        let text = note.text.strip_suffix(b"\n\0").map(std::str::from_utf8);
        let text = text.and_then(Result::ok);
        let text = text.ok_or(malformed("does not end in a line break and a zero byte"))?;
        let mut lines = text.split('\n');
        let mut field = |prefix| lines.next().and_then(|line| line.strip_prefix(prefix));
        match (field("id="), field("version="), field("abi="), lines.next()) {
            (Some(id), Some(version), Some(abi), None) => Ok(Self { id, version, abi }),
            _ => Err(malformed(
                "does not have the lines `id=`, `version=` and `abi=`",
            )),
        }
    }
}

/// A note of any owner that can't be read hides what comes after it.
const fn damaged() -> Refusal {
    Refusal::Table {
        table: "notes",
        detail: "are cut off",
    }
}
