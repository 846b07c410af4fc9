//! From template arguments to a chat template and what it is given.

use crate::args::TemplateOptions;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::input::{read_file, read_json};
use guild_model::chat_template::{ChatInput, ChatTemplate, ChatTemplateError};
use guild_model::{GgufFile, ModelSource};
use serde_json::{Map, Value};

/// A template and everything beside the messages that it is given.
#[derive(Debug)]
pub struct Template {
    /// The template.
    pub template: ChatTemplate,
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
            Some(path) => ChatTemplate::from_source(&read_file(path)?, file.metadata())?,
            None => {
                ChatTemplate::from_metadata(file.metadata(), options.template_variant.as_deref())?
            }
        };
        let tools = match &options.tools {
            Some(path) => Some(read_json(path, &read_file(path)?)?),
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
        Ok(self.template.render(&ChatInput {
            messages,
            tools: self.tools.as_ref(),
            add_generation_prompt,
            variables: &variables,
            now: jiff::ZonedDateTime::now().datetime(),
        })?)
    }
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
