//! The committed headers and layout assertions are what `sdk/guild-abi` says.

use guild_c_abi::{header, layout, refresh, source};
use sha2::{Digest, Sha256};
use std::error::Error;

#[test]
fn committed_files_match_the_types() -> Result<(), Box<dyn Error>> {
    let modules = source::read_all()?;
    let layout = layout::c_header(&modules)?;
    let digest = Sha256::digest(&layout);
    let table_hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut files = vec![
        ("include/guild/guild.h".to_owned(), header::umbrella()),
        ("include/guild/layout.h".to_owned(), layout),
        ("include/guild/note.h".to_owned(), header::note(&table_hash)),
        (
            "sdk/guild-abi/src/table_hash.rs".to_owned(),
            header::table_hash_module(&table_hash),
        ),
        (
            "sdk/guild-abi/tests/layout.rs".to_owned(),
            layout::rust_test(&modules)?,
        ),
        (
            "tests/c-abi/tests/bindings/pairs.rs".to_owned(),
            layout::pairs(&modules)?,
        ),
    ];
    for module in &modules {
        files.push((
            format!("include/guild/{}.h", module.name),
            header::text(module)?,
        ));
    }
    let mut stale = Vec::new();
    for (path, text) in &files {
        if !refresh(path, text)? {
            stale.push(path.as_str());
        }
    }
    assert!(
        stale.is_empty(),
        "written anew, commit the change and run the tests again: {}",
        stale.join(", ")
    );
    Ok(())
}
