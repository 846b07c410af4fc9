//! Chat templates: from a conversation to the text that a model continues.
//!
//! A model file carries its template as Jinja source (`tokenizer.chat_template`), perhaps with named variants. Templates
//! are written for Python's jinja2 with the settings of Hugging Face transformers, so those are reproduced here on
//! minijinja: `trim_blocks`, `lstrip_blocks`, loop controls, `raise_exception`, `strftime_now`, a `tojson` that neither
//! escapes HTML nor ASCII, Python's methods, and Python's spelling of values. `docs/chat.md` says what a template sees.
//!
//! A template is somebody else's program. It runs under limits of work, output and nesting ([`limits`]), on a thread of
//! its own with a stack that these limits can't exhaust; what goes wrong is a [`ChatTemplateError`].
//!
//! A [`ChatTemplate`] is immutable and may be used from any thread.

mod charge;
mod environment;
mod error;
mod filters;
mod json;
pub mod limits;
mod messages;
mod methods;
mod number;
mod rewrite;
mod split;
mod stack;
mod stored;

pub use error::ChatTemplateError;
pub use jiff::civil::DateTime;
pub use messages::normalise;

use crate::error::ModelError;
use crate::metadata::{Array, Metadata, Value as MetadataValue};
use minijinja::{Environment, Value};
use serde_json::{Map, Value as Json};
use std::io::{Error as IoError, Write};
use std::sync::Arc;

/// The key of a file's template; a variant's name comes after a dot.
const TEMPLATE_KEY: &str = "tokenizer.chat_template";
/// The key that lists the variants' names.
const VARIANTS_KEY: &str = "tokenizer.chat_templates";
/// The only template of the environment.
const NAME: &str = "chat";

/// A compiled template and the texts of the model's special tokens.
pub struct ChatTemplate {
    environment: Arc<Environment<'static>>,
    special: Vec<(&'static str, String)>,
}

/// What a template is given.
#[derive(Clone, Copy, Debug)]
pub struct ChatInput<'a> {
    /// The conversation: objects with a `role`, as [`normalise`] takes them.
    pub messages: &'a [Json],
    /// Tools that the model may call, in any form that the template knows; most want OpenAI's.
    pub tools: Option<&'a Json>,
    /// Whether the text ends with the start of the assistant's turn.
    pub add_generation_prompt: bool,
    /// Further variables, such as `enable_thinking`. They win over guild's own.
    pub variables: &'a Map<String, Json>,
    /// The time that `strftime_now` shows.
    pub now: DateTime,
}

impl ChatTemplate {
    /// The template in a model's metadata: the main one, or the variant of this name.
    ///
    /// # Errors
    /// - [`ChatTemplateError::Missing`] when the file has none;
    /// - [`ChatTemplateError::UnknownVariant`] when it has no variant of this name;
    /// - [`ChatTemplateError::Model`] when the metadata has another type there;
    /// - as [`ChatTemplate::from_source`].
    pub fn from_metadata(
        metadata: &Metadata,
        variant: Option<&str>,
    ) -> Result<Self, ChatTemplateError> {
        let key = metadata_key(variant);
        let source = metadata.get::<&str>(&key)?.ok_or_else(|| match variant {
            None => ChatTemplateError::Missing,
            Some(_) if !has_any(metadata) => ChatTemplateError::Missing,
            Some(name) => ChatTemplateError::UnknownVariant {
                name: name.to_owned(),
                variants: variants(metadata).join(", "),
            },
        })?;
        Self::from_source(source, metadata)
    }

    /// A template from elsewhere for the model of this metadata, which gives the special tokens.
    ///
    /// # Errors
    /// - [`ChatTemplateError::TooLong`] above [`limits::TEMPLATE_BYTES_MAX`];
    /// - [`ChatTemplateError::Syntax`] when it isn't a template, or has a tag above [`limits::TAG_BYTES_MAX`].
    pub fn from_source(source: &str, metadata: &Metadata) -> Result<Self, ChatTemplateError> {
        let special = special_tokens(metadata)?;
        Self::with_special_tokens(source, special)
    }

    /// A template without a model: there are no special tokens.
    ///
    /// # Errors
    /// As [`ChatTemplate::from_source`].
    pub fn without_model(source: &str) -> Result<Self, ChatTemplateError> {
        Self::with_special_tokens(source, Vec::new())
    }

