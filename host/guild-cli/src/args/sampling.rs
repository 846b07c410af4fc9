//! How tokens are chosen: shared by all commands that generate.

use clap::Args;
use guild_engine::LogitBias;

/// Sampling options. One that isn't given comes from the model file's `general.sampling` keys, else it
/// is off; without a temperature the best token is taken.
#[derive(Args, Clone, Debug, Default)]
pub struct SamplingArgs {
    /// Temperature; 0 takes the most likely token.
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub temp: Option<f32>,
    /// Keep the K most likely tokens; 0 keeps all.
    #[arg(long, value_name = "K")]
    pub top_k: Option<u32>,
    /// Keep the most likely tokens that hold probability P together; 1 keeps all.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub top_p: Option<f32>,
    /// Keep tokens with at least P times the largest probability; 0 keeps all.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub min_p: Option<f32>,
    /// Keep the locally typical tokens that hold probability P together; 1 keeps all.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub typical: Option<f32>,
    /// Divide the logits of recent tokens by X; 1 turns it off.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub repeat_penalty: Option<f32>,
    /// How many tokens, of prompt and answer, count as recent; 64 if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=16_777_216))]
    pub repeat_last_n: Option<u32>,
    /// Take X off the logits of recent tokens.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub presence_penalty: Option<f32>,
    /// Take X off the logits of recent tokens for each time that they occur.
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub frequency_penalty: Option<f32>,
    /// Add to a token's logit, such as `15043+1` or `15043-0.5`; `15043-inf` forbids the token.
    #[arg(long, value_name = "ID±X", value_delimiter = ',', value_parser = logit_bias)]
    pub logit_bias: Vec<LogitBias>,
    /// Seed of the random stream.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
}

/// Reads `ID+X` or `ID-X`.
fn logit_bias(text: &str) -> Result<LogitBias, String> {
    let refused = || format!("`{text}` isn't a token id, + or -, and a number, such as 15043-0.5");
    let sign = text.find(['+', '-']).ok_or_else(refused)?;
    let (id, bias) = text.split_at(sign);
    Ok(LogitBias {
        token: id.parse().map_err(|_| refused())?,
        bias: bias.parse().map_err(|_| refused())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bias_is_an_id_a_sign_and_a_number() {
        let bias = |text| logit_bias(text).map(|bias| (bias.token, bias.bias));
        assert_eq!(bias("15043+1"), Ok((15043, 1.0)));
        assert_eq!(bias("0-0.5"), Ok((0, -0.5)));
        assert_eq!(bias("7-1e-3"), Ok((7, -1e-3)));
        assert_eq!(bias("7-inf"), Ok((7, f32::NEG_INFINITY)));
        for text in [
            "",
            "7",
            "+1",
            "7=1",
            "x+1",
            "7+",
            "7+x",
            "-7+1",
            "4294967296+1",
        ] {
            assert!(bias(text).is_err(), "{text}");
        }
    }
}
