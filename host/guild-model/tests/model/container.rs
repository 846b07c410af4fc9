//! Valid files: what the writer put in comes out, and a real file reads as gguf-py reads it.

use guild_model::{Array, GgufFile, ModelSource, Value, ValueType, gguf::parse};

use crate::writer::{Writer, array, string};

/// `tests/models/` of the workspace.
pub fn models() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/models")
}

#[test]
fn what_was_written_is_read() {
    for version in [2, 3] {
        let mut writer = Writer::sample();
        writer.version = version;
        let gguf = parse(&writer.bytes()).expect("the sample is valid");
        assert_eq!((gguf.version, gguf.alignment), (version, 32));

        let metadata = &gguf.metadata;
        assert_eq!(
            metadata.require::<&str>("general.architecture").unwrap(),
            "sample"
        );
        assert_eq!(metadata.require::<u64>("a.u32").unwrap(), 7);
        assert_eq!(metadata.require::<i64>("a.i64").unwrap(), -5);
        assert_eq!(metadata.require::<f64>("a.f32").unwrap(), 0.5);
        assert!(metadata.require::<bool>("a.bool").unwrap());
        let strings: Array<'_> = metadata.require("a.strings").unwrap();
        assert_eq!(strings.to_vec::<&str>().unwrap(), ["one", "zwei"]);
        let numbers: Array<'_> = metadata.require("a.numbers").unwrap();
        assert_eq!((numbers.element_type(), numbers.len()), (ValueType::I32, 2));
        assert_eq!(numbers.to_vec::<i64>().unwrap(), [3, -3]);
        assert_eq!(numbers.to_vec::<u64>(), None, "-3 is no u64");
        assert_eq!(metadata.get::<u64>("a.nothing").unwrap(), None);
        let keys: Vec<&str> = metadata.iter().map(|(key, _)| key).collect();
        assert_eq!(
            keys[..2],
            ["general.architecture", "a.u32"],
            "the order of the file"
        );
        assert_eq!(keys.len(), 7);

        let names: Vec<&str> = gguf
            .tensors
            .iter()
            .map(|tensor| tensor.name.as_str())
            .collect();
        assert_eq!(names, ["weight", "bias", "scalar"]);
        let weight = gguf.tensor("weight").expect("it was written");
        assert_eq!(
            (weight.shape.as_slice(), weight.type_name),
            (&[32, 2][..], "Q4_0")
        );
        assert_eq!(weight.byte_len, Some(36));
        let scalar = gguf.tensor("scalar").expect("it was written");
        assert_eq!(
            (scalar.shape.as_slice(), scalar.byte_len),
            (&[1][..], Some(4))
        );
        assert!(gguf.tensor("weigh").is_none());
    }
}

#[test]
fn nested_arrays_are_walked() {
    let inner = |numbers: &[u8]| array(0, &numbers.iter().map(|&n| vec![n]).collect::<Vec<_>>());
    let mut writer = Writer::new();
    writer.entry(
        "nested",
        9,
        &array(9, &[inner(&[1, 2]), inner(&[]), inner(&[3])]),
    );
    writer.entry("after", 8, &string("here"));
    let gguf = parse(&writer.bytes()).expect("depth 2 is accepted");
    let outer: Array<'_> = gguf.metadata.require("nested").unwrap();
    let inner: Vec<Array<'_>> = outer.to_vec().unwrap();
    let numbers: Vec<Vec<u64>> = inner.iter().map(|array| array.to_vec().unwrap()).collect();
    assert_eq!(numbers, [vec![1, 2], vec![], vec![3]]);
    assert_eq!(gguf.metadata.value("after"), Some(Value::String("here")));
}

#[test]
fn a_file_may_have_no_tensors_and_no_padding() {
    let mut writer = Writer::new();
    writer.entry("a", 0, &[1]);
    let mut bytes = writer.bytes();
    bytes.truncate(24 + 8 + 1 + 4 + 1);
    assert_eq!(
        parse(&bytes)
            .expect("a vocabulary file looks like this")
            .tensors,
        []
    );
}

/// The listing is gguf-py's reading of the same file.
#[test]
fn a_real_file_reads_as_gguf_py_reads_it() {
    let file =
        GgufFile::open(&models().join("qwen35moe-tiny-Q4_K_M.gguf")).expect("the model is valid");
    let listing = std::fs::read(models().join("qwen35moe-tiny-Q4_K_M.listing.json"))
        .expect("it is committed");
    let listing: serde_json::Value = serde_json::from_slice(&listing).expect("it is JSON");

    let metadata = listing["metadata"].as_object().expect("an object");
    assert_eq!(file.metadata().len(), metadata.len());
    for (key, value) in file.metadata().iter() {
        assert_eq!(json(value), metadata[key], "{key}");
    }
    let tensors = listing["tensors"].as_array().expect("an array");
    assert_eq!(file.tensors().len(), tensors.len());
    for (tensor, want) in file.tensors().iter().zip(tensors) {
        assert_eq!(want["name"], tensor.name);
        assert_eq!(want["type"], tensor.type_name);
        assert_eq!(
            want["shape"],
            serde_json::json!(tensor.shape),
            "{}",
            tensor.name
        );
        assert_eq!(want["offset"], tensor.offset, "{}", tensor.name);
        assert_eq!(
            want["byte_len"],
            tensor.byte_len.expect("known types"),
            "{}",
            tensor.name
        );
        let bytes = file.tensor_bytes(&tensor.name).expect("supported types");
        let sum = bytes.iter().fold(0u64, |sum, &byte| sum + u64::from(byte));
        assert_eq!(want["byte_sum"], sum, "{}", tensor.name);
    }
}

/// Long arrays are listed by length and first element.
fn json(value: Value<'_>) -> serde_json::Value {
    match value {
        Value::F32(x) => f64::from(x).into(),
        Value::F64(x) => x.into(),
        Value::Bool(flag) => flag.into(),
        Value::String(text) => text.into(),
        Value::U64(n) => n.into(),
        Value::Array(array) if array.len() > 8 => {
            serde_json::json!([array.len(), array.iter().next().map(json)])
        }
        Value::Array(array) => array.iter().map(json).collect(),
        integer => integer
            .as_i64()
            .expect("the other types are integers")
            .into(),
    }
}
