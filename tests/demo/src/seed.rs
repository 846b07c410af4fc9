//! A signing key that doesn't outlive the demo.

use crate::error::DemoError;
use crate::guild::Guild;
use std::path::{Path, PathBuf};

/// A key made for one run; its private seed is overwritten and removed when this is dropped.
pub struct ThrowAwayKey {
    /// Key id.
    pub id: String,
    /// Public key record.
    pub public: PathBuf,
    /// Private seed.
    pub seed: PathBuf,
}

impl ThrowAwayKey {
    /// Makes a key, marked as a test identity, in `folder`.
    pub fn new(guild: &Guild, folder: &Path) -> Result<ThrowAwayKey, DemoError> {
        let (seed, public) = (folder.join("seed"), folder.join("test-identity.pub.json"));
        // Made before the key, so that a failure below destroys the seed too.
        let mut key = ThrowAwayKey {
            id: String::new(),
            public,
            seed,
        };
        let answer = guild.json(&[
            "kernel",
            "keygen",
            "--seed-file",
            &key.seed.to_string_lossy(),
            "--public",
            &key.public.to_string_lossy(),
            "--label",
            "guild demo",
            "--test-identity",
        ])?;
        key.id = answer["key_id"].as_str().unwrap_or_default().to_owned();
        Ok(key)
    }
}

impl Drop for ThrowAwayKey {
    fn drop(&mut self) {
        // The file may be missing where making the key failed; there is nothing to destroy then.
        if let Ok(metadata) = std::fs::metadata(&self.seed) {
            let _ = std::fs::write(&self.seed, vec![0; metadata.len() as usize]);
            let _ = std::fs::remove_file(&self.seed);
        }
    }
}
