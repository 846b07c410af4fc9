//! The main section: token embedding, layers, head.

use crate::hyperparameters::{FeedForward, Hyperparameters};
use crate::tensors::Description;
use crate::{attention_layer, delta_layer, dense, draft_head, experts};
use guild_sdk::Failure;
use guild_sdk::runner::{Builder, Input, Model, Output, Section, Value};

/// Describes the whole model: the main section, then a draft section for each draft block.
///
/// # Errors
/// The first tensor or invariant that is wrong.
pub(crate) fn describe_model(
    model: &Model<'_>,
    builder: &mut Builder<'_>,
    hyperparameters: &Hyperparameters,
) -> Result<(), Failure> {
    let mut description = Description {
        model,
        builder,
        hyperparameters,
    };
    main_section(&mut description)?;
    for draft in 0..hyperparameters.draft_blocks {
        draft_head::describe(&mut description, hyperparameters.layers + draft)?;
    }
    Ok(())
}

fn main_section(d: &mut Description<'_, '_>) -> Result<(), Failure> {
    let hidden = d.hyperparameters.hidden;
    let vocabulary = d.vocabulary()?;
    d.builder.section(Section::Main, "main")?;
    let tokens = d.builder.input(Input::Tokens)?;
    let output_rows = d.builder.input(Input::OutputRows)?;
    let table = d.weight("token_embd.weight", &[vocabulary, hidden])?;
    let mut x = d.builder.embedding("token_embedding", table, tokens)?;
    for layer in 0..d.hyperparameters.layers {
        x = main_layer(d, layer, x)?;
    }
    d.builder.at_layer(d.hyperparameters.layers);
    let norm = d.weight("output_norm.weight", &[hidden])?;
    // Draft heads read the normalised hidden state of every row; without them only the rows whose
    // logits are wanted go on.
    let rows = if d.hyperparameters.draft_blocks > 0 {
        let all = rms_norm(d, "output_norm", x, norm)?;
        d.builder.output(Output::Hidden, all)?;
        d.builder.select_rows("output_rows", all, output_rows)?
    } else {
        let chosen = d.builder.select_rows("output_rows", x, output_rows)?;
        rms_norm(d, "output_norm", chosen, norm)?
    };
    let head = d.output_weight(vocabulary)?;
    let [logits] = d.builder.linear("output", rows, [head])?;
    d.builder.output(Output::Logits, logits)
}

fn main_layer(d: &mut Description<'_, '_>, layer: u32, x: Value) -> Result<Value, Failure> {
    if d.hyperparameters.is_attention(layer) {
        block(d, layer, x, attention_layer::describe)
    } else {
        block(d, layer, x, delta_layer::describe)
    }
}

/// One block on the residual stream: `x + mixer(norm(x))`, then `x + feed_forward(norm(x))`.
///
/// # Errors
/// The first tensor that is wrong.
pub(crate) fn block(
    d: &mut Description<'_, '_>,
    block: u32,
    x: Value,
    mixer: fn(&mut Description<'_, '_>, u32, Value) -> Result<Value, Failure>,
) -> Result<Value, Failure> {
    let hidden = d.hyperparameters.hidden;
    d.builder.at_layer(block);
    let norm = d.block_weight(block, "attn_norm.weight", &[hidden])?;
    let normed = rms_norm(d, "attn_norm", x, norm)?;
    let mixed = mixer(d, block, normed)?;
    let x = d.builder.add("attn_residual", mixed, x)?;

    let norm = d.block_weight(block, "post_attention_norm.weight", &[hidden])?;
    let normed = rms_norm(d, "post_attention_norm", x, norm)?;
    let fed = match d.hyperparameters.feed_forward {
        FeedForward::Experts {
            experts,
            top_k,
            ff,
            shared_ff,
        } => experts::describe(d, block, normed, [experts, ff, shared_ff], top_k)?,
        FeedForward::Dense { ff } => dense::describe(d, block, normed, ff)?,
    };
    d.builder.add("ffn_residual", fed, x)
}

/// RMS norm with the model's epsilon. The converter has added 1 to the weights of zero-centred norms.
///
/// # Errors
/// The host's.
pub(crate) fn rms_norm(
    d: &mut Description<'_, '_>,
    name: &str,
    x: Value,
    weight: Value,
) -> Result<Value, Failure> {
    let epsilon = d.hyperparameters.epsilon;
    d.builder.rms_norm(name, x, weight, epsilon)
}
