//! From sampling options and a model file's own defaults to what is in effect.
//!
//! An option wins over the file's `general.sampling` keys, which win over "off".

use crate::args::SamplingArgs;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use guild_engine::{EngineError, Sampler, Sampling};
use guild_model::{Metadata, Value};
use serde_json::json;

/// Keys that guild doesn't carry out. Where one is there, the user is told.
const NOT_CARRIED_OUT: [&str; 3] = ["sequence", "mirostat", "xtc_probability"];

/// What is in effect, and where it comes from.
#[derive(Debug)]
pub struct EffectiveSampling {
    /// The parameters.
    pub sampling: Sampling,
    /// Names of the parameters that the model file gave.
    pub from_file: Vec<&'static str>,
}

impl EffectiveSampling {
    /// Puts options over the file's keys, and checks the outcome.
    ///
    /// # Errors
    /// USAGE names an option outside its range, DAMAGED a key of the file.
    pub fn new(args: &SamplingArgs, metadata: &Metadata) -> Outcome<EffectiveSampling> {
        let off = Sampling::default();
        let mut file = FileDefaults {
            metadata,
            used: Vec::new(),
        };
        let sampling = Sampling {
            temperature: file.float(args.temp, "temp", "temp", off.temperature)?,
            top_k: file.count(args.top_k, "top-k", "top_k", off.top_k, |_| Some(0))?,
            top_p: file.float(args.top_p, "top-p", "top_p", off.top_p)?,
            min_p: file.float(args.min_p, "min-p", "min_p", off.min_p)?,
            typical: args.typical.unwrap_or(off.typical),
            min_keep: off.min_keep,
            repeat_penalty: file.float(
                args.repeat_penalty,
                "repeat-penalty",
                "penalty_repeat",
                off.repeat_penalty,
            )?,
            repeat_last_n: file.count(
                args.repeat_last_n,
                "repeat-last-n",
                "penalty_last_n",
                off.repeat_last_n,
                |count| (count == -1.0).then_some(Sampling::REPEAT_LAST_N_MAX),
            )?,
            presence_penalty: args.presence_penalty.unwrap_or(off.presence_penalty),
            frequency_penalty: args.frequency_penalty.unwrap_or(off.frequency_penalty),
            logit_bias: args.logit_bias.clone(),
            seed: args.seed,
        };
        let effective = EffectiveSampling {
            sampling,
            from_file: file.used,
        };
        let checked = effective.sampling.check();
        checked.map_err(|error| effective.failure(error))?;
        Ok(effective)
    }

    /// A sampler for `vocabulary` tokens.
    ///
    /// # Errors
    /// USAGE names a logit bias whose token isn't in the vocabulary.
    pub fn sampler(&self, vocabulary: usize) -> Outcome<Sampler> {
        tracing::info!(sampling = self.words(), "sampler in effect");
        let made = Sampler::new(self.sampling.clone(), vocabulary);
        made.map_err(|error| self.failure(error))
    }

    fn failure(&self, error: EngineError) -> Failure {
        let EngineError::SamplingParameter { name, value, range } = error else {
            return error.into();
        };
        if self.from_file.contains(&name) {
            let message =
                format!("the model file's default for --{name} is {value}; it must be {range}");
            Failure::new(Exit::Damaged, message).hint(format!("give --{name}"))
        } else {
            Failure::new(
                Exit::Usage,
                format!("--{name} is {value}; it must be {range}"),
            )
        }
    }

    /// Tells people what is in effect, where that is more than the best token; and what of the file and
    /// of the options has no effect.
    pub fn announce(&self, args: &SamplingArgs, metadata: &Metadata, output: Output) {
        let of_file = |key: &&&str| metadata.value(&format!("general.sampling.{key}")).is_some();
        for key in NOT_CARRIED_OUT.iter().filter(of_file) {
            output.say(format!(
                "note: the model file's general.sampling.{key} has no effect (docs/sampling.md)"
            ));
        }
        let filters = [
            args.top_k.is_some(),
            args.top_p.is_some(),
            args.min_p.is_some(),
        ];
        if self.sampling.temperature == 0.0 && filters.contains(&true) {
            output.say("note: --top-k, --top-p and --min-p have no effect without --temp");
        }
        if self.sampling != Sampling::default() {
            output.say(format!("sampling: {}", self.words()));
        }
    }