    fn with_special_tokens(
        source: &str,
        special: Vec<(&'static str, String)>,
    ) -> Result<Self, ChatTemplateError> {
        check_length(source)?;
        let prepared = rewrite::prepare(source)?;
        check_length(&prepared)?;
        let environment = stack::run(|| -> Result<_, minijinja::Error> {
            let mut environment = environment::new()?;
            environment.add_template_owned(NAME, prepared)?;
            Ok(environment)
        })?
        .map_err(|error| ChatTemplateError::of_compiling(&error))?;
        Ok(Self {
            environment: Arc::new(environment),
            special,
        })
    }

    /// Renders a conversation.
    ///
    /// # Errors
    /// - [`ChatTemplateError::Message`] for messages that aren't objects with a role;
    /// - [`ChatTemplateError::Raised`] when the template refuses them;
    /// - [`ChatTemplateError::Render`] for a fault in the template;
    /// - [`ChatTemplateError::Limit`] when it does too much;
    /// - [`ChatTemplateError::Slow`] when it takes longer than [`limits::TIME_MAX`];
    /// - [`ChatTemplateError::Internal`] when guild or a library fails.
    pub fn render(&self, input: &ChatInput<'_>) -> Result<String, ChatTemplateError> {
        let variables = self.variables(input)?;
        let environment = Arc::clone(&self.environment);
        let now = input.now;
        let work = move || {
            render_here(&environment, &variables, now)
                .map_err(|error| ChatTemplateError::of_rendering(&error))
        };
        stack::run_within(limits::TIME_MAX, work)?
    }

    /// What the template sees, but for functions.
    fn variables(&self, input: &ChatInput<'_>) -> Result<Map<String, Json>, ChatTemplateError> {
        let messages = normalise(input.messages)?;
        let mut variables: Map<String, Json> = self
            .special
            .iter()
            .map(|(name, text)| ((*name).to_owned(), Json::from(text.as_str())))
            .collect();
        variables.insert("messages".into(), messages.into());
        variables.insert("tools".into(), input.tools.cloned().unwrap_or(Json::Null));
        variables.insert("documents".into(), Json::Null);
        variables.insert(
            "add_generation_prompt".into(),
            input.add_generation_prompt.into(),
        );
        variables.extend(input.variables.clone());
        Ok(variables)
    }
}

/// Renders on this thread's stack.
fn render_here(
    environment: &Environment<'static>,
    variables: &Map<String, Json>,
    now: DateTime,
) -> Result<String, minijinja::Error> {
    let clock = Value::from_function(move |format: String| environment::strftime(&format, now));
    let context = Value::from_pairs(
        variables
            .iter()
            .map(|(name, value)| (name.as_str(), json::to_value(value)))
            .chain([("strftime_now", clock)]),
    );
    let mut output = Bounded(Vec::new());
    let template = environment.get_template(NAME)?;
    template.render_captured_to(context, &mut output)?;
    // Only whole strings are written, so this can't fail.
    Ok(String::from_utf8(output.0).unwrap_or_default())
}

impl std::fmt::Debug for ChatTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatTemplate")
            .field("special", &self.special)
            .finish_non_exhaustive()
    }
}

/// Refuses a source that is too long for the engine.
fn check_length(source: &str) -> Result<(), ChatTemplateError> {
    if source.len() <= limits::TEMPLATE_BYTES_MAX {
        return Ok(());
    }
    Err(ChatTemplateError::TooLong {
        bytes: source.len(),
        limit: limits::TEMPLATE_BYTES_MAX,
    })
}

/// The metadata key of a file's main template, or of the variant of this name.
#[must_use]
pub fn metadata_key(variant: Option<&str>) -> String {
    match variant {
        None => TEMPLATE_KEY.to_owned(),
        Some(name) => format!("{TEMPLATE_KEY}.{name}"),
    }
}

/// Whether there is any template, the main one or a variant.
fn has_any(metadata: &Metadata) -> bool {
    metadata.value(TEMPLATE_KEY).is_some() || !variants(metadata).is_empty()
}

/// Names of the variants that a file has beside its main template.
fn variants(metadata: &Metadata) -> Vec<String> {
    let listed: Vec<&str> = match metadata.get::<Array<'_>>(VARIANTS_KEY) {
        Ok(Some(names)) => names.to_vec().unwrap_or_default(),
        _ => Vec::new(),
    };
    let keyed = metadata
        .iter()
        .filter_map(|(key, _)| key.strip_prefix(TEMPLATE_KEY)?.strip_prefix('.'));
    let mut names: Vec<String> = listed
        .into_iter()
        .chain(keyed)
        .map(str::to_owned)
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The texts of the tokens that the file gives a role, by the names that templates use.
fn special_tokens(metadata: &Metadata) -> Result<Vec<(&'static str, String)>, ModelError> {
    const ROLES: [(&str, &str); 5] = [
        ("bos_token", "tokenizer.ggml.bos_token_id"),
        ("eos_token", "tokenizer.ggml.eos_token_id"),
        ("unk_token", "tokenizer.ggml.unknown_token_id"),
        ("sep_token", "tokenizer.ggml.seperator_token_id"),
        ("pad_token", "tokenizer.ggml.padding_token_id"),
    ];
    let Some(tokens) = metadata.get::<Array<'_>>("tokenizer.ggml.tokens")? else {
        return Ok(Vec::new());
    };
    let mut special = Vec::new();
    for (name, key) in ROLES {
        let Some(id) = metadata.get::<u64>(key)? else {
            continue;
        };
        let text = usize::try_from(id)
            .ok()
            .and_then(|id| tokens.iter().nth(id));
        if let Some(MetadataValue::String(text)) = text {
            special.push((name, text.to_owned()));
        }
    }
    Ok(special)
}

/// Output that refuses to grow beyond [`limits::OUTPUT_BYTES_MAX`].
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if bytes.len() > limits::OUTPUT_BYTES_MAX - self.0.len() {
            return Err(IoError::other(error::OutputFull));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
