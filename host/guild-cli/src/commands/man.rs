//! `guild man`: writes the manual pages.

use crate::args::ManArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::reference;
use serde_json::json;

/// Writes one page a command into the folder, or prints guild(1).
pub fn run(args: &ManArgs, output: Output) -> Outcome<()> {
    let pages = reference::man_pages().map_err(|error| {
        Failure::new(Exit::Internal, format!("the manual can't be made: {error}"))
    })?;
    let Some(folder) = &args.folder else {
        if output.json {
            return Err(Failure::new(Exit::Usage, "a manual page is no JSON object")
                .hint("name a folder to write all pages to"));
        }
        let first = pages.first().map_or("", |page| page.text.as_str());
        return output.stream(first);
    };
    std::fs::create_dir_all(folder).map_err(|error| Failure::io(folder, &error))?;
    let mut written = Vec::new();
    for page in &pages {
        let path = folder.join(&page.file_name);
        std::fs::write(&path, &page.text).map_err(|error| Failure::io(&path, &error))?;
        output.data(path.to_string_lossy())?;
        written.push(path);
    }
    output.object(json!({ "pages": written }))
}