    /// The parameters that aren't off, in the order of the stages.
    fn words(&self) -> String {
        let (it, off) = (&self.sampling, Sampling::default());
        let mut words = Vec::new();
        let mut add = |name: &str, value: String, is_on: bool| {
            if is_on {
                let origin = match self.from_file.contains(&name) {
                    true => " (model file)",
                    false => "",
                };
                words.push(format!("{name} {value}{origin}"));
            }
        };
        let penalties = it.repeat_penalty != off.repeat_penalty
            || it.presence_penalty != off.presence_penalty
            || it.frequency_penalty != off.frequency_penalty;
        add(
            "logit-bias",
            it.logit_bias.len().to_string(),
            !it.logit_bias.is_empty(),
        );
        add(
            "repeat-penalty",
            it.repeat_penalty.to_string(),
            it.repeat_penalty != 1.0,
        );
        add(
            "presence-penalty",
            it.presence_penalty.to_string(),
            it.presence_penalty != 0.0,
        );
        add(
            "frequency-penalty",
            it.frequency_penalty.to_string(),
            it.frequency_penalty != 0.0,
        );
        add("repeat-last-n", it.repeat_last_n.to_string(), penalties);
        add("top-k", it.top_k.to_string(), it.top_k != 0);
        add("typical", it.typical.to_string(), it.typical != 1.0);
        add("top-p", it.top_p.to_string(), it.top_p != 1.0);
        add("min-p", it.min_p.to_string(), it.min_p != 0.0);
        add("temp", it.temperature.to_string(), true);
        add("seed", it.seed.to_string(), it.temperature != 0.0);
        words.join(", ")
    }

    /// The `sampling` object of a report.
    pub fn json(&self) -> serde_json::Value {
        let it = &self.sampling;
        let number = |value: f32| -> f64 {
            // The shortest decimal that reads back as this f32, so that 0.95 stays 0.95.
            value.to_string().parse().unwrap_or_default()
        };
        let bias = |bias: f32| match bias.is_finite() {
            true => json!(number(bias)),
            false => json!("-inf"),
        };
        let biases = it.logit_bias.iter();
        let biases = biases.map(|it| json!({ "token": it.token, "bias": bias(it.bias) }));
        json!({
            "logit_bias": biases.collect::<Vec<_>>(),
            "repeat_penalty": number(it.repeat_penalty),
            "presence_penalty": number(it.presence_penalty),
            "frequency_penalty": number(it.frequency_penalty),
            "repeat_last_n": it.repeat_last_n,
            "top_k": it.top_k,
            "typical": number(it.typical),
            "top_p": number(it.top_p),
            "min_p": number(it.min_p),
            "temp": number(it.temperature),
            "seed": it.seed,
            "from_file": self.from_file,
        })
    }
}

/// The model file's `general.sampling` keys.
struct FileDefaults<'a> {
    metadata: &'a Metadata,
    used: Vec<&'static str>,
}

impl FileDefaults<'_> {
    /// The option's value, the file's, or `off`. Writers don't agree on types, so any number will do.
    fn float(
        &mut self,
        given: Option<f32>,
        name: &'static str,
        key: &str,
        off: f32,
    ) -> Outcome<f32> {
        if let Some(given) = given {
            return Ok(given);
        }
        let Some(value) = self.number(key, name)? else {
            return Ok(off);
        };
        self.used.push(name);
        Ok(value as f32)
    }

    /// As [`FileDefaults::float`]. `negative` says what a whole number below 0 means, if anything.
    fn count(
        &mut self,
        given: Option<u32>,
        name: &'static str,
        key: &str,
        off: u32,
        negative: impl Fn(f64) -> Option<u32>,
    ) -> Outcome<u32> {
        if let Some(given) = given {
            return Ok(given);
        }
        let Some(value) = self.number(key, name)? else {
            return Ok(off);
        };
        let whole = value.fract() == 0.0 && value <= f64::from(u32::MAX);
        let count = match whole && value < 0.0 {
            true => negative(value),
            false => whole.then_some(value as u32),
        };
        let fault = || refused(key, name, &format!("is {value}, not a count"));
        let count = count.ok_or_else(fault)?;
        self.used.push(name);
        Ok(count)
    }

    fn number(&self, key: &str, name: &str) -> Outcome<Option<f64>> {
        match self.metadata.value(&format!("general.sampling.{key}")) {
            None => Ok(None),
            Some(Value::F32(x)) => Ok(Some(x.into())),
            Some(Value::F64(x)) => Ok(Some(x)),
            Some(other) => match other.as_i64() {
                Some(integer) => Ok(Some(integer as f64)),
                None => Err(refused(key, name, "isn't a number")),
            },
        }
    }
}

