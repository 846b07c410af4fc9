//! Signing where the key is: on another machine or in a hardware module. The first step writes the bytes to sign,
//! the second takes the signature (`docs/package-format.md`, section 6). The seed is never seen.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::author::{SignOptions, SignedPackage, Staged};
use crate::digest::Digest;
use crate::envelope::EnvelopeSignature;
use crate::error::{Error, Result};
use crate::key::KeyRecord;
use crate::limits::{MANIFEST_MAX_BYTES, SMALL_FILE_MAX_BYTES};
use crate::manifest::Manifest;
use crate::outside;
use crate::sign::{self, Mistake, Purpose, Signature};

/// Most bytes of a request: the manifest and the encoding around it.
const REQUEST_MAX_BYTES: u64 = MANIFEST_MAX_BYTES + SMALL_FILE_MAX_BYTES;

/// What is to be signed.
#[derive(Clone, Debug)]
pub struct SigningRequest {
    /// The manifest inside.
    pub manifest: Manifest,
    /// Its SHA-256: the package's identity.
    pub manifest_digest: Digest,
    /// SHA-256 of the bytes to sign, for comparing on the other machine.
    pub request_sha256: Digest,
}

/// Reads the staging folder `package_dir` and writes the bytes to sign to the new file `request`.
///
/// # Errors
/// As [`crate::sign_package`], but for the key.
pub fn request_signature(
    package_dir: &Path,
    request: &Path,
    options: &SignOptions,
) -> Result<SigningRequest> {
    let manifest = Staged::read(package_dir, options)?.manifest;
    let manifest_bytes = manifest.encode()?;
    let bytes = sign::message(Purpose::Release, &manifest_bytes);
    outside::write_new(request, &bytes)?;
    Ok(SigningRequest {
        manifest,
        manifest_digest: Digest::of(&manifest_bytes),
        request_sha256: Digest::of(&bytes),
    })
}

/// Puts the signature in the file `signature`, which `key` made over `request`, and the files of `package_dir` into
/// the new file `bundle`. The signature is 64 bytes, or their padded base64.
///
/// # Errors
/// [`Error::ExternalSignature`] for a signature that isn't `key`'s over `request`; [`Error::Usage`] for a file that holds
/// no signature, and if the folder isn't what `request` was made from; as [`crate::sign_package`].
pub fn attach_signature(
    package_dir: &Path,
    key: &KeyRecord,
    (request, signature): (&Path, &Path),
    bundle: &Path,
    options: &SignOptions,
) -> Result<SignedPackage> {
    let bytes = outside::read_limited(request, REQUEST_MAX_BYTES)?;
    let not_a_request = || {
        let what = format!("{} holds no manifest to sign", request.display());
        Error::usage(what, "Give the file that `sign --external` wrote")
    };
    let manifest_bytes = sign::message_body(Purpose::Release, &bytes).ok_or_else(not_a_request)?;
    let requested = Manifest::decode(manifest_bytes)?;
    let same_time = SignOptions {
        issued_at: Some(requested.issued_at),
        ..options.clone()
    };
    let staged = Staged::read(package_dir, &same_time)?;
    if staged.manifest.encode()? != manifest_bytes {
        let what = format!("{} was changed since", package_dir.display());
        return Err(Error::usage(what, "Ask for a signature of what it is now"));
    }
    let sig = read_signature(signature)?;
    sign::verify(&key.public, Purpose::Release, manifest_bytes, &sig).map_err(|_| {
        Error::ExternalSignature {
            key: key.id,
            signature: signature.to_owned(),
            request: request.to_owned(),
            mistake: Mistake::of(&key.public, Purpose::Release, manifest_bytes, &sig),
        }
    })?;
    let signature = EnvelopeSignature {
        keyid: key.id,
        alg: key.alg,
        sig,
    };
    staged.write(bundle, manifest_bytes, signature)
}

fn read_signature(path: &Path) -> Result<Signature> {
    let bytes = outside::read_limited(path, SMALL_FILE_MAX_BYTES)?;
    let raw = <[u8; 64]>::try_from(bytes.as_slice()).ok();
    let raw = raw.or_else(|| {
        let text = std::str::from_utf8(&bytes).ok()?.trim_ascii_end();
        BASE64.decode(text).ok()?.try_into().ok()
    });
    raw.map(Signature::from_bytes).ok_or_else(|| {
        let (path, found) = (path.display(), shape(&bytes));
        Error::usage(
            format!("{path} holds no Ed25519 signature: {found}"),
            "It has to be 64 bytes, or their base64: pure Ed25519 over the bytes of the request",
        )
    })
}

/// What a file that holds no signature holds instead.
fn shape(bytes: &[u8]) -> String {
    let text = std::str::from_utf8(bytes).unwrap_or_default().trim_ascii();
    let is_hex = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let kind = match bytes.len() {
        0 => "it is empty",
        _ if text.starts_with("-----BEGIN SSH") => {
            "it is an SSH signature, which is over a form of its own"
        }
        _ if text.starts_with("-----BEGIN") => "it is PEM",
        _ if text.starts_with("untrusted comment:") => {
            "it is a file of minisign or signify, which has more than the signature"
        }
        _ if is_hex && text.len() == 128 => "it is the signature in hex",
        _ if is_hex && text.len() == 64 => "it is 32 bytes in hex, as a digest or a key is",
        32 => "it has 32 bytes, as a digest or a key has",
        length => return format!("it has {length} bytes"),
    };
    kind.to_owned()
}
