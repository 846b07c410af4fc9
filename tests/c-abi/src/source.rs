//! Reads a module of `sdk/guild-abi` and computes the layout of its structs.
//!
//! The layout law makes this small: fixed-width integers and floats, pointers of 8 bytes, arrays
//! and earlier structs. Hidden padding, a size that is no multiple of 8 and a wrong "N bytes." in a
//! doc comment are errors here.

use std::{collections::HashMap, error::Error, fs};

/// The modules that are headers, in the order of their dependencies.
pub const MODULES: [&str; 7] = [
    "abi", "formats", "core_ops", "runner", "ops", "device", "counters",
];

/// Size and alignment of a type, in bytes.
#[derive(Clone, Copy)]
pub struct Extent {
    /// Bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// A field of a struct.
pub struct Field {
    /// Name.
    pub name: String,
    /// Bytes from the start of the struct.
    pub offset: u64,
}

/// A struct and its computed layout.
pub struct Struct {
    /// Name.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Fields in order.
    pub fields: Vec<Field>,
}

/// What one module declares.
pub struct Module {
    /// Module name, also the header's.
    pub name: &'static str,
    /// Module doc, one string a paragraph.
    pub doc: Vec<String>,
    /// Structs in order.
    pub structs: Vec<Struct>,
    /// Names of type aliases in order.
    pub aliases: Vec<String>,
    /// Names of constants in order.
    pub constants: Vec<String>,
}

/// Path of a module's source, relative to the checkout.
pub fn path(module: &str) -> String {
    format!("sdk/guild-abi/src/{module}.rs")
}

/// Reads all modules.
pub fn read_all() -> Result<Vec<Module>, Box<dyn Error>> {
    let mut known = scalars();
    MODULES.iter().map(|name| read(name, &mut known)).collect()
}

fn scalars() -> HashMap<String, Extent> {
    [
        ("u8", 1),
        ("u16", 2),
        ("u32", 4),
        ("i32", 4),
        ("f32", 4),
        ("u64", 8),
        ("i64", 8),
        ("f64", 8),
    ]
    .map(|(name, size)| (name.to_owned(), Extent { size, align: size }))
    .into()
}

fn read(name: &'static str, known: &mut HashMap<String, Extent>) -> Result<Module, Box<dyn Error>> {
    let file = syn::parse_file(&fs::read_to_string(crate::root().join(path(name)))?)?;
    let mut module = Module {
        name,
        doc: doc(&file.attrs),
        structs: Vec::new(),
        aliases: Vec::new(),
        constants: Vec::new(),
    };
    for item in &file.items {
        match item {
            syn::Item::Const(item) => module.constants.push(item.ident.to_string()),
            syn::Item::Type(item) => {
                known.insert(item.ident.to_string(), extent(&item.ty, known)?);
                module.aliases.push(item.ident.to_string());
            }
            syn::Item::Struct(item) => {
                let item = layout(item, known)
                    .map_err(|error| format!("{name}: struct {}: {error}", item.ident))?;
                module.structs.push(item);
            }
            _ => {}
        }
    }
    Ok(module)
}

fn layout(
    item: &syn::ItemStruct,
    known: &mut HashMap<String, Extent>,
) -> Result<Struct, Box<dyn Error>> {
    let mut fields = Vec::new();
    let (mut end, mut align) = (0, 1);
    for field in &item.fields {
        let name = field
            .ident
            .as_ref()
            .ok_or("a field has no name")?
            .to_string();
        let extent = extent(&field.ty, known).map_err(|error| format!("{name}: {error}"))?;
        if end % extent.align != 0 {
            return Err(format!("{name}: hidden padding before offset {end}; name it").into());
        }
        fields.push(Field { name, offset: end });
        end += extent.size;
        align = align.max(extent.align);
    }
    let paragraphs = doc(&item.attrs);
    if end % 8 != 0 || end % align != 0 {
        return Err(format!("{end} bytes, which is no multiple of 8; add reserved fields").into());
    }
    if !paragraphs
        .first()
        .is_some_and(|text| text.ends_with(&format!(" {end} bytes.")))
    {
        return Err(format!("its doc comment must end in \"{end} bytes.\"").into());
    }
    let name = item.ident.to_string();
    known.insert(name.clone(), Extent { size: end, align });
    Ok(Struct {
        name,
        size: end,
        fields,
    })
}

fn extent(ty: &syn::Type, known: &HashMap<String, Extent>) -> Result<Extent, Box<dyn Error>> {
    let pointer = Extent { size: 8, align: 8 };
    match ty {
        syn::Type::Ptr(_) => Ok(pointer),
        syn::Type::Array(array) => {
            let element = extent(&array.elem, known)?;
            let syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Int(len),
                ..
            }) = &array.len
            else {
                return Err("an array's length must be a literal".into());
            };
            Ok(Extent {
                size: element.size * len.base10_parse::<u64>()?,
                ..element
            })
        }
        syn::Type::Path(path) => {
            let last = path.path.segments.last().ok_or("an empty path")?;
            if let ("Option", syn::PathArguments::AngleBracketed(args)) =
                (last.ident.to_string().as_str(), &last.arguments)
            {
                let [syn::GenericArgument::Type(syn::Type::FnPtr(_))] =
                    args.args.iter().collect::<Vec<_>>()[..]
                else {
                    return Err("only function pointers may be optional".into());
                };
                return Ok(pointer);
            }
            known
                .get(&last.ident.to_string())
                .copied()
                .ok_or_else(|| format!("{} isn't an ABI type", last.ident).into())
        }
        _ => Err("the layout law doesn't allow this type".into()),
    }
}

/// Doc comment as paragraphs of single-spaced text.
fn doc(attributes: &[syn::Attribute]) -> Vec<String> {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            syn::Meta::NameValue(syn::MetaNameValue {
                path,
                value:
                    syn::Expr::Lit(syn::ExprLit {
                        lit: syn::Lit::Str(text),
                        ..
                    }),
                ..
            }) if path.is_ident("doc") => Some(text.value().trim().to_owned()),
            _ => None,
        });
    lines
        .collect::<Vec<_>>()
        .split(String::is_empty)
        .map(|lines| lines.join(" "))
        .collect()
}
