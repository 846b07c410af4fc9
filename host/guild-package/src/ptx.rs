//! Facts about a PTX text: its `.target` and its `.entry` names. A scan of directives, not a parser: the
//! facts are signed so that a later check can hold the text to them.

use crate::error::{Error, Result};
use crate::manifest::PtxFacts;
use crate::name::Word;
use crate::text::PlainText;

/// The facts of the PTX text `data`; `name` is for errors.
///
/// # Errors
/// [`Error::Malformed`] if it is not text or does not have exactly one `.target`.
pub fn read_facts(name: &str, data: &[u8]) -> Result<PtxFacts> {
    let malformed = |detail: &str| Error::malformed(name, detail);
    let text = std::str::from_utf8(data).map_err(|_| malformed("it is not text"))?;
    let code = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let words: Vec<&str> = code
        .flat_map(|line| line.split(|c: char| c.is_whitespace() || "(,;{".contains(c)))
        .filter(|word| !word.is_empty())
        .collect();
    let after = |directive: &'static str| {
        words.windows(2).filter_map(move |pair| match pair {
            [first, second] if *first == directive => Some(*second),
            _ => None,
        })
    };
    let targets: Vec<&str> = after(".target").collect();
    let [target] = targets.as_slice() else {
        return Err(malformed("it does not have exactly one .target"));
    };
    let target: Word = target
        .parse()
        .map_err(|invalid| Error::invalid(name, &invalid))?;
    let entries = after(".entry")
        .map(|entry| {
            entry
                .parse::<PlainText>()
                .map_err(|invalid| Error::invalid(name, &invalid))
        })
        .collect::<Result<_>>()?;
    Ok(PtxFacts { target, entries })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_and_entries_are_found() {
        let text = b"// .target sm_90\n.version 7.0\n.target sm_61, debug\n.address_size 64\n\
            .visible .entry router_topk(\n .param .u64 a)\n{ ret; }\n.entry second\n(\n)\n";
        let facts = read_facts("k.ptx", text).unwrap();
        assert_eq!(facts.target.as_str(), "sm_61");
        let entries: Vec<_> = facts.entries.iter().map(PlainText::as_str).collect();
        assert_eq!(entries, ["router_topk", "second"]);
        assert!(read_facts("k.ptx", b".version 7.0").is_err());
        assert!(read_facts("k.ptx", b"\xff").is_err());
    }
}
