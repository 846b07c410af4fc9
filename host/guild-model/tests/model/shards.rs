//! Split models: any way to name one opens all of it, and every contradiction is refused with the file it is in.

use std::fs;
use std::path::{Path, PathBuf};

use guild_model::gguf::{join, parse};
use guild_model::{Damage, ErrorCode, GgufFile, ModelError, ModelSource, SplitDamage};

use crate::writer::{Writer, boolean, i32, string, text, u16};

/// The sample, one tensor a file.
fn shards() -> Vec<Writer> {
    Writer::sample().split(3)
}

fn name(number: usize) -> String {
    format!("m-{number:05}-of-00003.gguf")
}

/// Writes shards under their names.
fn folder_of(shards: &[Writer]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    for (shard, number) in shards.iter().zip(1..) {
        fs::write(folder.path().join(name(number)), shard.bytes()).expect("written");
    }
    let path = folder.path().to_owned();
    (folder, path)
}

/// What opening the first shard of a changed set gives.
fn refused(change: impl FnOnce(&mut Vec<Writer>)) -> ModelError {
    let mut shards = shards();
    change(&mut shards);
    let (_folder, path) = folder_of(&shards);
    let error = GgufFile::open(&path.join(name(1))).expect_err("the set is broken");
    assert_eq!(error.code(), ErrorCode::Damaged, "{error}");
    error
}

#[track_caller]
fn split_damage(error: &ModelError) -> &SplitDamage {
    match error {
        ModelError::Damaged(Damage::Split(damage)) => damage,
        ModelError::InShard { error, .. } => split_damage(error),
        other => panic!("a broken split expected, not {other}"),
    }
}

#[test]
fn every_shard_and_the_folder_open_the_whole_model() {
    let (_folder, path) = folder_of(&shards());
    let whole = parse(&Writer::sample().bytes()).expect("valid");
    for given in [
        path.clone(),
        path.join(name(1)),
        path.join(name(2)),
        path.join(name(3)),
    ] {
        let file = GgufFile::open(&given).expect("a sound set");
        assert_eq!(file.shards().len(), 3);
        let paths: Vec<&Path> = file.shards().iter().map(|shard| shard.path()).collect();
        assert_eq!(paths, [1, 2, 3].map(|number| path.join(name(number))));
        let counts = file.shards().iter().map(|shard| shard.tensor_count());
        assert_eq!(counts.collect::<Vec<_>>(), [1, 1, 1]);
        let on_disk: u64 = paths.iter().map(|p| fs::metadata(p).unwrap().len()).sum();
        assert_eq!(file.file_bytes(), on_disk);

        assert_eq!(file.metadata().require::<u64>("a.u32").unwrap(), 7);
        let names = |tensors: &[guild_model::TensorInfo]| -> Vec<_> {
            tensors.iter().map(|tensor| tensor.name.clone()).collect()
        };
        assert_eq!(names(file.tensors()), names(&whole.tensors));
        let places = file.tensors().iter().map(|tensor| tensor.shard);
        assert_eq!(places.collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(file.tensor_bytes("weight").unwrap(), [0x11; 36]);
        assert_eq!(file.tensor_bytes("bias").unwrap(), [0x22; 12]);
        assert_eq!(file.tensor_bytes("scalar").unwrap(), [0x33; 4]);
        file.prefetch("bias");
    }
}

#[test]
fn a_folder_with_one_file_is_that_model() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("one.gguf"), Writer::sample().bytes()).expect("written");
    fs::write(folder.path().join("notes.txt"), "x").expect("written");
    fs::create_dir(folder.path().join("sub.gguf")).expect("made");
    let file = GgufFile::open(folder.path()).expect("one model");
    assert_eq!(file.shards().len(), 1);
}

