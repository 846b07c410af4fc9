//! Row 42: code gets into the process in one file. What a package brings is opened there by one function, which takes
//! nothing but a sealed image of verified bytes; the only other opening is that of the system's own runtimes.

use guild_tidy::{Fault, File, metadata, report, root, rust_files, text_files};
use proc_macro2::{TokenStream, TokenTree};
use std::fs;
use syn::{
    FnArg, ImplItemFn, ItemFn, Type,
    visit::{self, Visit},
};

/// The file that opens libraries.
const OPENER: &str = "host/guild-loader/src/library.rs";
/// The crate that opens them, and who may depend on it.
const CRATE: (&str, &str) = ("libloading", "guild-loader");
/// Names by which a library is opened, in any language.
const NAMES: [&str; 4] = ["libloading", "dlopen", "dlmopen", "LoadLibrary"];
/// The functions of the opener that open, each with the type that it takes.
const OPENING: [(&str, &str); 2] = [
    ("open_system_libraries", "impl Iterator<Item = &'a str>"),
    ("open", "&SealedImage"),
];
/// The file in which images are made, and the functions that make one.
const IMAGES: &str = "host/guild-loader/src/memfd.rs";
const MAKING: [&str; 2] = ["copy", "inherited"];

#[test]
fn row_42_libraries_are_opened_in_one_file() -> Result<(), Fault> {
    let mut findings = Vec::new();
    for file in rust_files()? {
        // This file has to name the names.
        if file.path == OPENER || file.path.ends_with("tests/one_opener.rs") {
            continue;
        }
        let names = names_in(file.text.parse()?);
        findings.extend(names.iter().map(|name| format!("{}: {name}", file.path)));
    }
    let is_c = |file: &&File| [".c", ".h"].iter().any(|end| file.path.ends_with(end));
    for file in text_files()?.iter().filter(is_c) {
        let words = file
            .text
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let names = words.filter(|word| NAMES.contains(word));
        findings.extend(names.map(|name| format!("{}: {name}", file.path)));
    }
    report(
        &findings,
        "libraries are opened in host/guild-loader/src/library.rs and nowhere else; hand it an image of verified bytes:",
    );
    Ok(())
}

#[test]
fn row_42_one_crate_can_open_libraries() -> Result<(), Fault> {
    let mut findings = Vec::new();
    for package in metadata()?.packages {
        let names = package.dependencies.iter().map(|edge| edge.name.as_str());
        let is_owner = package.name.as_str() == CRATE.1;
        if !is_owner && names.clone().any(|name| name == CRATE.0) {
            findings.push(package.name.to_string());
        }
    }
    report(&findings, "remove the dependency on libloading from these:");
    Ok(())
}

/// In the opener itself: who calls the crate's functions, and with what.
#[test]
fn row_42_one_function_opens_what_a_package_brings() -> Result<(), Fault> {
    let found = functions_that_name(OPENER, "Library")?;
    let mut expected = Vec::new();
    for (name, takes) in OPENING {
        expected.push((name.to_owned(), Some(syn::parse_str(takes)?)));
    }
    let names: Vec<_> = found.iter().map(|(name, _)| name).collect();
    assert!(
        found == expected,
        "functions of {OPENER} that open a library: {names:?}; expected, with what each takes: {OPENING:?}"
    );
    Ok(())
}

/// And who makes what it takes. Its fields are private, so the file is all there is to look at.
#[test]
fn row_42_an_image_is_made_by_comparing_digests() -> Result<(), Fault> {
    let found = functions_that_name(IMAGES, "SealedImage")?;
    let found: Vec<_> = found.into_iter().map(|(name, _)| name).collect();
    assert_eq!(found, MAKING, "functions of {IMAGES} that make an image");
    Ok(())
}

/// The names that stand in a file as words of code, or as the whole of a text.
fn names_in(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for token in tokens {
        let word = match token {
            TokenTree::Group(group) => {
                found.extend(names_in(group.stream()));
                continue;
            }
            TokenTree::Ident(word) => word.to_string(),
            TokenTree::Literal(text) => {
                let text = text.to_string();
                let text = text.trim_start_matches(['b', 'c', 'r', '#']);
                text.trim_matches(['"', '#'])
                    .trim_end_matches("\\0")
                    .to_owned()
            }
            TokenTree::Punct(_) => continue,
        };
        if NAMES.contains(&word.as_str()) {
            found.push(word);
        }
    }
    found
}

/// The functions of a file, but for its tests, that call a function of the type or make one by its fields; each with the
/// type of its first argument. A mere type in a signature is no expression.
fn functions_that_name(path: &str, of: &str) -> Result<Vec<(String, Option<Type>)>, Fault> {
    let syntax = syn::parse_file(&fs::read_to_string(root().join(path))?)?;
    let mut finder = Finder {
        of: of.to_owned(),
        is_own: false,
        uses: 0,
        found: Vec::new(),
    };
    finder.visit_file(&syntax);
    Ok(finder.found)
}

struct Finder {
    of: String,
    /// Inside an `impl` of the type, where it is `Self`.
    is_own: bool,
    uses: usize,
    found: Vec<(String, Option<Type>)>,
}

impl Finder {
    fn is_of(&self, path: &syn::Path) -> bool {
        let mut names = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        names.any(|name| name == self.of || (self.is_own && name == "Self"))
    }

    fn function(
        &mut self,
        attributes: &[syn::Attribute],
        signature: &syn::Signature,
        before: usize,
    ) {
        if self.uses == before || is_for_tests(attributes) {
            return;
        }
        let first = signature
            .inputs
            .first()
            .and_then(|argument| match argument {
                FnArg::Typed(typed) => Some((*typed.ty).clone()),
                FnArg::Receiver(_) => None,
            });
        self.found.push((signature.ident.to_string(), first));
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !is_for_tests(&node.attrs) {
            visit::visit_item_mod(self, node);
        }
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        self.is_own = matches!(&*node.self_ty, Type::Path(own) if own.path.is_ident(&self.of));
        visit::visit_item_impl(self, node);
        self.is_own = false;
    }

    fn visit_item_fn(&mut self, node: &'ast ItemFn) {
        let before = self.uses;
        visit::visit_item_fn(self, node);
        self.function(&node.attrs, &node.sig, before);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast ImplItemFn) {
        let before = self.uses;
        visit::visit_impl_item_fn(self, node);
        self.function(&node.attrs, &node.sig, before);
    }

    fn visit_expr_path(&mut self, node: &'ast syn::ExprPath) {
        self.uses += usize::from(self.is_of(&node.path));
        visit::visit_expr_path(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'ast syn::ExprStruct) {
        self.uses += usize::from(self.is_of(&node.path));
        visit::visit_expr_struct(self, node);
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list();
        attribute.path().is_ident("cfg") && list.is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

#[test]
fn names_are_found_in_code_and_as_whole_texts() -> Result<(), Fault> {
    let code = "use libloading::Library; mod m { unsafe extern \"C\" { fn dlopen(); } } m!(dlmopen); const N: &CStr = c\"dlopen\";";
    assert_eq!(
        names_in(code.parse()?),
        ["libloading", "dlopen", "dlmopen", "dlopen"]
    );
    let other = "// dlopen\nfn open() { let name = (\"nodlopen\", 0x40); }";
    assert!(names_in(other.parse()?).is_empty());
    Ok(())
}
