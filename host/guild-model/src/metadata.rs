//! Metadata: the key and value list of a model file, typed on access.
//!
//! The encoded bytes are copied out of the file once and checked once; a value is a view into them. So a string or an
//! array of a hundred thousand strings is never copied, and a file that changes later cannot change the metadata.

use std::ops::Range;

use crate::error::{Damage, ModelError};
use crate::gguf::cursor::Cursor;
use crate::name_index::NameIndex;

/// The metadata of a model file. Keys are unique.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// The encoded entries.
    bytes: Box<[u8]>,
    /// In the order of the file.
    entries: Vec<Entry>,
    by_key: NameIndex,
}

/// Where one checked entry lies in the encoded bytes.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) value_type: ValueType,
    pub(crate) value: Range<usize>,
}

impl Entry {
    fn key(&self) -> &str {
        &self.key
    }
}

impl Metadata {
    /// Takes entries that the GGUF parser has checked. `bytes` are what their ranges refer to.
    pub(crate) fn new(bytes: Box<[u8]>, entries: Vec<Entry>) -> Result<Self, Damage> {
        let by_key =
            NameIndex::new(&entries, Entry::key).map_err(|key| Damage::DuplicateKey { key })?;
        Ok(Self {
            bytes,
            entries,
            by_key,
        })
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes that the encoded entries take in memory.
    pub(crate) fn encoded_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Value<'_>)> {
        self.entries
            .iter()
            .filter_map(|entry| Some((entry.key.as_str(), self.view(entry)?)))
    }

    /// The value of a key.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<Value<'_>> {
        self.by_key
            .find(&self.entries, Entry::key, key)
            .and_then(|entry| self.view(entry))
    }

    /// The value of a key as a `u64`, `f64`, `bool`, `&str` or [`Array`]; `None` when there is no such key.
    ///
    /// # Errors
    /// [`Damage::WrongType`] when the value is not a `T`.
    pub fn get<'a, T: FromValue<'a>>(&'a self, key: &str) -> Result<Option<T>, ModelError> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        match T::from_value(value) {
            Some(typed) => Ok(Some(typed)),
            None => Err(Damage::WrongType {
                key: key.to_owned(),
                want: T::NAME,
                found: value.value_type(),
            }
            .into()),
        }
    }

    /// As [`Metadata::get`], for a key that must be there.
    ///
    /// # Errors
    /// [`Damage::MissingKey`] and [`Damage::WrongType`].
    pub fn require<'a, T: FromValue<'a>>(&'a self, key: &str) -> Result<T, ModelError> {
        self.get(key)?.ok_or_else(|| {
            Damage::MissingKey {
                key: key.to_owned(),
            }
            .into()
        })
    }

    /// The strings of an array that must be there.
    ///
    /// # Errors
    /// [`Damage::MissingKey`] and [`Damage::WrongType`].
    pub fn require_strings<'a>(&'a self, key: &str) -> Result<Vec<&'a str>, ModelError> {
        let array: Array<'a> = self.require(key)?;
        array.to_vec().ok_or_else(|| {
            let (key, want, found) = (key.to_owned(), "an array of strings", ValueType::Array);
            Damage::WrongType { key, want, found }.into()
        })
    }

    fn view(&self, entry: &Entry) -> Option<Value<'_>> {
        read_value(
            &mut Cursor::new(self.bytes.get(entry.value.clone())?),
            entry.value_type,
        )
    }
}

/// The type of a metadata value, with GGUF's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum ValueType {
    U8 = 0,
    I8 = 1,
    U16 = 2,
    I16 = 3,
    U32 = 4,
    I32 = 5,
    F32 = 6,
    Bool = 7,
    String = 8,
    Array = 9,
    U64 = 10,
    I64 = 11,
    F64 = 12,
}

impl ValueType {
    /// The type with this number.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::U8,
            1 => Self::I8,
            2 => Self::U16,
            3 => Self::I16,
            4 => Self::U32,
            5 => Self::I32,
            6 => Self::F32,
            7 => Self::Bool,
            8 => Self::String,
            9 => Self::Array,
            10 => Self::U64,
            11 => Self::I64,
            12 => Self::F64,
            _ => return None,
        })
    }

    /// The type's name for people, such as `u32`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::F32 => "f32",
            Self::Bool => "boolean",
            Self::String => "string",
            Self::Array => "array",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F64 => "f64",
        }
    }

    /// Bytes of one value; `None` for strings and arrays.
    pub(crate) const fn fixed_bytes(self) -> Option<u64> {
        match self {
            Self::U8 | Self::I8 | Self::Bool => Some(1),
            Self::U16 | Self::I16 => Some(2),
            Self::U32 | Self::I32 | Self::F32 => Some(4),
            Self::U64 | Self::I64 | Self::F64 => Some(8),
            Self::String | Self::Array => None,
        }
    }
}

/// A metadata value. Strings and arrays are views into the metadata.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Value<'a> {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    U64(u64),
    I64(i64),
    F32(f32),
    F64(f64),
    Bool(bool),
    String(&'a str),
    Array(Array<'a>),
}

impl Value<'_> {
    /// The value's type in the file.
    #[must_use]
    pub const fn value_type(&self) -> ValueType {
        match self {
            Self::U8(_) => ValueType::U8,
            Self::I8(_) => ValueType::I8,
            Self::U16(_) => ValueType::U16,
            Self::I16(_) => ValueType::I16,
            Self::U32(_) => ValueType::U32,
            Self::I32(_) => ValueType::I32,
            Self::U64(_) => ValueType::U64,
            Self::I64(_) => ValueType::I64,
            Self::F32(_) => ValueType::F32,
            Self::F64(_) => ValueType::F64,
            Self::Bool(_) => ValueType::Bool,
            Self::String(_) => ValueType::String,
            Self::Array(_) => ValueType::Array,
        }
    }

    /// The value as a signed integer, for any of the eight integer types, where it fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::U8(n) => Some(n.into()),
            Self::I8(n) => Some(n.into()),
            Self::U16(n) => Some(n.into()),
            Self::I16(n) => Some(n.into()),
            Self::U32(n) => Some(n.into()),
            Self::I32(n) => Some(n.into()),
            Self::U64(n) => n.try_into().ok(),
            Self::I64(n) => Some(n),
            _ => None,
        }
    }
}

