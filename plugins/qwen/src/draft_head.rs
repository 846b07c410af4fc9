//! A draft head (multi-token prediction): from a token and the hidden state before it to the token
//! after it.
//!
//! `hidden` is the normalised state that the main section, or the draft head itself, gave for the
//! position before; so one head can draft several tokens in a row. The block in the middle is an
//! attention layer of the main model's shape.

use crate::attention_layer;
use crate::decoder::{block, rms_norm};
use crate::tensors::Description;
use guild_sdk::Failure;
use guild_sdk::runner::{Input, Output, Section, Value};

/// Describes block `number` as a draft section.
///
/// # Errors
/// The first tensor that is wrong.
pub(crate) fn describe(d: &mut Description<'_, '_>, number: u32) -> Result<(), Failure> {
    let hidden = d.hyperparameters.hidden;
    let vocabulary = d.vocabulary()?;
    d.builder
        .section(Section::Draft, &format!("draft.{number}"))?;
    let tokens = d.builder.input(Input::Tokens)?;
    let before = d.builder.input(Input::Hidden(hidden))?;
    let output_rows = d.builder.input(Input::OutputRows)?;
    d.builder.at_layer(number);

    let x = joined(d, number, vocabulary, tokens, before)?;
    let x = block(d, number, x, attention_layer::describe)?;

    let norm = if d.has_block_tensor(number, "nextn.shared_head_norm.weight")? {
        d.block_weight(number, "nextn.shared_head_norm.weight", &[hidden])?
    } else {
        d.weight("output_norm.weight", &[hidden])?
    };
    let x = rms_norm(d, "draft_output_norm", x, norm)?;
    d.builder.output(Output::Hidden, x)?;
    let rows = d.builder.select_rows("draft_output_rows", x, output_rows)?;
    let head = if d.has_block_tensor(number, "nextn.shared_head_head.weight")? {
        d.block_weight(
            number,
            "nextn.shared_head_head.weight",
            &[vocabulary, hidden],
        )?
    } else {
        d.output_weight(vocabulary)?
    };
    let [logits] = d.builder.linear("draft_output", rows, [head])?;
    d.builder.output(Output::Logits, logits)
}

/// Embedding and hidden state, each normalised, side by side in this order, through one projection.
fn joined(
    d: &mut Description<'_, '_>,
    number: u32,
    vocabulary: u64,
    tokens: Value,
    before: Value,
) -> Result<Value, Failure> {
    let hidden = d.hyperparameters.hidden;
    let table = if d.has_block_tensor(number, "nextn.embed_tokens.weight")? {
        d.block_weight(number, "nextn.embed_tokens.weight", &[vocabulary, hidden])?
    } else {
        d.weight("token_embd.weight", &[vocabulary, hidden])?
    };
    let x = d.builder.embedding("draft_embedding", table, tokens)?;
    let norm = d.block_weight(number, "nextn.enorm.weight", &[hidden])?;
    let x = rms_norm(d, "draft_embedding_norm", x, norm)?;
    let norm = d.block_weight(number, "nextn.hnorm.weight", &[hidden])?;
    let before = rms_norm(d, "draft_hidden_norm", before, norm)?;
    let both = d.builder.concat("draft_concat", x, before)?;
    let projection = d.block_weight(number, "nextn.eh_proj.weight", &[hidden, 2 * hidden])?;
    let [x] = d.builder.linear("draft_input", both, [projection])?;
    Ok(x)
}
