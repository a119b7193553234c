//! Passwords, recognised by Argon2id.
//!
//! The parameters are those that OWASP recommends for servers: 19 MiB, two passes, one lane. A hash
//! names its own, so raising them here leaves old ones readable. At most two are worked on at a
//! time, each on a blocking thread, and a few more wait, so that signing in costs a bounded amount
//! of memory and of time and never holds up anything else. One address alone has fewer tries at
//! once than may wait, and so cannot take all the room.

use std::sync::{Arc, LazyLock};

use almanack_core::sign_in::{
    PasswordHash,
    password::{Error, Passwords, Salt},
};
use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{self, PasswordHasher, PasswordVerifier, phc},
};
use async_trait::async_trait;
use tokio::sync::Semaphore;

const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// Hashes worked on at a time.
const AT_ONCE: usize = 2;
/// Hashes that wait for their turn besides: a second or two of work.
const WAITING_MAX: usize = 64;

/// Compared with where no user has the name. Its content does not matter, because the answer is
/// always no; its parameters do, because they determine the work.
static NO_USER: LazyLock<PasswordHash> = LazyLock::new(|| {
    let (salt, hash) = ("A".repeat(22), "A".repeat(43));
    PasswordHash(format!(
        "$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}${salt}${hash}"
    ))
});

pub struct Argon2id {
    /// For hashes that wait or run.
    room: Semaphore,
    permits: Arc<Semaphore>,
}

impl Default for Argon2id {
    fn default() -> Self {
        Self {
            room: Semaphore::new(AT_ONCE + WAITING_MAX),
            permits: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }
}

impl Argon2id {
    /// Runs on a blocking thread. The caller may be gone meanwhile: the permit stays with the work.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let _room = self.room.try_acquire().map_err(|_| Error::Busy)?;
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|error| failed(&error))?;
        let working = tokio::task::spawn_blocking(move || {
            let worked = work();
            drop(permit);
            worked
        });
        working.await.map_err(|error| failed(&error))?
    }
}

#[async_trait]
impl Passwords for Argon2id {
    async fn hash(&self, password: &str, salt: Salt) -> Result<PasswordHash, Error> {
        let password = password.to_owned();
        self.work(move || hash(&password, salt)).await
    }

    async fn verify(&self, password: &str, stored: Option<&PasswordHash>) -> Result<bool, Error> {
        let (password, known) = (password.to_owned(), stored.is_some());
        let against = stored.unwrap_or(&NO_USER).clone();
        let fits = self.work(move || verify(&password, &against)).await?;
        Ok(fits && known)
    }
}

fn hash(password: &str, salt: Salt) -> Result<PasswordHash, Error> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|error| failed(&error))?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let made: phc::PasswordHash = argon2
        .hash_password_with_salt(password.as_bytes(), &salt)
        .map_err(|error| failed(&error))?;
    Ok(PasswordHash(made.to_string()))
}

fn verify(password: &str, stored: &PasswordHash) -> Result<bool, Error> {
    let stored = phc::PasswordHash::new(&stored.0).map_err(|_| Error::Unreadable)?;
    if stored.salt.is_none() || stored.hash.is_none() {
        return Err(Error::Unreadable);
    }
    match Argon2::default().verify_password(password.as_bytes(), &stored) {
        Ok(()) => Ok(true),
        Err(password_hash::Error::PasswordInvalid) => Ok(false),
        Err(error) => Err(failed(&error)),
    }
}

fn failed(why: &impl ToString) -> Error {
    let why = why.to_string();
    Error::Failed { why }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    const SALT: Salt = [7; 16];

    /// No hash runs while this test holds both permits; those beyond the queue are refused at once.
    #[tokio::test]
    async fn sf_05_what_hashing_costs_is_bounded() {
        let passwords = Argon2id::default();
        let busy = Arc::clone(&passwords.permits);
        let _both = busy.acquire_many(2).await.unwrap();
        let mut context = Context::from_waker(Waker::noop());
        let mut waiting: Vec<_> = (0..AT_ONCE + WAITING_MAX)
            .map(|_| passwords.verify("junk", None))
            .collect();
        for one in &mut waiting {
            assert!(one.as_mut().poll(&mut context).is_pending());
        }
        let refused = passwords.verify("junk", None).await;
        assert!(matches!(refused, Err(Error::Busy)), "{refused:?}");
        waiting.pop();
        let mut next = passwords.verify("junk", None);
        let polled = next.as_mut().poll(&mut context);
        assert!(polled.is_pending(), "there is room");
    }

    #[tokio::test]
    async fn a_password_is_recognised_by_its_hash_alone() {
        let passwords = Argon2id::default();
        let hash = passwords.hash("correct horse", SALT).await.unwrap();
        assert!(hash.0.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        for (password, expected) in [
            ("correct horse", true),
            ("correct horsf", false),
            ("", false),
        ] {
            let fits = passwords.verify(password, Some(&hash)).await.unwrap();
            assert_eq!(fits, expected, "{password}");
        }
        let salted = passwords.hash("correct horse", [8; 16]).await.unwrap();
        assert_ne!(salted, hash, "equal passwords look different");
    }

    #[tokio::test]
    async fn an_unknown_name_is_refused_after_the_same_work() {
        let passwords = Argon2id::default();
        assert!(!passwords.verify("anything", None).await.unwrap());
        let parameters = |hash: &PasswordHash| {
            let parsed = phc::PasswordHash::new(&hash.0).unwrap();
            let lengths = (parsed.salt.unwrap().len(), parsed.hash.unwrap().len());
            (parsed.algorithm, parsed.version, parsed.params, lengths)
        };
        let real = passwords.hash("correct horse", SALT).await.unwrap();
        assert_eq!(parameters(&real), parameters(&NO_USER));
    }

    #[tokio::test]
    async fn a_hash_that_does_not_read_is_an_error_and_not_shown() {
        let passwords = Argon2id::default();
        for text in ["", "plain", "$argon2id$v=19$m=19456", "$scrypt$x$y$z"] {
            let stored = PasswordHash(text.to_owned());
            let error = passwords.verify("x", Some(&stored)).await.unwrap_err();
            assert!(
                text.is_empty() || !error.to_string().contains(text),
                "{error}"
            );
        }
    }
}