#[test]
fn a_folder_with_two_models_lists_them() {
    let (_folder, path) = folder_of(&shards());
    fs::write(path.join("other.gguf"), Writer::sample().bytes()).expect("written");
    let error = GgufFile::open(&path).expect_err("two models");
    assert_eq!((error.code(), error.code().exit()), (ErrorCode::Usage, 2));
    let message = error.to_string();
    for part in ["2 models", "m-*-of-00003.gguf", "other.gguf"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_missing_shard_is_named() {
    for missing in 1..=3 {
        let (_folder, path) = folder_of(&shards());
        fs::remove_file(path.join(name(missing))).expect("removed");
        let other = if missing == 1 { 2 } else { 1 };
        for given in [path.clone(), path.join(name(other))] {
            let error = GgufFile::open(&given).expect_err("incomplete");
            assert_eq!(error.code(), ErrorCode::Damaged);
            let message = error.to_string();
            assert!(message.contains(&name(missing)), "{message}");
            let place = format!("shard {missing} of 3");
            assert!(message.contains(&place), "{message}");
        }
    }
}

/// A link to itself: looking at it fails, and nobody knows whether there is a file behind it.
#[test]
fn a_shard_that_cannot_be_looked_at_is_not_called_missing() {
    let (_folder, path) = folder_of(&shards());
    let shard = path.join(name(2));
    fs::remove_file(&shard).expect("removed");
    std::os::unix::fs::symlink(&shard, &shard).expect("linked");
    let error = GgufFile::open(&path.join(name(1))).expect_err("unreadable");
    assert_eq!(error.code(), ErrorCode::Io, "{error}");
    assert!(error.to_string().contains(&name(2)), "{error}");
}

#[test]
fn a_folder_without_a_model_is_not_found() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("notes.txt"), "").expect("written");
    let error = GgufFile::open(folder.path()).expect_err("no model");
    let code = error.code();
    assert_eq!(
        (code, code.exit(), code.name()),
        (ErrorCode::NotFound, 33, "NOT_FOUND")
    );
    let message = error.to_string();
    assert!(message.contains("no .gguf file"), "{message}");
}

#[test]
fn names_and_metadata_say_the_same_place() {
    let error = refused(|shards| shards.swap(0, 1));
    let want = SplitDamage::Name {
        file: name(1),
        named: Some((1, 3)),
        stated: Some((2, 3)),
    };
    assert_eq!(*split_damage(&error), want);
    // The whole model under a shard's name.
    let error = refused(|shards| shards[1] = Writer::sample());
    let want = SplitDamage::Name {
        file: name(2),
        named: Some((2, 3)),
        stated: None,
    };
    assert_eq!(*split_damage(&error), want);
    assert!(error.to_string().contains(&name(2)), "{error}");
    // A shard under a whole model's name.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.gguf");
    fs::write(&path, shards()[0].bytes()).expect("written");
    let error = GgufFile::open(&path).expect_err("a shard alone");
    let want = SplitDamage::Name {
        file: "m.gguf".into(),
        named: None,
        stated: Some((1, 3)),
    };
    assert_eq!(*split_damage(&error), want);
}

#[test]
fn counts_agree_in_all_shards() {
    let error = refused(|shards| {
        shards[2].set("split.count", u16(4));
    });
    assert!(matches!(
        split_damage(&error),
        SplitDamage::Name {
            stated: Some((3, 4)),
            ..
        }
    ));
    let error = refused(|shards| {
        shards[1].set("split.tensors.count", i32(5));
    });
    let want = SplitDamage::TensorCount {
        stated: 5,
        found: 3,
    };
    assert_eq!(*split_damage(&error), want);
    let error = refused(|shards| {
        shards[1].remove("split.tensors.count");
    });
    assert!(error.to_string().contains("split.tensors.count"), "{error}");
    let error = refused(|shards| {
        shards[0].set("split.no", u16(7));
    });
    let want = SplitDamage::NumberBeyondCount {
        number: 7,
        count: 3,
    };
    assert_eq!(*split_damage(&error), want);
    let error = refused(|shards| {
        shards[0].set("split.count", u16(60_000));
    });
    assert!(error.to_string().contains("60000"), "{error}");
}

#[test]
fn a_tensor_is_in_one_shard() {
    let error = refused(|shards| {
        shards[2].remove_tensor("scalar");
        shards[2].tensor("bias", &[3], 0, vec![0; 12]);
    });
    let want = SplitDamage::DuplicateTensor {
        name: "bias".into(),
        first: 2,
        second: 3,
    };
    assert_eq!(*split_damage(&error), want);
}

#[test]
fn metadata_is_in_the_first_shard() {
    let error = refused(|shards| {
        shards[1].set("a.bool", boolean(false));
    });
    let want = SplitDamage::MetadataDiffers {
        key: "a.bool".into(),
        shard: 2,
    };
    assert_eq!(*split_damage(&error), want);
    let error = refused(|shards| {
        shards[2].set("b", text("x"));
    });
    let want = SplitDamage::MetadataOutsideFirst {
        key: "b".into(),
        shard: 3,
    };
    assert_eq!(*split_damage(&error), want);
    // The same value twice is no contradiction.
    let mut repeated = shards();
    repeated[1].entry("general.architecture", 8, &string("sample"));
    let (_folder, path) = folder_of(&repeated);
    GgufFile::open(&path).expect("nothing contradicts");
}

