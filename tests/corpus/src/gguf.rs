//! Arbitrary bytes as a GGUF file, and as the shards of a split model, one at each `GGUF`. What is accepted can be
//! read to its end. Seeds: `cargo run -p guild-hostile --example corpus -- tests/fuzz/corpus/gguf`.
use guild_model::gguf::{Gguf, join, parse};
use guild_model::{Array, Value};

/// Whether `data` is a GGUF file, or the shards of one.
///
/// # Panics
/// If something in an accepted file can't be read.
#[must_use]
pub fn run(data: &[u8]) -> bool {
    let file = parse(data);
    if let Ok(gguf) = &file {
        read(gguf);
    }
    let shards: Result<_, _> = shards(data).into_iter().map(parse).collect();
    let model = shards.and_then(join);
    if let Ok(model) = &model {
        read(model);
    }
    file.is_ok() || model.is_ok()
}

/// The input, cut at every `GGUF`.
fn shards(data: &[u8]) -> Vec<&[u8]> {
    const MAGIC: &[u8] = b"GGUF";
    let starts = data.windows(4).enumerate();
    let starts: Vec<usize> = starts
        .filter_map(|(at, found)| (found == MAGIC).then_some(at))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([data.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| &data[start..end])
        .collect()
}

/// Every value and tensor that the check has let through.
fn read(gguf: &Gguf) {
    assert_eq!(gguf.metadata.iter().count(), gguf.metadata.len());
    for (_, value) in gguf.metadata.iter() {
        if let Value::Array(array) = value {
            read_array(&array);
        }
    }
    for tensor in &gguf.tensors {
        assert_eq!(gguf.tensor(&tensor.name), Some(tensor));
        assert!(tensor.elements() > 0);
    }
}

fn read_array(array: &Array<'_>) {
    let mut elements = 0;
    for element in array.iter() {
        elements += 1;
        if let Value::Array(inner) = element {
            read_array(&inner);
        }
    }
    assert_eq!(elements, array.len());
}
