//! Files on disk: opening, changes while open, content ids.

use std::fs;

use guild_model::{ErrorCode, GgufFile, ModelSource};

use crate::writer::Writer;

/// A sample file in a folder that lives as long as the first value.
fn sample_file() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sample.gguf");
    fs::write(&path, Writer::sample().bytes()).expect("written");
    (folder, path)
}

#[test]
fn tensor_bytes_are_the_stored_ones() {
    let (_folder, path) = sample_file();
    let file = GgufFile::open(&path).expect("valid");
    assert_eq!(file.tensor_bytes("weight").expect("there"), [0x11; 36]);
    assert_eq!(file.tensor_bytes("bias").expect("there"), [0x22; 12]);
    file.prefetch("weight");
    file.prefetch("no such tensor");
    let error = file.tensor_bytes("no such tensor").expect_err("missing");
    assert_eq!(error.code(), ErrorCode::Damaged);
    assert!(error.to_string().contains("no such tensor"));
}

#[test]
fn a_file_that_cannot_be_opened_is_an_io_error_that_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let circle = folder.path().join("circle.gguf");
    std::os::unix::fs::symlink(&circle, &circle).expect("linked");
    for path in [folder.path().join("absent.gguf"), circle] {
        let error = GgufFile::open(&path).expect_err("no file");
        assert_eq!((error.code(), error.code().exit()), (ErrorCode::Io, 40));
        assert!(
            error.to_string().contains(path.to_str().expect("UTF-8")),
            "{error}"
        );
    }
}

#[test]
fn an_empty_file_is_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("empty.gguf");
    fs::write(&path, b"").expect("written");
    assert_eq!(
        GgufFile::open(&path).expect_err("empty").code(),
        ErrorCode::Damaged
    );
}

#[test]
fn a_pipe_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.gguf");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let error = GgufFile::open(&pipe).unwrap_err();
    assert!(error.to_string().contains("regular file"), "{error}");
}

#[test]
fn a_file_cut_while_open_is_damaged_and_not_a_bus_error() {
    let (_folder, path) = sample_file();
    let file = GgufFile::open(&path).expect("valid");
    file.check_unchanged().expect("nothing happened yet");
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|f| f.set_len(10))
        .expect("cut");
    for error in [
        file.check_unchanged().expect_err("cut"),
        file.tensor_bytes("weight").expect_err("cut"),
    ] {
        assert_eq!(error.code(), ErrorCode::Damaged);
        assert!(error.to_string().contains("10 now"), "{error}");
    }
    assert_eq!(file.metadata().require::<u64>("a.u32").expect("a copy"), 7);
}

#[test]
fn a_file_written_to_while_open_is_damaged() {
    let (_folder, path) = sample_file();
    let file = GgufFile::open(&path).expect("valid");
    let handle = fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .expect("opened");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    handle.set_modified(later).expect("the time can be set");
    assert_eq!(
        file.check_unchanged().expect_err("written").code(),
        ErrorCode::Damaged
    );
}

#[test]
fn content_ids_tell_tensors_and_states_of_a_file_apart() {
    let (_folder, path) = sample_file();
    let id = |name: &str| {
        let file = GgufFile::open(&path).expect("valid");
        file.content_id(file.tensor(name).expect("there"))
    };
    let weight = id("weight");
    assert_eq!(weight, id("weight"), "the same file opened twice");
    assert_ne!(weight, id("bias"));
    let handle = fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .expect("opened");
    handle
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .expect("the time can be set");
    assert_ne!(weight, id("weight"), "the file was written to");
}
