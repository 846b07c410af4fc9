//! `unsafe` stands only in the files that `docs/safety.md` lists.

use guild_tidy::{Fault, metadata, report, root, rust_files, table_keys};
use std::{collections::BTreeSet, fs, path::Path};
use syn::visit::{self, Visit};

#[test]
fn unsafe_stands_in_listed_files_only() -> Result<(), Fault> {
    let listed = table_keys("docs/safety.md")?;
    let mut used = BTreeSet::new();
    for file in rust_files()? {
        let mut finder = Finder(false);
        finder.visit_file(&file.syntax);
        if finder.0 {
            used.insert(file.path);
        }
    }
    let findings: Vec<_> = used
        .iter()
        .filter(|path| !listed.contains(path))
        .cloned()
        .collect();
    report(
        &findings,
        "unsafe code outside the list; write it safely, or add the file to the table in \
         docs/safety.md with its duty and who discharges it:",
    );
    let findings: Vec<_> = listed
        .into_iter()
        .filter(|path| !used.contains(path))
        .collect();
    report(
        &findings,
        "listed in docs/safety.md but without unsafe code; remove the row:",
    );
    Ok(())
}

#[test]
fn every_crate_root_sets_the_lint() -> Result<(), Fault> {
    let listed = table_keys("docs/safety.md")?;
    let root = root().canonicalize()?;
    let mut findings = Vec::new();
    for package in metadata()?.packages {
        let targets = package.targets.iter();
        for target in
            targets.filter(|target| target.is_lib() || target.is_bin() || target.is_cdylib())
        {
            let file = target.src_path.as_std_path().strip_prefix(&root)?;
            let folder = file.parent().ok_or("a crate root has no folder")?;
            let has_rows = listed
                .iter()
                .any(|path| Path::new(path).starts_with(folder));
            let text = fs::read_to_string(&target.src_path)?;
            let has = |wanted| text.lines().any(|line| line == wanted);
            // The compiler itself refuses `forbid` where a file of the same crate allows it.
            let right =
                has("#![forbid(unsafe_code)]") || (has_rows && has("#![deny(unsafe_code)]"));
            if !right {
                let level = if has_rows { "deny" } else { "forbid" };
                findings.push(format!("{}: #![{level}(unsafe_code)]", file.display()));
            }
        }
    }
    report(
        &findings,
        "add these lines after the module doc (`deny` where docs/safety.md lists a file of the crate, \
         which then says `#![allow(unsafe_code)]`):",
    );
    Ok(())
}

/// Finds code that the compiler takes on trust. Function pointer types aren't code.
struct Finder(bool);

impl<'ast> Visit<'ast> for Finder {
    fn visit_expr_unsafe(&mut self, _: &'ast syn::ExprUnsafe) {
        self.0 = true;
    }

    fn visit_signature(&mut self, node: &'ast syn::Signature) {
        self.0 |= matches!(node.safety, syn::Safety::Unsafe(_));
        visit::visit_signature(self, node);
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        self.0 |= node.unsafety.is_some();
        visit::visit_item_impl(self, node);
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        self.0 |= node.unsafety.is_some();
        visit::visit_item_trait(self, node);
    }

    fn visit_item_foreign_mod(&mut self, _: &'ast syn::ItemForeignMod) {
        self.0 = true;
    }

    fn visit_attribute(&mut self, node: &'ast syn::Attribute) {
        self.0 |= node.path().is_ident("unsafe");
        visit::visit_attribute(self, node);
    }

    /// A macro's tokens aren't parsed, so the word counts, except in a function pointer type.
    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        self.0 |= contains_unsafe(node.tokens.clone());
    }
}

fn contains_unsafe(tokens: proc_macro2::TokenStream) -> bool {
    let tokens: Vec<_> = tokens.into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        proc_macro2::TokenTree::Group(group) => contains_unsafe(group.stream()),
        proc_macro2::TokenTree::Ident(word) if word == "unsafe" => {
            let after: Vec<_> = tokens[at + 1..]
                .iter()
                .take(4)
                .map(ToString::to_string)
                .collect();
            let pointer = matches!(
                &after[..],
                [external, _, function, arguments]
                    if external == "extern" && function == "fn" && arguments.starts_with('(')
            );
            !pointer
        }
        _ => false,
    })
}

#[test]
fn the_finder_sees_each_form() -> Result<(), Fault> {
    let unsafe_forms = [
        "fn f() { unsafe { g() } }",
        "unsafe fn f() {}",
        "unsafe impl Send for X {}",
        "unsafe trait T {}",
        "unsafe extern \"C\" { fn f(); }",
        "#[unsafe(no_mangle)] fn f() {}",
        "macro_rules! m { () => { unsafe { g() } } }",
        "macro_rules! m { () => { pub unsafe extern \"C\" fn f() {} } }",
    ];
    let safe_forms = [
        "type F = unsafe extern \"C\" fn(u32);",
        "macro_rules! m { () => { type F = unsafe extern \"C\" fn(u32); } }",
        "fn f() { println!(\"unsafe\") }",
    ];
    for (forms, expected) in [(&unsafe_forms[..], true), (&safe_forms[..], false)] {
        for form in forms {
            let mut finder = Finder(false);
            finder.visit_file(&syn::parse_str(form)?);
            assert_eq!(finder.0, expected, "{form}");
        }
    }
    Ok(())
}