/// An array in the metadata: elements of one type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Array<'a> {
    element_type: ValueType,
    len: u64,
    bytes: &'a [u8],
}

impl<'a> Array<'a> {
    /// The type of every element.
    #[must_use]
    pub const fn element_type(&self) -> ValueType {
        self.element_type
    }

    /// Number of elements.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is no element.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements in order, without copying strings.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let (element_type, mut cursor, mut left) =
            (self.element_type, Cursor::new(self.bytes), self.len);
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            read_value(&mut cursor, element_type)
        })
    }

    /// The elements as a `T` each; `None` when one is not.
    #[must_use]
    pub fn to_vec<T: FromValue<'a>>(&self) -> Option<Vec<T>> {
        self.iter().map(T::from_value).collect()
    }
}

/// A Rust type that a metadata value can be read as.
pub trait FromValue<'a>: Sized {
    /// What is asked for, in words for an error message.
    const NAME: &'static str;

    /// The value, if it is one of this type.
    fn from_value(value: Value<'a>) -> Option<Self>;
}

/// Any integer type that holds a value from 0 up: writers do not agree on widths.
impl<'a> FromValue<'a> for u64 {
    const NAME: &'static str = "a non-negative integer";

    fn from_value(value: Value<'a>) -> Option<Self> {
        match value {
            Value::U64(n) => Some(n),
            other => other.as_i64()?.try_into().ok(),
        }
    }
}

/// Any integer type.
impl<'a> FromValue<'a> for i64 {
    const NAME: &'static str = "an integer";

    fn from_value(value: Value<'a>) -> Option<Self> {
        value.as_i64()
    }
}

/// Either float type; an F32 is widened exactly.
impl<'a> FromValue<'a> for f64 {
    const NAME: &'static str = "a floating-point number";

    fn from_value(value: Value<'a>) -> Option<Self> {
        match value {
            Value::F32(x) => Some(x.into()),
            Value::F64(x) => Some(x),
            _ => None,
        }
    }
}

impl<'a> FromValue<'a> for bool {
    const NAME: &'static str = "a boolean";

    fn from_value(value: Value<'a>) -> Option<Self> {
        if let Value::Bool(flag) = value {
            Some(flag)
        } else {
            None
        }
    }
}

impl<'a> FromValue<'a> for &'a str {
    const NAME: &'static str = "a string";

    fn from_value(value: Value<'a>) -> Option<Self> {
        if let Value::String(text) = value {
            Some(text)
        } else {
            None
        }
    }
}

impl<'a> FromValue<'a> for Array<'a> {
    const NAME: &'static str = "an array";

    fn from_value(value: Value<'a>) -> Option<Self> {
        if let Value::Array(array) = value {
            Some(array)
        } else {
            None
        }
    }
}

/// Reads a value that the GGUF parser has checked; `None` would mean that it was not.
fn read_value<'a>(cursor: &mut Cursor<'a>, value_type: ValueType) -> Option<Value<'a>> {
    const WHAT: &str = "a metadata value";
    Some(match value_type {
        ValueType::U8 => Value::U8(cursor.array::<1>(WHAT).ok()?[0]),
        ValueType::I8 => Value::I8(cursor.array::<1>(WHAT).ok()?[0].cast_signed()),
        ValueType::U16 => Value::U16(u16::from_le_bytes(cursor.array(WHAT).ok()?)),
        ValueType::I16 => Value::I16(i16::from_le_bytes(cursor.array(WHAT).ok()?)),
        ValueType::U32 => Value::U32(u32::from_le_bytes(cursor.array(WHAT).ok()?)),
        ValueType::I32 => Value::I32(i32::from_le_bytes(cursor.array(WHAT).ok()?)),
        ValueType::U64 => Value::U64(u64::from_le_bytes(cursor.array(WHAT).ok()?)),
        ValueType::I64 => Value::I64(i64::from_le_bytes(cursor.array(WHAT).ok()?)),
        ValueType::F32 => Value::F32(f32::from_le_bytes(cursor.array(WHAT).ok()?)),
        ValueType::F64 => Value::F64(f64::from_le_bytes(cursor.array(WHAT).ok()?)),
        ValueType::Bool => Value::Bool(cursor.array::<1>(WHAT).ok()?[0] == 1),
        ValueType::String => Value::String(cursor.string(WHAT, u64::MAX).ok()?),
        ValueType::Array => {
            let element_type = ValueType::from_number(cursor.u32(WHAT).ok()?)?;
            let len = cursor.u64(WHAT).ok()?;
            let bytes = match element_type.fixed_bytes() {
                Some(fixed) => cursor.take(WHAT, len.checked_mul(fixed)?).ok()?,
                None => {
                    // The end of strings and nested arrays is only known by walking over them.
                    let rest = cursor.rest();
                    for _ in 0..len {
                        read_value(cursor, element_type)?;
                    }
                    rest.get(..rest.len() - cursor.rest().len())?
                }
            };
            Value::Array(Array {
                element_type,
                len,
                bytes,
            })
        }
    })
}
