//! Writes one C header from one module: cbindgen's declarations in our frame.

use crate::source::{self, Module};
use cbindgen::{Builder, Config, DocumentationStyle, Language, Style};
use guild_abi::contract::CORE_OPS;
use std::{error::Error, fmt::Write};

const ENTRY: &str = "
/**
 * The one symbol that a plugin exports; see guild_plugin_entry_fn.
 */
guild_status guild_plugin_entry_v1(const guild_host_v1 *host, guild_plugin_v1 *out, guild_err *err);
";

const NOTE: &str = r#"
/** What the note says: three lines and a zero byte; see docs/package-format.md, section 8.2. */
#define GUILD_NOTE_TEXT(id, version) \
    "id=" id "\nversion=" version "\nabi=" GUILD_ABI_TABLE_HASH "\n"

/**
 * Says which package this library is, before it is loaded. Once in a library, with string literals:
 *
 *     GUILD_NOTE("org.example.kernels.cpu", "1.0.0");
 */
#if defined(__GNUC__)
#define GUILD_NOTE(id, version) \
    __attribute__((used, aligned(4), section(".note.guild"))) static const struct { \
        uint32_t name_bytes, text_bytes, type; \
        char name[8]; \
        char text[(sizeof GUILD_NOTE_TEXT(id, version) + 3) / 4 * 4]; \
    } guild_note = {6, sizeof GUILD_NOTE_TEXT(id, version), 1, "GUILD", GUILD_NOTE_TEXT(id, version)}
#endif
"#;

/// Text of `include/guild/<module>.h`.
pub fn text(module: &Module) -> Result<String, Box<dyn Error>> {
    let guard = format!("GUILD_{}_H", module.name.to_uppercase());
    let mut text = banner(&title(module));
    write!(text, "#ifndef {guard}\n#define {guard}\n\n")?;
    match module.name {
        "abi" | "core_ops" => text.push_str("#include <stdint.h>\n"),
        _ => text.push_str("#include \"abi.h\"\n\n#include <stdint.h>\n"),
    }
    text.push_str("\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    text.push_str(declarations(module)?.trim());
    text.push('\n');
    match module.name {
        "abi" => text.push_str(ENTRY),
        "core_ops" => text.push_str(&contracts(module)?),
        _ => {}
    }
    write!(
        text,
        "\n#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {guard} */\n"
    )?;
    Ok(text)
}

/// Text of `include/guild/guild.h`, which includes every other header.
pub fn umbrella() -> String {
    let mut text = banner(&["Everything that the guild ABI declares.".to_owned()]);
    text.push_str("#ifndef GUILD_GUILD_H\n#define GUILD_GUILD_H\n\n");
    for module in source::MODULES {
        text.push_str(&format!("#include \"{module}.h\"\n"));
    }
    text.push_str("#include \"layout.h\"\n\n#endif /* GUILD_GUILD_H */\n");
    text
}

/// Text of `include/guild/note.h`; `table_hash` is the SHA-256 of `layout.h` in hex.
pub fn note(table_hash: &str) -> String {
    let mut text = banner(&["The note by which a library says which package it is.".to_owned()]);
    text.push_str("#ifndef GUILD_NOTE_H\n#define GUILD_NOTE_H\n\n#include <stdint.h>\n\n");
    text.push_str("/** SHA-256 of layout.h, which fixes the size and offset of every field. */\n");
    writeln!(
        text,
        "#define GUILD_ABI_TABLE_HASH \\\n    \"{table_hash}\""
    )
    .ok();
    text.push_str(NOTE);
    text + "\n#endif /* GUILD_NOTE_H */\n"
}

/// Text of `sdk/guild-abi/src/table_hash.rs`.
pub fn table_hash_module(table_hash: &str) -> String {
    format!(
        "//! Generated from sdk/guild-abi by tests/c-abi; don't edit.\n\n\
         /// SHA-256 of `guild/layout.h`, which fixes the size and offset of every field of the ABI.\n\
         pub const GUILD_ABI_TABLE_HASH: &str =\n    \"{table_hash}\";\n"
    )
}

/// The comment at the top of every generated C file.
pub fn banner(paragraphs: &[String]) -> String {
    let mut text = String::from("/*\n");
    for paragraph in paragraphs {
        wrap(paragraph, &mut text);
        text.push_str(" *\n");
    }
    text + " * Generated from sdk/guild-abi by tests/c-abi; don't edit.\n"
        + " * SPDX-License-Identifier: MIT OR Apache-2.0\n */\n"
}

fn wrap(paragraph: &str, text: &mut String) {
    let mut line = String::from(" *");
    for word in paragraph.split(' ') {
        if line.len() + 1 + word.len() > 100 {
            text.push_str(&line);
            text.push('\n');
            line = String::from(" *");
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}

/// The module doc, less the sentence about which header it becomes.
fn title(module: &Module) -> Vec<String> {
    let becomes = format!(": becomes `guild/{}.h`.", module.name);
    module
        .doc
        .iter()
        .map(|text| text.replace(&becomes, "."))
        .collect()
}

fn declarations(module: &Module) -> Result<String, Box<dyn Error>> {
    let config = Config {
        no_includes: true,
        language: Language::C,
        style: Style::Both,
        documentation: true,
        documentation_style: DocumentationStyle::Doxy,
        line_length: 100,
        tab_width: 4,
        ..Config::default()
    };
    let mut builder = Builder::new()
        .with_config(config)
        .with_src(crate::root().join(source::path(module.name)));
    for item in module
        .structs
        .iter()
        .map(|item| &item.name)
        .chain(&module.aliases)
    {
        builder = builder.include_item(item);
    }
    let mut bytes = Vec::new();
    builder.generate()?.write(&mut bytes);
    Ok(parenthesise(&String::from_utf8(bytes)?))
}

/// Puts negative constants in parentheses, so that they survive any expression around them.
fn parenthesise(text: &str) -> String {
    let line = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["#define", name, value] if value.starts_with('-') => format!("#define {name} ({value})\n"),
        _ => format!("{}\n", line.trim_end()),
    };
    text.lines().map(line).collect()
}

/// Name, version and contract hash of every core operation.
fn contracts(module: &Module) -> Result<String, Box<dyn Error>> {
    let mut text = String::from(
        "\n/* Name, version and contract (SHA-256 of its canonical text) of each core operation. */\n",
    );
    for op in CORE_OPS {
        let label = op.name.rsplit('.').next().unwrap_or(op.name);
        let prefix = format!("GUILD_OP_{}", label.to_uppercase());
        if !module.constants.contains(&prefix) {
            return Err(format!("{} has no constant {prefix}", op.name).into());
        }
        write!(text, "\n#define {prefix}_NAME \"{}\"\n", op.name)?;
        writeln!(text, "#define {prefix}_VERSION {}", op.version)?;
        writeln!(text, "#define {prefix}_CONTRACT \\")?;
        text.push_str("    { \\\n");
        for row in op.hash.chunks(8) {
            let row: Vec<_> = row.iter().map(|byte| format!("0x{byte:02x}")).collect();
            writeln!(text, "        {}, \\", row.join(", "))?;
        }
        text.truncate(text.len() - ", \\\n".len());
        text.push_str(" \\\n    }\n");
    }
    Ok(text)
}
