//! Strict JSON: the only reader of every JSON text in a bundle, a trust store and a generation.
//!
//! Two readers of one text must never see two meanings. So: duplicate keys, floats, negative and large
//! integers, NUL, nesting past the limit and anything after the value are refused; and a typed value is
//! accepted only if writing it again gives the same tree, which shuts out every leniency of a derived
//! reader (an array for a struct, `null` for an absent field, a number for a name).

use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::limits::{JSON_MAX_DEPTH, JSON_MAX_INTEGER};

/// Reads `bytes` as a `T`. `what` names the text in errors.
///
/// # Errors
/// [`Error::Malformed`] for any deviation.
pub fn decode<T: DeserializeOwned + Serialize>(what: &str, bytes: &[u8]) -> Result<T> {
    let tree = parse(what, bytes)?;
    let malformed = |error: serde_json::Error| Error::malformed(what, error.to_string());
    let typed: T = serde_json::from_value(tree.clone()).map_err(malformed)?;
    if serde_json::to_value(&typed).map_err(malformed)? != tree {
        let detail = "a value is not written in its one form";
        return Err(Error::malformed(what, detail));
    }
    Ok(typed)
}

/// Reads `bytes` as a `T` whose one encoding they must be, byte for byte.
///
/// # Errors
/// [`Error::Malformed`] for any deviation.
pub fn decode_canonical<T: DeserializeOwned + Serialize>(what: &str, bytes: &[u8]) -> Result<T> {
    let typed = decode(what, bytes)?;
    if encode(what, &typed)? != bytes {
        let detail =
            "the bytes differ from the canonical encoding (field order, whitespace or escapes)";
        return Err(Error::malformed(what, detail));
    }
    Ok(typed)
}

/// The canonical encoding: fields in declaration order, map keys ascending, no whitespace.
///
/// # Errors
/// [`Error::Malformed`] if the value has no JSON form, or one that [`decode`] would refuse: what can't be read again
/// must never be written.
pub fn encode<T: Serialize>(what: &str, value: &T) -> Result<Vec<u8>> {
    let bytes = serde_json::to_vec(value);
    let bytes = bytes.map_err(|error| Error::malformed(what, error.to_string()))?;
    parse(what, &bytes)?;
    Ok(bytes)
}

/// Reads `bytes` as a tree under the strict rules.
fn parse(what: &str, bytes: &[u8]) -> Result<Value> {
    let malformed = |error: serde_json::Error| Error::malformed(what, error.to_string());
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let tree = Strict {
        depth_left: JSON_MAX_DEPTH,
    }
    .deserialize(&mut reader)
    .map_err(malformed)?;
    reader.end().map_err(malformed)?;
    Ok(tree)
}

/// One value with so many levels below it.
#[derive(Clone, Copy)]
struct Strict {
    depth_left: usize,
}

