//! Fingerprints of what journals must not contain: keys, tokens and whole texts.

use sha2::{Digest, Sha256};

/// The first 32 bits of a SHA-256 in hexadecimal: enough to distinguish, and not reversible.
pub(crate) fn fingerprint(text: &str) -> String {
    format!("{:08x}", bits(text) >> 32)
}

/// The first 64 bits of a SHA-256: a number that is the same on every machine.
pub(crate) fn bits(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    let bytes = digest.iter().take(8);
    bytes.fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}