#[test]
fn versions_agree_and_alignment_is_each_shards_own() {
    let error = refused(|shards| shards[1].version = 2);
    let want = SplitDamage::Version {
        shard: 2,
        found: 2,
        first: 3,
    };
    assert_eq!(*split_damage(&error), want);
    let mut aligned = shards();
    aligned[1].alignment = 64;
    aligned[1].entry("general.alignment", 4, &64u32.to_le_bytes());
    let (_folder, path) = folder_of(&aligned);
    let file = GgufFile::open(&path).expect("a shard may have its own alignment");
    let alignments = file.shards().iter().map(|shard| shard.alignment());
    assert_eq!(alignments.collect::<Vec<_>>(), [32, 64, 32]);
    assert_eq!(file.tensor_bytes("bias").unwrap(), [0x22; 12]);
}

#[test]
fn damage_in_one_shard_names_the_file() {
    let error = refused(|shards| shards[1].cut = 30);
    let message = error.to_string();
    assert!(
        message.contains(&name(2)) && message.contains("\"bias\""),
        "{message}"
    );
}

#[test]
fn a_merged_model_says_that_it_is_whole() {
    // What `llama-gguf-split --merge` leaves behind.
    let mut merged = Writer::sample();
    merged
        .set("split.no", u16(0))
        .set("split.count", u16(0))
        .set("split.tensors.count", i32(3));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m-00001-of-00001.gguf");
    fs::write(&path, merged.bytes()).expect("written");
    GgufFile::open(&path).expect("a whole model");
    for (key, value) in [("split.no", u16(1)), ("split.tensors.count", i32(4))] {
        let mut lies = merged.clone();
        lies.set(key, value);
        fs::write(&path, lies.bytes()).expect("written");
        let error = GgufFile::open(&path).expect_err("a contradiction");
        assert!(error.to_string().contains(key), "{error}");
    }
}

#[test]
fn a_change_of_any_shard_is_seen() {
    let (_folder, path) = folder_of(&shards());
    let file = GgufFile::open(&path).expect("sound");
    let cut = path.join(name(2));
    let handle = fs::OpenOptions::new()
        .write(true)
        .open(&cut)
        .expect("opened");
    handle.set_len(10).expect("cut");
    for error in [
        file.check_unchanged().expect_err("cut"),
        file.tensor_bytes("bias").expect_err("cut"),
    ] {
        assert_eq!(error.code(), ErrorCode::Damaged);
        assert!(error.to_string().contains(&name(2)), "{error}");
    }
    assert!(file.tensor_bytes("weight").is_ok(), "its shard is whole");
}

#[test]
fn content_ids_are_of_the_shard() {
    let (_folder, path) = folder_of(&shards());
    let ids = || {
        let file = GgufFile::open(&path).expect("sound");
        let id = |name| file.content_id(file.tensor(name).expect("there"));
        (id("weight"), id("bias"))
    };
    let before = ids();
    let touched = fs::OpenOptions::new().write(true).open(path.join(name(2)));
    touched
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .expect("set");
    let after = ids();
    assert_eq!(before.0, after.0, "shard 1 is as it was");
    assert_ne!(before.1, after.1, "shard 2 was written to");
}

#[test]
fn limits_hold_for_all_shards_together() {
    // Each is within the limit of 2^16 entries, both are not.
    let mut shards = Writer::new().split(2);
    for (shard, first) in shards.iter_mut().zip([0, 40_000]) {
        for number in first..first + 40_000 {
            shard.entry(&format!("k{number}"), 0, &[0]);
        }
    }
    let shards = shards
        .iter()
        .map(|shard| parse(&shard.bytes()).expect("within"));
    let error = join(shards.collect()).expect_err("beyond");
    assert!(error.to_string().contains("80006"), "{error}");
}

proptest::proptest! {
    #[test]
    fn any_split_joins_to_the_whole(tensors in 0usize..20, count in 2u16..8) {
        let mut whole = Writer::sample();
        for number in 0..tensors {
            whole.tensor(&format!("t{number}"), &[number as u64 + 1], 0, vec![7; 4 * (number + 1)]);
        }
        let shards = whole.split(count).iter().map(|shard| parse(&shard.bytes()).unwrap()).collect();
        let (joined, whole) = (join(shards).unwrap(), parse(&whole.bytes()).unwrap());
        assert_eq!(joined.tensors.len(), whole.tensors.len());
        for (found, wanted) in joined.tensors.iter().zip(&whole.tensors) {
            assert_eq!((&found.name, &found.shape), (&wanted.name, &wanted.shape));
            assert_eq!(joined.tensor(&wanted.name), Some(found));
        }
    }

    #[test]
    fn shards_in_any_order_never_panic(
        order in proptest::collection::vec(0usize..4, 0..5),
        edits in proptest::collection::vec((0usize..200, proptest::num::u8::ANY), 0..4),
    ) {
        let shards = Writer::sample().split(4);
        let shards = order.iter().filter_map(|&number| {
            let mut bytes = shards[number].bytes();
            for &(at, byte) in &edits {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            parse(&bytes).ok()
        });
        let _ = join(shards.collect());
    }
}
