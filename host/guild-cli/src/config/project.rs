//! What the file of a project may set.
//!
//! Such a file was found, not named: anybody may have written it. So it sets what tunes a command and can
//! do no harm, and nothing else. An option is on this list because somebody has looked at it; a new one
//! isn't, until somebody does.

/// Tables and the options in them. What [`super::SettableOption::of_model`] holds for stands in `model`.
const ALLOWED: [(&str, &[&str]); 4] = [
    ("", &["color", "no-progress"]),
    ("model", &["threads", "context", "batch", "kv"]),
    (
        "run",
        &[
            "tokens",
            "temp",
            "top-k",
            "top-p",
            "min-p",
            "typical",
            "repeat-penalty",
            "repeat-last-n",
            "presence-penalty",
            "frequency-penalty",
            "seed",
        ],
    ),
    (
        "bench",
        &["prompt", "tokens", "depth", "batch", "repetitions"],
    ),
];

/// Whether a project's file may set the option `name` of a table.
pub fn may_set(table: &str, name: &str) -> bool {
    let mut tables = ALLOWED.iter().filter(|(allowed, _)| *allowed == table);
    tables.any(|(_, names)| names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use crate::config::{ConfigError, Definition, Layer, check_text};
    use clap::{Arg, Command, CommandFactory};

    /// The options that a project's file isn't kept from, each under the last of its tables.
    fn open_to_projects(command: &Command) -> Vec<String> {
        let definition = Definition::of(command);
        let mut open = Vec::new();
        for option in definition.options.iter().filter(|option| option.in_files) {
            for table in option.tables() {
                let line = format!("{} = 1\n", option.name);
                let text = match table.is_empty() {
                    true => line,
                    false => format!("[{table}]\n{line}"),
                };
                let read = check_text(command, Layer::Project, &text);
                let refused = matches!(read, Err(ConfigError::Guarded { .. }));
                assert_eq!(refused, option.guarded.is_some(), "{text}");
                if !refused {
                    open.push(format!("{table}.{}", option.name));
                }
            }
        }
        open.sort();
        open.dedup();
        open
    }

    /// Every option of every command: whoever adds one to the list adds it here too, with a reason.
    #[test]
    fn a_project_may_set_tuning_alone() {
        let model = ["batch", "context", "kv", "threads"];
        let models = ["bench", "logits", "perplexity", "plan", "run"];
        let run = [
            "frequency-penalty",
            "min-p",
            "presence-penalty",
            "repeat-last-n",
            "repeat-penalty",
            "seed",
            "temp",
            "tokens",
            "top-k",
            "top-p",
            "typical",
        ];
        let bench = ["batch", "depth", "prompt", "repetitions", "tokens"];
        let mut want: Vec<String> = [".color", ".no-progress"].map(str::to_owned).into();
        want.extend(model.map(|name| format!("model.{name}")));
        for table in models {
            want.extend(model.map(|name| format!("{table}.{name}")));
        }
        want.extend(run.map(|name| format!("run.{name}")));
        want.extend(bench.map(|name| format!("bench.{name}")));
        want.sort();
        want.dedup();
        assert_eq!(open_to_projects(&Cli::command()), want);
    }

    #[test]
    fn a_new_option_is_guarded_until_somebody_allows_it() {
        let novel = |command: Command| command.arg(Arg::new("novel").long("novel"));
        let command = Cli::command().mut_subcommand("run", novel);
        assert_eq!(
            open_to_projects(&command),
            open_to_projects(&Cli::command())
        );
        let refused = check_text(&command, Layer::Project, "\n[run]\nnovel = \"x\"\n");
        let message = refused.unwrap_err().to_string();
        assert!(message.starts_with("guild.toml:3: "), "{message}");
        assert!(message.contains("run.novel"), "{message}");
        assert_eq!(
            check_text(&command, Layer::User, "[run]\nnovel = \"x\"\n").unwrap(),
            1
        );
    }

    #[test]
    fn every_allowed_option_is_there() {
        let definition = Definition::of(&Cli::command());
        for (table, names) in ALLOWED {
            for name in names {
                assert!(!definition.find(table, name).is_empty(), "{table}.{name}");
            }
        }
    }
}
