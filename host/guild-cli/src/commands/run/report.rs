//! What a run ends with: times, rates and what each package ran.

use super::generation::Generated;
use crate::failure::Outcome;
use crate::measure::{peak_rss_bytes, per_second};
use crate::output::Output;
use crate::wiring::model::OpenModel;
use crate::wiring::sampling::EffectiveSampling;
use serde_json::json;

/// The figures of one run.
pub struct Report<'a> {
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// What came out.
    pub generated: &'a Generated,
    /// How tokens were chosen.
    pub sampling: &'a EffectiveSampling,
    /// From the start of the command to the first pass.
    pub load_ms: f64,
}

impl Report<'_> {
    /// A line for people, or the command's object.
    pub fn print(&self, model: &OpenModel, output: Output) -> Outcome<()> {
        let generated = self.generated;
        // The first token comes out of prefill, so decode made one less.
        let decoded = generated.tokens.len().saturating_sub(1);
        let prefill_tps = per_second(self.prompt_tokens, generated.prefill_ms);
        let decode_tps = per_second(decoded, generated.decode_ms);
        output.say(format!(
            "load {:.0} ms, prefill {} tokens at {prefill_tps:.1}/s, decode {decoded} tokens at {decode_tps:.1}/s",
            self.load_ms, self.prompt_tokens,
        ));
        output.object(json!({
            "tokens": generated.tokens,
            "text": generated.text,
            "finish": generated.finish.name(),
            "prompt_tokens": self.prompt_tokens,
            "sampling": self.sampling.json(),
            "timings": {
                "load_ms": self.load_ms,
                "prefill_ms": generated.prefill_ms,
                "decode_ms": generated.decode_ms,
                "prefill_tps": prefill_tps,
                "decode_tps": decode_tps,
            },
            "policy": model.policy,
            "packages": model.package_report(),
            "peak_rss_bytes": peak_rss_bytes(),
        }))
    }
}
