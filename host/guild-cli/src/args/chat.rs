//! Arguments of `guild run --chat`.

use super::TemplateOptions;
use clap::Args;

/// How a conversation is held.
#[derive(Args, Clone, Debug, Default)]
pub struct ChatArgs {
    /// Hold a conversation through the model's chat template: at a terminal with a line editor, else one turn for `-p`,
    /// `-f` or each line of standard input.
    #[arg(long, conflicts_with = "prompt_ids")]
    pub chat: bool,
    /// Keep no history of what was typed.
    #[arg(long, requires = "chat")]
    pub no_history: bool,
    /// The template and what it is given.
    #[command(flatten)]
    pub template: TemplateOptions,
}
