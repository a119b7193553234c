//! Editions by mail: the messages that readers get, and the SMTP that carries them (ED-43).

pub mod smtp;
pub mod writer;

use almanack_core::newsletter::link::LinkSigner;
use jiff::Timestamp;

use crate::signature::SigningKey;

impl LinkSigner for SigningKey {
    fn sign(&self, id: &str, at: Timestamp, body: &[u8]) -> String {
        self.sign_by_newest(id, at, body)
    }
}
