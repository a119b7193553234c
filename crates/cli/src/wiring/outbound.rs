//! The HTTP client of a process.

use almanack_adapters::http::{Client, Settings as ClientSettings};
use almanack_core::address::{Guard, IpNet};

use crate::failure::{Exit, Failure};

/// A client that may go into these networks; `key` is the setting that holds them.
pub(crate) fn client(
    allow: &[IpNet],
    key: &'static str,
    contact: Option<&str>,
) -> Result<Client, Failure> {
    let made = Client::new(&ClientSettings {
        contact: contact.map(str::to_owned),
        ..ClientSettings::new(Guard::new(allow.to_vec(), key))
    });
    made.map_err(|error| Failure::new(Exit::Failed, error.to_string()))
}
