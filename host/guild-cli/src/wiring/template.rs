//! From template arguments to a chat template and what it is given.

use crate::args::TemplateOptions;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::input::{read_file, read_json};
use guild_model::chat_template::{ChatInput, ChatTemplate, ChatTemplateError};
use guild_model::{GgufFile, ModelSource};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A template and everything beside the messages that it is given.
#[derive(Debug)]
pub struct Template {
    /// The template.
    pub template: ChatTemplate,
    /// The file that it is from, where that isn't the model's; faults name it.
    pub from: Option<PathBuf>,
    /// Tools, as the file has them.
    pub tools: Option<Value>,
    /// Further variables.
    pub variables: Map<String, Value>,
    /// Whether the model may think; `None` leaves it to the template.
    pub thinking: Option<bool>,
}

impl Template {
    /// Reads the template and the files that the options name.
    pub fn open(options: &TemplateOptions, file: &GgufFile) -> Outcome<Template> {
        let template = match &options.chat_template {
            Some(path) => ChatTemplate::from_source(&read_file(path)?, file.metadata())
                .map_err(|error| failure_in(Some(path), error))?,
            None => {
                ChatTemplate::from_metadata(file.metadata(), options.template_variant.as_deref())?
            }
        };
        let tools = match &options.tools {
            Some(path) => Some(read_json(
                path,
                &read_file(path)?,
                "give a list of tools, such as [{\"type\": \"function\", \"function\": {\"name\": \"f\"}}]",
            )?),
            None => None,
        };
        let variables = match &options.template_kwargs {
            Some(text) => serde_json::from_str(text).map_err(|error| {
                Failure::new(Exit::Usage, format!("--template-kwargs: {error}"))
                    .hint("give a JSON object, such as {\"name\": true}")
            })?,
            None => Map::new(),
        };
        Ok(Template {
            template,
            from: options.chat_template.clone(),
            tools,
            variables,
            thinking: options.thinking(),
        })
    }

    /// The text of a conversation, now.
    pub fn render(&self, messages: &[Value], add_generation_prompt: bool) -> Outcome<String> {
        let mut variables = self.variables.clone();
        if let Some(thinking) = self.thinking {
            variables.insert("enable_thinking".to_owned(), thinking.into());
        }
        let input = ChatInput {
            messages,
            tools: self.tools.as_ref(),
            add_generation_prompt,
            variables: &variables,
            now: jiff::ZonedDateTime::now().datetime(),
        };
        self.template
            .render(&input)
            .map_err(|error| failure_in(self.from.as_deref(), error))
    }
}

/// The failure of a template, with the file that it is from; messages that are none are no fault of that file.
fn failure_in(from: Option<&Path>, error: ChatTemplateError) -> Failure {
    let of_messages = matches!(error, ChatTemplateError::Message { .. });
    let mut failure = Failure::from(error);
    if let Some(path) = from.filter(|_| !of_messages) {
        failure.message = format!("{}: {}", path.display(), failure.message);
    }
    failure
}

impl From<ChatTemplateError> for Failure {
    fn from(error: ChatTemplateError) -> Failure {
        use ChatTemplateError as E;
        let exit = match (&error, error.code()) {
            (_, Some(code)) => Exit::from_number(code.exit()),
            (E::Internal { .. }, None) => Exit::Internal,
            (E::Missing | E::UnknownVariant { .. }, None) => Exit::NotFound,
            (_, None) => Exit::Usage,
        };
        Failure::new(exit, error.to_string())
    }
}
