//! What an installed version's files say of themselves, also where today's trust refuses them.

use crate::countersign::all_voices;
use crate::digest::Digest;
use crate::envelope::Envelope;
use crate::manifest::Manifest;
use crate::sign::Purpose;
use crate::trust::TrustStore;
use crate::verify::{Countersigner, Signer};

/// What the manifest and the envelope of an installed version say. It is for people: whose word counts is for
/// verification to say.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The manifest's security epoch; absent where the manifest is missing or damaged.
    pub security_epoch: Option<u64>,
    /// The known keys whose release signatures are good, ascending, whether or not they count.
    pub signers: Vec<Signer>,
    /// The known keys whose statements about the release are signed well, ascending by role and key, whether or not they
    /// count.
    pub countersigners: Vec<Countersigner>,
}

impl Recorded {
    /// Of a manifest and an envelope with the digests by which the state names them; absent is one that has another digest
    /// or can't be read. What can't be parsed says nothing.
    pub(crate) fn of(manifest: Option<&[u8]>, envelope: Option<&[u8]>, trust: &TrustStore) -> Self {
        let Some(bytes) = manifest else {
            return Self::default();
        };
        let manifest = Manifest::decode(bytes).ok();
        let mut recorded = Self {
            security_epoch: manifest.map(|manifest| manifest.security_epoch),
            ..Self::default()
        };
        let envelope = envelope.and_then(|envelope| Envelope::decode(envelope).ok());
        let Some(envelope) = envelope else {
            return recorded;
        };
        let signers = envelope.signatures.iter().filter_map(|entry| {
            let key = trust.key(&entry.keyid)?;
            let verified = key.verify(entry, Purpose::Release, bytes);
            verified.is_ok().then(|| Signer::from(key))
        });
        recorded.signers = signers.collect();
        let voices = all_voices(&envelope, Digest::of(bytes), trust).into_iter();
        let countersigners = voices.map(|((role, _), voice)| Countersigner::of(role, voice));
        recorded.countersigners = countersigners.collect();
        recorded
    }
}
