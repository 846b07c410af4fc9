//! What a file holds can't drive the terminal that lists it.

use crate::guild::Folder;
use guild_hostile::tiny;
use guild_hostile::writer::text;

const CLEAR: &str = "\u{1b}[2J\u{202e}\r\u{7}";

#[test]
fn nothing_in_a_file_reaches_the_terminal_as_a_control_character() {
    let mut model = tiny::qwen35moe();
    let line_break = format!("{CLEAR}\nforged = line");
    model
        .set("general.name", text(&line_break))
        .set(&format!("qwen35moe.{line_break}"), text(&line_break))
        .set("tokenizer.chat_template.a\nb", text(&line_break))
        .set("tokenizer.ggml.pre", text(&line_break));
    model.find("output.weight").name = line_break.clone().into_bytes();
    let folder = Folder::of(&[("model.gguf".into(), model.bytes())]);
    for command in [&["inspect", "--all"][..], &["plan"]] {
        let ended = folder.guild(command);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        let odd = said
            .chars()
            .find(|&c| c != '\n' && (c.is_control() || c == '\u{202e}'));
        assert_eq!(odd, None, "{said}");
        assert!(
            !said.lines().any(|line| line.starts_with("forged")),
            "{said}"
        );
    }
    let listed = folder.guild(&["inspect", "--all"]).stdout;
    assert!(listed.contains("forged = line"), "shown, but escaped");
}
