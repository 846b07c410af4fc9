//! Small changes to a template's source before it is compiled. Lines stay where they are.
//!
//! A tag above [`TAG_BYTES_MAX`] is refused here.
//!
//! - Line ends become `\n`, as jinja2 does it.
//! - `{% generation %}` … `{% endgeneration %}`, by which transformers marks the assistant's text for training, become a
//!   scope without variables: the text inside is the same.
//! - A value that is assigned to an attribute, which only a namespace has, goes through [`stored::FILTER`].

use super::limits::TAG_BYTES_MAX;
use super::{ChatTemplateError, stored};
use std::borrow::Cow;

/// The source to compile.
///
/// # Errors
/// [`ChatTemplateError::Syntax`] for a tag that is too long.
pub(super) fn prepare(source: &str) -> Result<String, ChatTemplateError> {
    let source: Cow<'_, str> = if source.contains('\r') {
        source.replace("\r\n", "\n").replace('\r', "\n").into()
    } else {
        source.into()
    };
    let mut out = String::with_capacity(source.len() + 64);
    let mut rest: &str = &source;
    while let Some(start) = rest.find('{') {
        let (text, tag) = rest.split_at(start);
        out.push_str(text);
        let length = if tag.starts_with("{#") {
            tag.find("#}").map_or(tag.len(), |end| end + 2)
        } else if tag.starts_with("{{") {
            let end = inside(tag, "}}").unwrap_or(tag.len());
            check_length(&source, tag, end)?;
            (end + 2).min(tag.len())
        } else if tag.starts_with("{%") {
            let end = inside(tag, "%}").unwrap_or(tag.len());
            check_length(&source, tag, end)?;
            let block = tag.get(2..end).unwrap_or_default();
            if is_word(block, "raw") {
                raw_length(tag)
            } else {
                out.push_str("{%");
                push_block(&mut out, block);
                rest = tag.get(end..).unwrap_or_default();
                continue;
            }
        } else {
            1
        };
        let (copied, after) = tag.split_at(length);
        out.push_str(copied);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Refuses a tag whose inside ends beyond the limit.
fn check_length(source: &str, tag: &str, end: usize) -> Result<(), ChatTemplateError> {
    if end <= TAG_BYTES_MAX {
        return Ok(());
    }
    let before = &source.as_bytes()[..source.len() - tag.len()];
    Err(ChatTemplateError::Syntax {
        line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
        reason: format!("a tag has {end} bytes, the limit is {TAG_BYTES_MAX}"),
    })
}

/// Where `end` stands in a tag, outside of strings.
fn inside(tag: &str, end: &str) -> Option<usize> {
    let bytes = tag.as_bytes();
    let mut quote = None;
    let mut at = 2;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(_), b'\\') => at += 1,
            (Some(open), byte) if byte == open => quote = None,
            (None, byte @ (b'"' | b'\'')) => quote = Some(byte),
            (None, _) if bytes[at..].starts_with(end.as_bytes()) => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Bytes of a raw block with both of its tags.
fn raw_length(tag: &str) -> usize {
    let mut at = 2;
    while let Some(start) = tag.get(at..).and_then(|rest| rest.find("{%")) {
        let start = at + start;
        let end = tag[start..].find("%}").map_or(tag.len(), |end| start + end);
        if is_word(tag.get(start + 2..end).unwrap_or_default(), "endraw") {
            return (end + 2).min(tag.len());
        }
        at = start + 2;
    }
    tag.len()
}

/// A block's inside without the marks that trim white space.
fn bare(block: &str) -> &str {
    block.trim_matches(|c: char| c.is_ascii_whitespace() || c == '-' || c == '+')
}

fn is_word(block: &str, word: &str) -> bool {
    bare(block) == word
}

/// Appends a block's inside, changed where it has to be.
fn push_block(out: &mut String, block: &str) {
    match bare(block) {
        "generation" => out.push_str(&block.replace("generation", "with")),
        "endgeneration" => out.push_str(&block.replace("endgeneration", "endwith")),
        _ => match attribute_value(block) {
            Some((start, end)) => {
                out.push_str(&block[..start]);
                out.push_str(" (");
                out.push_str(&block[start..end]);
                out.push_str(")|");
                out.push_str(stored::FILTER);
                out.push(' ');
                out.push_str(&block[end..]);
            }
            None => out.push_str(block),
        },
    }
}

/// Where the value stands in `set a.b = value`.
fn attribute_value(block: &str) -> Option<(usize, usize)> {
    let word = block.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '-' || c == '+');
    let target = word.strip_prefix("set")?;
    let equals = block.len() - target.len() + target.find('=')?;
    if !target.starts_with(|c: char| c.is_ascii_whitespace() || c == '(')
        || !block[block.len() - target.len()..equals].contains('.')
    {
        return None;
    }
    // A minus before the end trims white space; it isn't part of the value.
    let end = block.strip_suffix(['-', '+']).unwrap_or(block).len();
    (end > equals).then_some((equals + 1, end))
}

#[cfg(test)]
mod tests {
    use super::{TAG_BYTES_MAX, prepare as try_prepare};

    fn prepare(source: &str) -> String {
        try_prepare(source).unwrap()
    }

    #[test]
    fn a_tag_that_is_too_long_is_refused_with_its_line() {
        let error = try_prepare(&format!("a\n{{{{ {} }}}}", "1+".repeat(TAG_BYTES_MAX)));
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("line 2") && error.contains("limit"),
            "{error}"
        );
    }

    #[test]
    fn only_what_must_change_changes() {
        for same in [
            "plain { text } {{ '{% set a.b = 1 %}' }} {{ {'a': {}} }}",
            "{# {% set a.b = 1 %} #}{% set a = b.c %}",
            "{%- raw -%}{% set a.b = 1 %}{% generation %}{%- endraw %}",
            "{% set a.b %}x{% endset %}{{ generation }}{% if generation %}{% endif %}",
            "{% set",
            "{{ 'unterminated",
            "{% raw %} without end",
        ] {
            assert_eq!(prepare(same), same);
        }
    }

    #[test]
    fn assignments_to_attributes_are_checked() {
        assert_eq!(
            prepare("{%- set ns.a = b == '%}' -%}x"),
            "{%- set ns.a = ( b == '%}' )|guild_stored -%}x"
        );
        assert_eq!(
            prepare("{% set ns.a=1,\n2 %}"),
            "{% set ns.a= (1,\n2 )|guild_stored %}"
        );
    }

    #[test]
    fn generation_marks_become_scopes_and_line_ends_are_one_byte() {
        assert_eq!(
            prepare("{%- generation %}a\r\nb\rc{% endgeneration -%}"),
            "{%- with %}a\nb\nc{% endwith -%}"
        );
    }
}