impl Strict {
    fn below<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.depth_left.checked_sub(1) {
            Some(depth_left) => Ok(Self { depth_left }),
            None => Err(E::custom("nested deeper than 16 levels")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object, array, string, boolean, null or integer from 0 to 2^53-1")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        if value > JSON_MAX_INTEGER {
            return Err(E::custom("an integer is larger than 2^53-1"));
        }
        Ok(value.into())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        if value.contains('\0') {
            return Err(E::custom("a string holds a NUL"));
        }
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(below)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut object = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if key.contains('\0') {
                return Err(A::Error::custom("a key holds a NUL"));
            }
            let value = fields.next_value_seed(below)?;
            if object.insert(key, value).is_some() {
                return Err(A::Error::custom("a key occurs twice in one object"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        size: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        list: Vec<Inner>,
    }

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        on: bool,
    }

    #[track_caller]
    fn refuse(text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        let result = decode::<Sample>("sample", text);
        assert!(
            result.is_err(),
            "{:?} was accepted",
            text.escape_ascii().to_string()
        );
    }

    #[test]
    fn row_25_ambiguous_json_is_refused() {
        let good = r#"{"size":1,"label":"x","list":[{"on":true}]}"#;
        assert!(decode::<Sample>("sample", good.as_bytes()).is_ok());
        refuse(r#"{"size":1,"size":1,"list":[]}"#);
        refuse(r#"{"size":1,"siz\u0065":2,"list":[]}"#);
        refuse(r#"{"size":1,"list":[{"on":true,"on":true}]}"#);
        refuse(r#"{"size":1,"list":[],"more":0}"#);
        refuse(r#"{"size":1,"list":[{"on":true,"off":false}]}"#);
        refuse(r#"{"Size":1,"list":[]}"#);
        refuse(r#"{"list":[]}"#);
        refuse(r#"{"size":1,"list":[],"label":null}"#);
        refuse(r#"{"size":null,"list":[]}"#);
        refuse(r#"{"size":1,"list":null}"#);
        refuse(r#"[1,"x",[]]"#);
        refuse(r#"{"size":1,"list":[[true]]}"#);
        for number in [
            "1.0",
            "1e3",
            "-1",
            "-0",
            "01",
            "+1",
            "0x1",
            "9007199254740992",
            "18446744073709551616",
            "1E400",
            "NaN",
            "Infinity",
            "\"1\"",
            "true",
            ".5",
        ] {
            refuse(format!(r#"{{"size":{number},"list":[]}}"#));
        }
        let largest = br#"{"size":9007199254740991,"list":[]}"#;
        assert_eq!(
            decode::<Sample>("sample", largest).unwrap().size,
            (1 << 53) - 1
        );
    }

    #[test]
    fn row_25_odd_bytes_are_refused() {
        refuse("");
        refuse("null");
        refuse(r#"{"size":1,"list":[]}x"#);
        refuse(r#"{"size":1,"list":[]}{}"#);
        refuse("{\"size\":1,\"list\":[]}\0");
        refuse("\u{feff}{\"size\":1,\"list\":[]}");
        refuse("{\"size\":1,\"list\":[],}");
        refuse("{'size':1,'list':[]}");
        refuse("{\"size\":1,/**/\"list\":[]}");
        refuse("{\"size\":1,\"list\":[],\"label\":\"a\\u0000b\"}");
        refuse("{\"size\":1,\"list\":[],\"label\":\"a\0b\"}");
        refuse("{\"size\":1,\"list\":[],\"label\":\"a\nb\"}");
        refuse("{\"size\":1,\"list\":[],\"label\":\"\\ud800\"}");
        refuse(b"{\"size\":1,\"list\":[],\"label\":\"\xff\"}");
        refuse(b"{\"size\":1,\"list\":[],\"label\":\"\xc0\x80\"}");
        refuse("{\"size\":1,\"list\":[],\"a\\u0000\":1}");
    }

    #[test]
    fn row_16_deep_nesting_ends_in_an_error() {
        let deep = "[".repeat(10_000);
        assert!(parse("deep", deep.as_bytes()).is_err());
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse("deep", nested(16).as_bytes()).is_ok());
        assert!(parse("deep", nested(17).as_bytes()).is_err());
        let objects = format!("{}1{}", r#"{"a":"#.repeat(17), "}".repeat(17));
        assert!(parse("deep", objects.as_bytes()).is_err());
    }

    #[test]
    fn row_27_truncation_at_every_byte_is_refused() {
        let text = br#"{"size":1,"label":"x","list":[{"on":true}]}"#;
        for length in 0..text.len() {
            refuse(&text[..length]);
        }
    }

    #[test]
    fn canonical_text_has_one_form() {
        let canonical = br#"{"size":1,"label":"x","list":[{"on":true}]}"#;
        assert!(decode_canonical::<Sample>("sample", canonical).is_ok());
        for other in [
            r#"{"size": 1,"label":"x","list":[{"on":true}]}"#,
            r#"{"label":"x","size":1,"list":[{"on":true}]}"#,
            r#"{"size":1,"label":"\u0078","list":[{"on":true}]}"#,
            "{\"size\":1,\"label\":\"x\",\"list\":[{\"on\":true}]}\n",
        ] {
            assert!(decode::<Sample>("sample", other.as_bytes()).is_ok());
            assert!(decode_canonical::<Sample>("sample", other.as_bytes()).is_err());
        }
    }
}
