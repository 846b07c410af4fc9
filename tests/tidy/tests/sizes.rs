//! Functions have at most 70 code lines and files at most 800 lines, but for `ratchet.txt`.

use guild_tidy::{Fault, RustFile, generated, list, report, rust_files};
use std::collections::BTreeMap;
use syn::{
    spanned::Spanned,
    visit::{self, Visit},
};

const FUNCTION_LINES: usize = 70;
const FILE_LINES: usize = 800;

#[test]
fn functions_and_files_stay_small() -> Result<(), Fault> {
    let generated = generated()?;
    let mut long = BTreeMap::new();
    for file in rust_files()?
        .iter()
        .filter(|file| !generated.contains(&file.path))
    {
        let lines = file.text.lines().count();
        if lines > FILE_LINES {
            long.insert(file.path.clone(), lines);
        }
        for (name, lines) in functions(file) {
            if lines > FUNCTION_LINES {
                long.insert(format!("{}::{name}", file.path), lines);
            }
        }
    }
    let mut ratchet = read_ratchet()?;
    let mut findings = Vec::new();
    for (name, lines) in &long {
        match ratchet.remove(name) {
            None => findings.push(format!("{name}: {lines} lines; split it")),
            Some(was) if *lines > was => {
                findings.push(format!(
                    "{name}: {lines} lines, {was} before; it may only shrink"
                ));
            }
            Some(was) if *lines < was => {
                findings.push(format!(
                    "{name}: {lines} lines now; write that into the list"
                ));
            }
            Some(_) => {}
        }
    }
    findings.extend(
        ratchet
            .keys()
            .map(|name| format!("{name}: short now; remove it from the list")),
    );
    report(
        &findings,
        "limits are 70 code lines a function and 800 lines a file (list: tests/tidy/ratchet.txt):",
    );
    Ok(())
}

#[test]
fn counting_leaves_out_comments_and_empty_lines() -> Result<(), Fault> {
    let text = "/// Doc.\n#[test]\nfn f(\n    a: u32,\n) {\n\n    // Why.\n    g(a)\n}\n";
    let file = RustFile {
        path: String::new(),
        text: text.to_owned(),
        syntax: syn::parse_str(text)?,
    };
    assert_eq!(functions(&file), [("f".to_owned(), 5)]);
    Ok(())
}

fn read_ratchet() -> Result<BTreeMap<String, usize>, Fault> {
    let mut entries = BTreeMap::new();
    for line in list("tests/tidy/ratchet.txt")? {
        let (name, lines) = line
            .rsplit_once(' ')
            .ok_or("ratchet.txt: a line is `name lines`")?;
        entries.insert(name.to_owned(), lines.parse()?);
    }
    Ok(entries)
}

/// Name and code lines of every function with a body.
fn functions(file: &RustFile) -> Vec<(String, usize)> {
    let mut counter = Counter {
        lines: file.text.lines().collect(),
        found: Vec::new(),
    };
    counter.visit_file(&file.syntax);
    counter.found
}

struct Counter<'a> {
    lines: Vec<&'a str>,
    found: Vec<(String, usize)>,
}

impl Counter<'_> {
    fn count(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.span().start().line;
        let last = block.span().end().line;
        let lines = self.lines[first - 1..last].iter().map(|line| line.trim());
        let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
        self.found.push((signature.ident.to_string(), code.count()));
    }
}

impl<'ast> Visit<'ast> for Counter<'_> {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.count(&node.sig, &node.block);
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.count(&node.sig, &node.block);
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(block) = &node.default {
            self.count(&node.sig, block);
        }
        visit::visit_trait_item_fn(self, node);
    }
}
