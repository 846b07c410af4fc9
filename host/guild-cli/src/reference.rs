//! The manual that is made from the definition of the command line: man pages and a page of Markdown.

use crate::args;
use crate::config::{Definition, INTERNAL_VARIABLES, with_variables};
use clap::{Arg, Command};
use std::fmt::Write;

/// Columns of the help texts in snapshots and pages.
pub const WIDTH: usize = 100;

/// A manual page.
#[derive(Clone, Debug)]
pub struct ManPage {
    /// Such as `guild-kernel-install.1`.
    pub file_name: String,
    /// The page in roff.
    pub text: String,
}

/// The definition that the manual describes: with variables, without this machine's configuration.
#[must_use]
pub fn definition() -> Command {
    let mut command = with_variables(args::definition())
        .term_width(WIDTH)
        .disable_help_subcommand(true);
    command.build();
    command
}

/// One page a command, guild(1) first.
///
/// # Errors
/// Those of writing to memory: none.
pub fn man_pages() -> std::io::Result<Vec<ManPage>> {
    let mut pages = Vec::new();
    for (words, command) in commands() {
        let name = words.replace(' ', "-");
        let mut text = Vec::new();
        // clap names a sub-command's page by its words; the program's own version is on each.
        let command = command.name(name.clone()).version(crate::version::VERSION);
        clap_mangen::Man::new(command)
            .date("")
            .source(format!("guild {}", crate::version::VERSION))
            .manual("guild")
            .render(&mut text)?;
        pages.push(ManPage {
            file_name: format!("{name}.1"),
            text: String::from_utf8_lossy(&text).into_owned(),
        });
    }
    Ok(pages)
}

/// Every command with its words, such as `guild kernel install`.
#[must_use]
pub fn commands() -> Vec<(String, Command)> {
    fn walk(command: &Command, words: &str, found: &mut Vec<(String, Command)>) {
        found.push((words.to_owned(), command.clone()));
        for below in command.get_subcommands() {
            walk(below, &format!("{words} {}", below.get_name()), found);
        }
    }
    let mut found = Vec::new();
    walk(&definition(), "guild", &mut found);
    found
}

/// The reference as one page of Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from(
        "# Reference of the command line\n\n\
         Made from the program's definition; a test compares. `docs/cli.md` says what the commands have\n\
         in common. Every option can be set by its variable, and but for those marked so in a\n\
         configuration file, in the table that stands with it.\n",
    );
    let definition = Definition::of(&with_variables(args::definition()));
    for (words, command) in commands() {
        section(&mut page, &words, &command, &definition);
    }
    variables(&mut page);
    page
}

/// Appends a command's section. Writing to a text can't fail, so results are dropped here and below.
fn section(page: &mut String, words: &str, command: &Command, definition: &Definition) {
    let about = command.get_about().map(ToString::to_string);
    let _ = write!(page, "\n## `{words}`\n\n{}.\n", about.unwrap_or_default());
    if command.has_subcommands() && words != "guild" {
        let names = command
            .get_subcommands()
            .map(|c| format!("`{words} {}`", c.get_name()));
        let _ = writeln!(
            page,
            "\nCommands: {}.",
            names.collect::<Vec<_>>().join(", ")
        );
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).to_owned();
    let _ = writeln!(page, "\n```text\n{usage}\n```");
    let shown: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| words == "guild" || !argument.is_global_set())
        .filter(|argument| !["help", "version"].contains(&argument.get_id().as_str()))
        .collect();
    if shown.is_empty() {
        return;
    }
    page.push_str(
        "\n| argument | what it does | default | variable | table |\n|---|---|---|---|---|\n",
    );
    let below = words.strip_prefix("guild").unwrap_or(words).trim();
    for argument in shown {
        row(page, below, argument, definition);
    }
}

fn row(page: &mut String, command: &str, argument: &Arg, definition: &Definition) {
    let option = argument.get_long().and_then(|long| {
        let mut options = definition.options.iter();
        options.find(|option| option.command == command && option.name == long)
    });
    let help = argument.get_help().map(ToString::to_string);
    let help = help
        .unwrap_or_default()
        .replace('|', "\\|")
        .replace('\n', " ");
    // The variable has a column of its own.
    let variable = option.map_or(String::new(), |option| {
        format!(" [env: {}]", option.variable)
    });
    let help = help
        .strip_suffix(variable.as_str())
        .unwrap_or(&help)
        .to_owned();
    let choices: Vec<String> = argument
        .get_possible_values()
        .iter()
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    let takes_value = argument.get_action().takes_values();
    let is_listed = !argument.is_hide_possible_values_set();
    let help = match choices.is_empty() || !takes_value || !is_listed {
        true => help,
        false => format!("{help}: {}", choices.join(", ")),
    };
    let default = option.map_or(String::new(), |option| match option.defaults.is_empty() {
        true => String::new(),
        false => format!("`{}`", option.defaults.join(",")),
    });
    let default = if takes_value { default } else { String::new() };
    let variable = option.map_or(String::new(), |option| format!("`{}`", option.variable));
    let table = option.map_or(String::new(), |option| match option.in_files {
        false => "not in files".to_owned(),
        true => {
            let tables = option.tables();
            let tables = tables.iter().map(|table| match table.is_empty() {
                true => "(top)".to_owned(),
                false => format!("`[{table}]`"),
            });
            let guarded = if option.guarded.is_some() {
                ", not a project's"
            } else {
                ""
            };
            format!("{}{guarded}", tables.collect::<Vec<_>>().join(" "))
        }
    });
    let _ = writeln!(
        page,
        "| {} | {help} | {default} | {variable} | {table} |",
        spelling(argument)
    );
}

/// The argument as it is written: `-t, --threads N`.
fn spelling(argument: &Arg) -> String {
    let values: Vec<String> = argument
        .get_value_names()
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect();
    let values = values.join(" ");
    let flags = [
        argument.get_short().map(|short| format!("-{short}")),
        argument.get_long().map(|long| format!("--{long}")),
    ];
    let flags: Vec<String> = flags.into_iter().flatten().collect();
    match (flags.is_empty(), argument.get_action().takes_values()) {
        (true, _) => format!("`{values}`"),
        (false, true) => format!("`{} {values}`", flags.join(", ")),
        (false, false) => format!("`{}`", flags.join(", ")),
    }
}

/// The variables that belong to no option.
fn variables(page: &mut String) {
    page.push_str("\n## Other variables\n\n| variable | read by |\n|---|---|\n");
    for variable in INTERNAL_VARIABLES {
        let _ = writeln!(page, "| `{}` | {} |", variable.name, variable.purpose);
    }
    page.push_str(
        "\nAn empty variable counts as unset. Switches take `1`, `true`, `yes`, `on` and `0`, `false`,\n\
         `no`, `off`. Any other variable that starts with `GUILD_` gets a warning.\n",
    );
}
