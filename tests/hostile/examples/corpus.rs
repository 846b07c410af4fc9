//! Writes the broken models as files.
//!
//! usage: `cargo run -p guild-hostile --example corpus -- DIR [--models]`
//!
//! Without `--models` they are the seeds of the GGUF fuzz target (`tests/fuzz/corpus/gguf`): one small file a model, its
//! shards one after the other. With it, every model has its own folder and whole tensors, for another program to try.

use guild_hostile::cases::{File, all, named};
use guild_hostile::tiny::{directory, qwen35moe};
use guild_hostile::writer::Writer;
use std::io::{Error, Result};
use std::path::Path;

fn main() -> Result<()> {
    let mut args = std::env::args_os().skip(1);
    let folder = args
        .next()
        .ok_or(Error::other("give a folder to write to"))?;
    let folder = Path::new(&folder);
    match args.next() {
        None => seeds(folder),
        Some(option) if option == "--models" => models(folder),
        Some(_) => Err(Error::other("the only option is --models")),
    }
}

fn seeds(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let broken = all().into_iter().map(|case| case.made_from(directory()));
    for (files, number) in sound(&directory()).into_iter().chain(broken).zip(0..) {
        // The target cuts its input at every `GGUF`.
        let bytes = files.iter().map(|(_, bytes)| bytes.as_slice());
        let seed = folder.join(format!("seed-{number:03}"));
        std::fs::write(seed, bytes.collect::<Vec<_>>().concat())?;
    }
    Ok(())
}

fn models(folder: &Path) -> Result<()> {
    let broken = all()
        .into_iter()
        .map(|case| (case.name.clone(), case.files()));
    let [whole, split] = sound(&qwen35moe());
    let sound = [
        ("sound".to_owned(), whole),
        ("sound, split".to_owned(), split),
    ];
    for ((name, files), number) in sound.into_iter().chain(broken).zip(0..) {
        let folder = folder.join(format!("{number:03}"));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("name.txt"), name)?;
        for (file, bytes) in files {
            std::fs::write(folder.join(file), bytes)?;
        }
    }
    Ok(())
}

/// The model whole, and the model split.
fn sound(model: &Writer) -> [Vec<File>; 2] {
    let whole = vec![("model.gguf".into(), model.bytes())];
    [whole, named(&model.split(3))]
}
