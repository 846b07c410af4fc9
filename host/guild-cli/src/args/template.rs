//! Arguments of `guild template`, and how a conversation is put into text: shared with `guild run --chat`.

use clap::Args;
use std::path::PathBuf;

/// `guild template`.
#[derive(Args, Debug)]
pub struct TemplateArgs {
    /// Model file (GGUF).
    pub model: PathBuf,
    /// JSON file with the messages: a list, or an object with `messages` and perhaps `tools`; without it they are read
    /// from standard input.
    #[arg(long, value_name = "FILE.json")]
    pub messages: Option<PathBuf>,
    /// Leave out the start of the assistant's turn at the end.
    #[arg(long)]
    pub no_generation_prompt: bool,
    /// The template and what it is given.
    #[command(flatten)]
    pub options: TemplateOptions,
}

/// Which chat template is used, and what it is given beside the messages.
#[derive(Args, Clone, Debug, Default)]
pub struct TemplateOptions {
    /// Chat template to use instead of the model's own.
    #[arg(long, value_name = "FILE", conflicts_with = "template_variant")]
    pub chat_template: Option<PathBuf>,
    /// Named variant of the model's chat template.
    #[arg(long, value_name = "NAME")]
    pub template_variant: Option<String>,
    /// System message at the start of the conversation.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub system: Option<String>,
    /// Let the model think before it answers, where its template knows `enable_thinking`; of this and --no-think the
    /// last counts.
    #[arg(long, overrides_with = "no_think")]
    pub think: bool,
    /// Keep the model from thinking before it answers; of this and --think the last counts.
    #[arg(long)]
    pub no_think: bool,
    /// JSON file with a list of tools that the model may call; the template gets it as it is.
    #[arg(long, value_name = "FILE.json")]
    pub tools: Option<PathBuf>,
    /// Further variables of the template, as a JSON object.
    #[arg(long, value_name = "JSON")]
    pub template_kwargs: Option<String>,
}

impl TemplateOptions {
    /// Whether any of them was given.
    pub fn any(&self) -> bool {
        self.chat_template.is_some()
            || self.template_variant.is_some()
            || self.system.is_some()
            || self.think
            || self.no_think
            || self.tools.is_some()
            || self.template_kwargs.is_some()
    }

    /// What was asked for about thinking; `None` leaves it to the template.
    pub fn thinking(&self) -> Option<bool> {
        (self.think || self.no_think).then_some(!self.no_think)
    }
}
