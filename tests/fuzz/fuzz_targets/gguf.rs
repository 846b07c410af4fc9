//! Reads arbitrary bytes as a GGUF file, and as the shards of a split model, one at each `GGUF`. What is accepted can be
//! read to its end. Seeds: `cargo run -p guild-hostile --example corpus -- tests/fuzz/corpus/gguf`.
#![no_main]

use guild_model::gguf::{Gguf, join, parse};
use guild_model::{Array, Value};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(gguf) = parse(data) {
        read(&gguf);
    }
    if let Ok(shards) = shards(data).into_iter().map(parse).collect()
        && let Ok(model) = join(shards)
    {
        read(&model);
    }
});

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
