//! The help text of every command, as a snapshot. `INSTA_UPDATE=always` writes them anew.

use guild_cli::reference;

#[test]
fn every_help_text_is_the_one_in_the_snapshots() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (words, mut command) in reference::commands() {
            let text = command.render_long_help().to_string();
            insta::assert_snapshot!(words.replace(' ', "-"), text);
        }
    });
}

#[test]
fn every_command_and_option_has_a_help_text() {
    for (words, command) in reference::commands() {
        assert!(command.get_about().is_some(), "{words}");
        for argument in command.get_arguments() {
            let named = argument.get_help().is_some();
            assert!(named, "{words}: {}", argument.get_id());
        }
    }
}

/// A misspelt command, option or value names the one that was meant.
#[test]
fn what_was_meant_is_named() {
    let refused = |words: &[&str]| {
        let command = reference::definition();
        let words = [&["guild"], words].concat();
        command.try_get_matches_from(words).unwrap_err().to_string()
    };
    assert!(refused(&["inspct", "x"]).contains("inspect"));
    assert!(refused(&["run", "x", "--tmep", "1"]).contains("--temp"));
    assert!(refused(&["run", "x", "--kv", "f61"]).contains("f16"));
}
