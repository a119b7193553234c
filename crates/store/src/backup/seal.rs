//! The seal of a backup: a checksum of its bytes, at its end.
//!
//! A row that was altered is as well-formed as the one before, so reading a file proves nothing
//! about what it says. SQLite reads as many pages as a file's header names; what follows them is
//! not part of the database. The seal is there: a backup stays one file that every tool opens,
//! and every copy contains its checksum.
//!
//! It guards against mistakes, bad disks and edits, not against an attacker who computes a new one.

use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use sha2::{Digest as _, Sha256};

use super::{Error, Result, unread};

const MARK: &str = "\nalmanack-backup 1 sha256:";
const BYTES: &str = " bytes:";
/// Digits of a count, zeros in front: every seal has the same length.
const DIGITS: usize = 20;
const HEX: usize = 64;
const LENGTH: usize = MARK.len() + HEX + BYTES.len() + DIGITS + 1;
const CHUNK: usize = 1 << 20;

/// A checksum, and how many bytes it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seal {
    /// SHA-256, in hexadecimal digits.
    pub(super) checksum: String,
    bytes: u64,
}

impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { checksum, bytes } = self;
        writeln!(f, "{MARK}{checksum}{BYTES}{bytes:020}")
    }
}

impl Seal {
    fn parse(text: &str) -> Option<Self> {
        let fields = text.strip_prefix(MARK)?.strip_suffix('\n')?;
        let (checksum, bytes) = fields.split_once(BYTES)?;
        let fits = checksum.len() == HEX && bytes.len() == DIGITS;
        fits.then_some(())?;
        Some(Self {
            checksum: checksum.to_owned(),
            bytes: bytes.parse().ok()?,
        })
    }
}

/// Seals a whole file.
pub(super) fn close(path: &Path) -> Result<Seal> {
    let sealed = || -> io::Result<Seal> {
        let mut file = OpenOptions::new().read(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        let seal = Seal {
            checksum: digest(&mut file, bytes)?,
            bytes,
        };
        file.write_all(seal.to_string().as_bytes())?;
        Ok(seal)
    };
    sealed().map_err(|source| unread("seal", path, source))
}

/// Holds a file against its seal.
pub(super) fn check(path: &Path) -> Result<Seal> {
    let read = || -> io::Result<(Option<Seal>, String)> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let Some(bytes) = length.checked_sub(LENGTH as u64) else {
            return Ok((None, String::new()));
        };
        file.seek(SeekFrom::Start(bytes))?;
        let mut end = Vec::with_capacity(LENGTH);
        file.read_to_end(&mut end)?;
        let seal = std::str::from_utf8(&end).ok().and_then(Seal::parse);
        let Some(seal) = seal.filter(|seal| seal.bytes == bytes) else {
            return Ok((None, String::new()));
        };
        file.seek(SeekFrom::Start(0))?;
        Ok((Some(seal), digest(&mut file, bytes)?))
    };
    let (seal, found) = read().map_err(|source| unread("read", path, source))?;
    let seal = seal.ok_or_else(|| Error::Unsealed { path: path.into() })?;
    if seal.checksum == found {
        return Ok(seal);
    }
    Err(Error::Damaged {
        path: path.into(),
        what: "its bytes do not match its checksum: it was changed after it was written".to_owned(),
    })
}

fn digest(file: &mut File, bytes: u64) -> io::Result<String> {
    let (mut hash, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
    let mut rest = file.take(bytes);
    loop {
        let read = rest.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        hash.update(&chunk[..read]);
    }
    Ok(format!("{:x}", hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_is_read_as_it_was_written_and_nothing_else_is_one() {
        let seal = Seal {
            checksum: "0123456789abcdef".repeat(4),
            bytes: 4096,
        };
        let text = seal.to_string();
        assert_eq!(text.len(), LENGTH);
        assert_eq!(Seal::parse(&text), Some(seal));
        for other in ["", &text[1..], &text.replace(" 1 ", " 2 "), text.trim_end()] {
            assert_eq!(Seal::parse(other), None, "{other}");
        }
    }

    #[test]
    fn every_byte_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![7; 3 * CHUNK / 2]).unwrap();
        let seal = close(&path).unwrap();
        assert_eq!(check(&path).unwrap(), seal);
        let whole = std::fs::read(&path).unwrap();
        for place in [0, CHUNK - 1, CHUNK, whole.len() - LENGTH - 1] {
            let mut altered = whole.clone();
            altered[place] ^= 1;
            std::fs::write(&path, altered).unwrap();
            assert!(matches!(check(&path), Err(Error::Damaged { .. })));
        }
        for length in [0, 10, whole.len() - 1, whole.len() - LENGTH] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(check(&path), Err(Error::Unsealed { .. })));
        }
    }
}
