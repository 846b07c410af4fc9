//! Every shipped library, as it is built and staged, obeys the rules that the host holds others to.

use guild_end_to_end::{CPU, FirstParty, LLAMA, QWEN, REFERENCE, Site};
use guild_package::bundle::Bundle;
use guild_package::manifest::Role;
use guild_package::{Manifest, preflight};

const ALL: [FirstParty; 4] = [CPU, QWEN, LLAMA, REFERENCE];

/// Manifest and library of a signed bundle.
fn signed(site: &Site, package: FirstParty) -> (Manifest, Vec<u8>) {
    let bytes = std::fs::read(site.bundle(package)).unwrap();
    let bundle = Bundle::parse(bytes.as_slice()).unwrap();
    let manifest = Manifest::decode(&bundle.manifest().unwrap()).unwrap();
    let plugin = manifest.plugin().unwrap().1.path.clone();
    let entry = bundle.artifacts().iter().find(|entry| entry.name == plugin);
    let mut library = Vec::new();
    let keep = |piece: &[u8]| {
        library.extend_from_slice(piece);
        Ok(())
    };
    bundle.read_entry(entry.unwrap(), keep).unwrap();
    (manifest, library)
}

#[test]
fn every_shipped_library_passes_preflight() {
    let site = Site::new();
    for package in ALL {
        let (manifest, library) = signed(&site, package);
        let mut artifacts = manifest.artifacts.iter();
        let plugin = artifacts.find(|artifact| artifact.role == Role::Plugin);
        let plugin = plugin.unwrap();
        preflight::check_library(&manifest, plugin, &library).unwrap();
        assert!(
            plugin.elf.as_ref().unwrap().note_hash.is_some(),
            "{}",
            package.0
        );
        // The number of program headers, whose limit is 16.
        assert!(library[56] <= 12, "{}: {}", package.0, library[56]);
    }
}

/// Row 69: the note of each is that of the host's own ABI.
#[test]
fn row_69_every_shipped_library_names_the_abi_of_this_host() {
    let site = Site::new();
    let layout = include_bytes!("../../../include/guild/layout.h");
    let own = Some(guild_package::Digest::of(layout));
    for package in ALL {
        assert_eq!(
            signed(&site, package).0.abi.table_hash,
            own,
            "{}",
            package.0
        );
    }
}
