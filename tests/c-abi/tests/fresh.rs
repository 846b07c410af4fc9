//! The committed headers and layout assertions are what `sdk/guild-abi` says.

use guild_c_abi::{header, layout, refresh, source};
use std::error::Error;

#[test]
fn committed_files_match_the_types() -> Result<(), Box<dyn Error>> {
    let modules = source::read_all()?;
    let mut files = vec![
        ("include/guild/guild.h".to_owned(), header::umbrella()),
        (
            "include/guild/layout.h".to_owned(),
            layout::c_header(&modules)?,
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