fn refused(key: &str, name: &str, fault: &str) -> Failure {
    let message = format!("general.sampling.{key} of the model file {fault}");
    Failure::new(Exit::Damaged, message).hint(format!("give --{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const F32: u32 = 6;
    const I32: u32 = 5;
    const STRING: u32 = 8;

    fn string(text: &str) -> Vec<u8> {
        [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
    }

    /// The metadata of a GGUF file with these `general.sampling` keys.
    fn metadata(entries: &[(&str, u32, Vec<u8>)]) -> Metadata {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3u32.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        bytes.extend((entries.len() as u64).to_le_bytes());
        for (key, value_type, value) in entries {
            bytes.extend(string(&format!("general.sampling.{key}")));
            bytes.extend(value_type.to_le_bytes());
            bytes.extend(value);
        }
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        guild_model::gguf::parse(&bytes).unwrap().metadata
    }

    fn float(key: &str, value: f32) -> (&str, u32, Vec<u8>) {
        (key, F32, value.to_le_bytes().to_vec())
    }

    fn count(key: &str, value: i32) -> (&str, u32, Vec<u8>) {
        (key, I32, value.to_le_bytes().to_vec())
    }

    #[test]
    fn an_option_wins_over_the_file_and_the_file_over_off() {
        let file = metadata(&[float("temp", 0.6), count("top_k", 20), float("top_p", 0.95)]);
        let args = SamplingArgs {
            top_k: Some(7),
            ..SamplingArgs::default()
        };
        let effective = EffectiveSampling::new(&args, &file).unwrap();
        let want = Sampling {
            temperature: 0.6,
            top_k: 7,
            top_p: 0.95,
            ..Sampling::default()
        };
        assert_eq!(effective.sampling, want);
        assert_eq!(effective.from_file, ["temp", "top-p"]);
        let words = "top-k 7, top-p 0.95 (model file), temp 0.6 (model file), seed 0";
        assert_eq!(effective.words(), words);
        let object = effective.json();
        assert_eq!(
            (&object["temp"], &object["top_p"], &object["from_file"]),
            (&json!(0.6), &json!(0.95), &json!(["temp", "top-p"]))
        );
        let nothing = EffectiveSampling::new(&SamplingArgs::default(), &metadata(&[])).unwrap();
        assert_eq!(nothing.sampling, Sampling::default());
    }

    #[test]
    fn whole_numbers_and_negative_counts_of_a_file_are_taken() {
        let file = metadata(&[
            count("temp", 1),
            count("top_k", -1),
            float("penalty_last_n", 32.0),
        ]);
        let effective = EffectiveSampling::new(&SamplingArgs::default(), &file).unwrap();
        let it = &effective.sampling;
        assert_eq!((it.temperature, it.top_k, it.repeat_last_n), (1.0, 0, 32));
    }

    /// As llama.cpp reads them: -1 is the longest history, and a top-k below 1 keeps all tokens.
    #[test]
    fn minus_one_is_the_longest_history_and_not_none() {
        let file = metadata(&[float("penalty_repeat", 1.3), count("penalty_last_n", -1)]);
        let effective = EffectiveSampling::new(&SamplingArgs::default(), &file).unwrap();
        assert_eq!(effective.sampling.repeat_last_n, 1 << 24);
        assert_eq!(effective.from_file, ["repeat-penalty", "repeat-last-n"]);
        effective.sampler(16).unwrap();

        let file = metadata(&[count("penalty_last_n", -2)]);
        let failure = EffectiveSampling::new(&SamplingArgs::default(), &file).unwrap_err();
        assert_eq!(failure.exit, Exit::Damaged);
        assert!(failure.message.contains("-2"), "{}", failure.message);
        assert_eq!(failure.hint, "give --repeat-last-n");
    }

    #[test]
    fn a_bad_key_of_the_file_gives_way_to_the_option() {
        let file = metadata(&[
            ("temp", STRING, string("hot")),
            float("top_k", 1.5),
            count("penalty_last_n", -7),
        ]);
        let refused = |args: &SamplingArgs| EffectiveSampling::new(args, &file).unwrap_err().hint;
        let mut args = SamplingArgs::default();
        assert_eq!(refused(&args), "give --temp");
        args.temp = Some(0.5);
        assert_eq!(refused(&args), "give --top-k");
        args.top_k = Some(3);
        assert_eq!(refused(&args), "give --repeat-last-n");
        args.repeat_last_n = Some(8);
        let it = EffectiveSampling::new(&args, &file).unwrap().sampling;
        assert_eq!((it.temperature, it.top_k, it.repeat_last_n), (0.5, 3, 8));
    }

    #[test]
    fn a_files_fault_is_damage_and_an_options_fault_is_usage() {
        let refused = |args: &SamplingArgs, file: &Metadata| {
            let failure = EffectiveSampling::new(args, file).unwrap_err();
            (failure.exit, failure.message)
        };
        let none = SamplingArgs::default();
        let (exit, words) = refused(&none, &metadata(&[float("top_p", 7.0)]));
        assert_eq!(exit, Exit::Damaged);
        assert_eq!(
            words,
            "the model file's default for --top-p is 7; it must be from 0 to 1"
        );
        let (exit, words) = refused(&none, &metadata(&[float("top_k", 1.5)]));
        assert_eq!(exit, Exit::Damaged);
        assert!(words.contains("top_k") && words.contains("1.5"), "{words}");
        let (exit, words) = refused(&none, &metadata(&[("temp", STRING, string("hot"))]));
        assert_eq!(exit, Exit::Damaged);
        assert!(words.contains("general.sampling.temp"), "{words}");
        let args = SamplingArgs {
            min_p: Some(-0.5),
            ..none
        };
        let (exit, words) = refused(&args, &metadata(&[float("min_p", 0.1)]));
        assert_eq!(exit, Exit::Usage);
        assert_eq!(words, "--min-p is -0.5; it must be from 0 to 1");
    }
}
