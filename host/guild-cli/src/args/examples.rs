//! Examples that help texts begin with.

use clap::Command;

/// The words of a command, and lines that show it.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "guild doctor",
            "guild run model.gguf -p \"The capital of France is\" -n 8",
            "guild plan model.gguf -c 8192",
            "guild kernel install package.gkernel",
        ],
    ),
    (
        "run",
        &[
            "guild run model.gguf -p \"The capital of France is\" -n 8",
            "guild run model.gguf -p \"Once upon a time\" --temp 0.8 --seed 7",
            "guild run model.gguf --chat --system \"Answer in one sentence.\"",
            "guild run model.gguf --prompt-ids 1,2,3 --json",
        ],
    ),
    (
        "logits",
        &["guild logits model.gguf --ids 1,2,3 --out logits.npy"],
    ),
    (
        "bench",
        &[
            "guild bench model.gguf",
            "guild bench model.gguf -p 128,512 -n 32 -r 10",
        ],
    ),
    (
        "inspect",
        &[
            "guild inspect model.gguf",
            "guild inspect model.gguf --json",
        ],
    ),
    (
        "plan",
        &["guild plan model.gguf", "guild plan model.gguf -c 8192"],
    ),
    (
        "perplexity",
        &["guild perplexity model.gguf -f text.txt --chunks 8"],
    ),
    (
        "tokenize",
        &[
            "guild tokenize model.gguf -p \"Hello, world\"",
            "guild tokenize model.gguf --ids 1,2,3",
        ],
    ),
    (
        "template",
        &["guild template model.gguf --messages messages.json"],
    ),
    (
        "kernel keygen",
        &[
            "guild kernel keygen --seed-file author.seed --public author.json --label Author",
            "guild kernel keygen --seed-file trial.seed --public trial.json --test-identity",
        ],
    ),
    (
        "kernel sign",
        &[
            "guild kernel sign staging --key-id gk1-0123456789ab --seed-file author.seed --bundle package.gkernel",
            "guild kernel sign staging --external to-sign.bin",
            "guild kernel sign staging --external to-sign.bin --signature to-sign.sig --public author.json --bundle package.gkernel",
        ],
    ),
    (
        "kernel countersign",
        &[
            "guild kernel countersign package.gkernel --role reviewer --statement \"read the source\" --key-id gk1-0123456789ab --seed-file reviewer.seed --out reviewed.gkernel",
        ],
    ),
    (
        "kernel rotate-key",
        &[
            "guild kernel rotate-key --key-id gk1-0123456789ab --seed-file old.seed --new-public new.json --new-seed-file new.seed --scope org.example --out rotation.json",
        ],
    ),
    (
        "kernel advisory",
        &[
            "guild kernel advisory --key-id gk1-0123456789ab --seed-file author.seed --compromised gk1-0123456789ab --reason \"stolen in May\" -o advisory.json",
            "guild kernel advisory --key-id gk1-0123456789ab --seed-file author.seed --floor org.example.kernels=3 --reason \"a hole in 1.0\" -o advisory.json",
        ],
    ),
    (
        "kernel cosign",
        &[
            "guild kernel cosign today.json --after yesterday-seen.json --public machine.json --key-id gk1-0123456789ab --seed-file witness.seed --out cosigned.json",
        ],
    ),
    ("kernel verify", &["guild kernel verify package.gkernel"]),
    (
        "kernel install",
        &["guild kernel install package.gkernel --id org.example.kernels"],
    ),
    (
        "kernel enable",
        &[
            "guild kernel enable org.example.kernels",
            "guild kernel enable org.example.kernels@1.0.0",
        ],
    ),
    (
        "kernel disable",
        &[
            "guild kernel disable org.example.kernels",
            "guild kernel disable org.example.kernels --drain 30",
        ],
    ),
    (
        "kernel rollback",
        &[
            "guild kernel rollback org.example.kernels",
            "guild kernel rollback org.example.kernels --to 12 --pin",
            "guild kernel rollback --list",
        ],
    ),
    (
        "kernel remove",
        &[
            "guild kernel remove org.example.kernels@1.0.0",
            "guild kernel remove org.example.kernels",
        ],
    ),
    (
        "kernel receipt",
        &[
            "guild kernel receipt org.example.kernels",
            "guild kernel receipt org.example.kernels@1.0.0",
        ],
    ),
    (
        "kernel log",
        &[
            "guild kernel log",
            "guild kernel log --against checkpoint.json --public witness.json",
            "guild kernel log --checkpoint checkpoint.json --key-id gk1-0123456789ab --seed-file machine.seed",
        ],
    ),
    (
        "kernel trust add",
        &[
            "guild kernel trust add author.json --scope org.example",
            "guild kernel trust add author.json --scope org.example --right publish --right rotate",
        ],
    ),
    (
        "kernel trust rotate",
        &[
            "guild kernel trust rotate rotation.json --dry-run",
            "guild kernel trust rotate rotation.json",
        ],
    ),
    (
        "kernel trust policy",
        &[
            "guild kernel trust policy org.example --publishers 2 --reviewers 1 --distinct-operators",
        ],
    ),
    (
        "kernel audit",
        &["guild kernel audit", "guild kernel audit --verify -n 20"],
    ),
    (
        "kernel list",
        &["guild kernel list", "guild kernel list org.example.kernels"],
    ),
    ("kernel outdated", &["guild kernel outdated Downloads"]),
    (
        "kernel trust show",
        &["guild kernel trust show gk1-0123456789ab"],
    ),
    (
        "kernel trust revoke",
        &[
            "guild kernel trust revoke gk1-0123456789ab --superseded --reason \"new key in July\"",
            "guild kernel trust revoke gk1-0123456789ab --compromised --since-gen 40 --dry-run",
        ],
    ),
    (
        "kernel trust advisory",
        &[
            "guild kernel trust advisory advisory.json --dry-run",
            "guild kernel trust advisory advisory.json --since-gen 40",
        ],
    ),
    (
        "kernel selftest",
        &[
            "guild kernel selftest --crash",
            "guild kernel selftest --crash --kills 500 --seed 7",
        ],
    ),
    (
        "kernel floor",
        &[
            "guild kernel floor",
            "guild kernel floor org.example.kernels 3 --dry-run",
            "guild kernel floor org.example.kernels 3",
        ],
    ),
    ("kernel doctor", &["guild kernel doctor"]),
    ("doctor", &["guild doctor", "guild doctor --json"]),
    (
        "config show",
        &["guild config show", "guild config show --no-config"],
    ),
    ("completions", &["guild completions bash"]),
    ("man", &["guild man", "guild man pages"]),
];

/// The definition with the examples.
pub fn with_examples(command: Command) -> Command {
    below(command, "")
}

fn below(command: Command, path: &str) -> Command {
    let found = EXAMPLES.iter().find(|(words, _)| *words == path);
    let command = match found {
        Some((_, lines)) => command.before_help(format!("Examples:\n  {}", lines.join("\n  "))),
        None => command,
    };
    command.mut_subcommands(|command| {
        let path = format!("{path} {}", command.get_name());
        below(command, path.trim_start())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::definition;

    #[test]
    fn every_example_parses_and_belongs_to_its_command() {
        for (path, lines) in EXAMPLES {
            for line in *lines {
                let start = format!("guild {path}");
                assert!(line.starts_with(start.trim_end()), "{line}");
                let words = shell_words(line);
                let parsed = definition().try_get_matches_from(words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }

    /// Words with double quotes around those with blanks.
    fn shell_words(line: &str) -> Vec<String> {
        let parts = line.split('"').enumerate();
        let words = parts.flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect()
    }
}
