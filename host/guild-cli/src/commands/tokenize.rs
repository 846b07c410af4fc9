//! `guild tokenize`: text to token ids, or ids to text.

use crate::args::TokenizeArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::output::Output;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use guild_model::{ControlTokens, GgufFile, ModelSource, Tokenizer};
use serde_json::{Value, json};

/// Prints ids, pieces, a count, or the text of given ids.
pub fn run(args: &TokenizeArgs, output: Output) -> Outcome<()> {
    let file = GgufFile::open(&args.model)?;
    let tokenizer = Tokenizer::from_metadata(file.metadata())?;
    let ids = match &args.ids {
        Some(ids) => ids.clone(),
        None => encode(args, &tokenizer)?,
    };
    let pieces: Vec<&[u8]> = ids
        .iter()
        .map(|&id| tokenizer.token_bytes(id))
        .collect::<Result<_, _>>()?;
    let text = match &args.ids {
        Some(ids) => Some(tokenizer.decode(ids, control(args))?),
        None => None,
    };
    if output.json {
        output.object(object(&ids, &pieces, text))
    } else {
        print(args, &ids, &pieces, text.as_deref(), output)
    }
}

/// The ids of the text that the arguments name, with the tokens that go around it.
fn encode(args: &TokenizeArgs, tokenizer: &Tokenizer) -> Outcome<Vec<u32>> {
    let text = input::text(args.prompt.as_deref(), args.file.as_deref())?;
    let special = tokenizer.special_tokens();
    if args.add_bos && special.bos.is_none() {
        let message = "--add-bos: the model has no beginning-of-text token";
        return Err(Failure::new(Exit::Usage, message).hint("leave --add-bos out"));
    }
    let bos = args.add_bos || (special.adds_bos && !args.no_bos);
    let eos = special.adds_eos && !args.no_bos;
    let mut ids: Vec<u32> = special.bos.filter(|_| bos).into_iter().collect();
    ids.extend(tokenizer.encode(&text, !args.no_special)?);
    ids.extend(special.eos.filter(|_| eos));
    Ok(ids)
}

const fn control(args: &TokenizeArgs) -> ControlTokens {
    if args.no_special {
        ControlTokens::Hide
    } else {
        ControlTokens::Show
    }
}

fn print(
    args: &TokenizeArgs,
    ids: &[u32],
    pieces: &[&[u8]],
    text: Option<&str>,
    output: Output,
) -> Outcome<()> {
    if args.count {
        return output.data(ids.len().to_string());
    }
    if args.pieces {
        let lines = ids.iter().zip(pieces);
        let lines: String = lines
            .map(|(id, piece)| format!("{id}\t{}\n", shown(piece)))
            .collect();
        return output.stream(&lines);
    }
    match text {
        Some(text) => output.stream_text(&format!("{text}\n")),
        None => {
            let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
            output.data(ids.join(","))
        }
    }
}

/// A piece in quotes, with control characters and bytes that are no UTF-8 escaped.
fn shown(piece: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in piece.utf8_chunks() {
        out.extend(chunk.valid().escape_debug());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out.push('"');
    out
}

/// The JSON object (`schemas/cli/tokenize.v1.schema.json`).
fn object(ids: &[u32], pieces: &[&[u8]], text: Option<String>) -> Value {
    let piece = |piece: &&[u8]| match std::str::from_utf8(piece) {
        Ok(text) => Value::from(text),
        Err(_) => json!({ "bytes": STANDARD.encode(piece) }),
    };
    let pieces: Vec<Value> = pieces.iter().map(piece).collect();
    let mut object = json!({ "count": ids.len(), "ids": ids, "pieces": pieces });
    if let Some(text) = text {
        object["text"] = text.into();
    }
    object
}
