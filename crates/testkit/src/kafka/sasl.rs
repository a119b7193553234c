//! Signing in as a broker sees it: PLAIN (RFC 4616) and SCRAM (RFC 5802) over `SaslHandshake` and
//! `SaslAuthenticate`.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{
    Hmac, Mac,
    digest::{Digest, KeyInit},
};
use sha2::{Sha256, Sha512};

const UNSUPPORTED_MECHANISM: i16 = 33;
const AUTHENTICATION_FAILED: i16 = 58;
/// As many as brokers ask for.
const ROUNDS: usize = 4096;
const SALT: &[u8] = b"a salt of the front";
/// Added to what the client drew. There is no eavesdropper here, so it need not change.
const OWN_NONCE: &str = "front";

/// Who is let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// How they show it.
    pub mechanism: Mechanism,
    pub username: String,
    pub password: String,
}

/// How a password is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    Plain,
    /// SCRAM with SHA-256.
    ScramSha256,
    /// SCRAM with SHA-512.
    ScramSha512,
}

impl Mechanism {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "PLAIN",
            Self::ScramSha256 => "SCRAM-SHA-256",
            Self::ScramSha512 => "SCRAM-SHA-512",
        }
    }
}

/// One client on its way in.
pub(super) struct Examination {
    login: Login,
    stage: Stage,
}

enum Stage {
    /// Nothing was said yet, or nothing right.
    Outside,
    /// The mechanism is agreed upon.
    Chosen,
    /// The client's first message without its head, and our answer to it.
    Challenged(String, String),
    Inside,
}

/// What a client is answered.
pub(super) enum Step {
    Challenge(String),
    Admitted(String),
    Refused,
}

impl Step {
    /// The body of a `SaslAuthenticate` response.
    pub(super) fn response(&self, version: i16) -> Vec<u8> {
        let (code, error, said): (i16, &str, &str) = match self {
            Self::Challenge(said) | Self::Admitted(said) => (0, "", said),
            Self::Refused => (
                AUTHENTICATION_FAILED,
                "Authentication failed: invalid credentials",
                "",
            ),
        };
        let lifetime: &[u8] = if version >= 1 { &[0; 8] } else { &[] };
        let error_bytes = i16::try_from(error.len()).unwrap().to_be_bytes();
        let said_bytes = i32::try_from(said.len()).unwrap().to_be_bytes();
        [
            &code.to_be_bytes(),
            &error_bytes[..],
            error.as_bytes(),
            &said_bytes,
            said.as_bytes(),
            lifetime,
        ]
        .concat()
    }
}

impl Examination {
    pub(super) fn new(login: Login) -> Self {
        let stage = Stage::Outside;
        Self { login, stage }
    }

    pub(super) fn is_passed(&self) -> bool {
        matches!(self.stage, Stage::Inside)
    }

    /// The body of a `SaslHandshake` response.
    pub(super) fn choose(&mut self, mechanism: &[u8]) -> Vec<u8> {
        let ours = self.login.mechanism.name();
        let agreed = mechanism == ours.as_bytes();
        let code = if agreed { 0 } else { UNSUPPORTED_MECHANISM };
        if agreed {
            self.stage = Stage::Chosen;
        }
        let bytes = i16::try_from(ours.len()).unwrap().to_be_bytes();
        let offered = [&1_i32.to_be_bytes(), &bytes[..], ours.as_bytes()].concat();
        [&code.to_be_bytes()[..], &offered].concat()
    }

    /// The next message of the client.
    pub(super) fn hear(&mut self, said: &[u8]) -> Step {
        let said = String::from_utf8_lossy(said).into_owned();
        let stage = std::mem::replace(&mut self.stage, Stage::Outside);
        let step = match (stage, self.login.mechanism) {
            (Stage::Chosen, Mechanism::Plain) => self.plain(&said),
            (Stage::Chosen, _) => self.challenge(&said),
            (Stage::Challenged(first, challenge), Mechanism::ScramSha256) => {
                self.proof::<Hmac<Sha256>, Sha256>(&first, &challenge, &said)
            }
            (Stage::Challenged(first, challenge), Mechanism::ScramSha512) => {
                self.proof::<Hmac<Sha512>, Sha512>(&first, &challenge, &said)
            }
            _ => None,
        };
        let step = step.unwrap_or(Step::Refused);
        if matches!(step, Step::Admitted(_)) {
            self.stage = Stage::Inside;
        }
        step
    }

    fn plain(&self, said: &str) -> Option<Step> {
        let mut parts = said.split('\0').skip(1);
        let right = parts.next()? == self.login.username && parts.next()? == self.login.password;
        right.then(|| Step::Admitted(String::new()))
    }

    fn challenge(&mut self, said: &str) -> Option<Step> {
        let first = said.strip_prefix("n,,")?;
        let (name, nonce) = first.strip_prefix("n=")?.split_once(",r=")?;
        if name != self.login.username {
            return None;
        }
        let salt = STANDARD.encode(SALT);
        let challenge = format!("r={nonce}{OWN_NONCE},s={salt},i={ROUNDS}");
        self.stage = Stage::Challenged(first.to_owned(), challenge.clone());
        Some(Step::Challenge(challenge))
    }

    /// Whether the client knows the password; our answer shows that we do.
    fn proof<M: Mac + KeyInit, D: Digest>(
        &self,
        first: &str,
        challenge: &str,
        said: &str,
    ) -> Option<Step> {
        let (last, proof) = said.rsplit_once(",p=")?;
        let nonce = challenge.split(',').next()?;
        if last.split_once(',')?.1 != nonce {
            return None;
        }
        let everything = format!("{first},{challenge},{last}");
        let salted = salted::<M>(self.login.password.as_bytes());
        let stored = D::digest(mac::<M>(&salted, b"Client Key")).to_vec();
        let signature = mac::<M>(&stored, everything.as_bytes());
        let client_key = xor(&STANDARD.decode(proof).ok()?, &signature);
        if D::digest(client_key).to_vec() != stored {
            return None;
        }
        let server_key = mac::<M>(&salted, b"Server Key");
        let own = STANDARD.encode(mac::<M>(&server_key, everything.as_bytes()));
        Some(Step::Admitted(format!("v={own}")))
    }
}

/// The password as SCRAM stores it: PBKDF2 with one block.
fn salted<M: Mac + KeyInit>(password: &[u8]) -> Vec<u8> {
    let mut last = mac::<M>(password, &[SALT, &1_u32.to_be_bytes()].concat());
    let mut all = last.clone();
    for _ in 1..ROUNDS {
        last = mac::<M>(password, &last);
        all = xor(&all, &last);
    }
    all
}

fn mac<M: Mac + KeyInit>(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut mac = <M as KeyInit>::new_from_slice(key).unwrap();
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

fn xor(one: &[u8], other: &[u8]) -> Vec<u8> {
    let pairs = one.iter().zip(other);
    pairs.map(|(one, other)| one ^ other).collect()
}
