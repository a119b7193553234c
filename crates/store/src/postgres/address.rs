//! A PostgreSQL URL: which servers, and how they prove who they are.
//!
//! The driver reads everything but `sslmode` and `sslrootcert`, which it knows only in part. What
//! we make of them:
//!
//! | `sslmode` | the connection is encrypted | the server's certificate is checked |
//! | --- | --- | --- |
//! | `disable` | no | |
//! | `prefer` (usual) | if the server offers it | no |
//! | `require`, `verify-ca`, `verify-full` | always | always: issuer and name |
//!
//! `require` checks as well, which libpq does not: a client that asks for encryption is not helped
//! by an encrypted connection to an unknown server. `prefer` cannot check, because it must work
//! with the certificate that a fresh server has made for itself.
//!
//! Of several servers (`postgres://user@a,b/database`), the first that can be written to is used: a
//! standby is refused at every connect, and after a failover the promoted one is found.

use std::time::Duration;

use almanack_core::{
    percent,
    store::{Error, Result},
};
use tokio_postgres::{
    Config,
    config::{SslMode, TargetSessionAttrs},
};

use super::tls::{AcceptedCertificates, Tls};
use crate::unavailable;

/// How long to wait for a connection, new or used, before saying that the database is gone.
const WAIT_MAX: Duration = Duration::from_secs(3);
/// Of several servers, each has at least so long to answer: one that is gone must not use up all
/// longest wait.
const WAIT_MAX_EACH: Duration = Duration::from_secs(1);

/// What a URL says.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// How long a new connection may take, through all servers.
    pub(super) wait_max: Duration,
}

impl Address {
    /// Reads a URL. Problems are expected without the URL, which may hold a password.
    pub(super) fn read(url: &str) -> Result<Self> {
        let (url, parameters) = split(url);
        let mut config: Config = url.parse().map_err(|error| unreadable(&error))?;
        let mode = mode(parameters.mode.as_deref())?;
        config
            .ssl_mode(mode)
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        let trust = match (mode, parameters.root_file) {
            (SslMode::Require, None) => AcceptedCertificates::System,
            (SslMode::Require, Some(path)) if path == "system" => AcceptedCertificates::System,
            (SslMode::Require, Some(path)) => AcceptedCertificates::File(path.into()),
            (_, Some(_)) => return Err(idle_root_file()),
            (_, None) => AcceptedCertificates::Any,
        };
        let servers = u32::try_from(config.get_hosts().len().max(1)).unwrap_or(u32::MAX);
        let each = (WAIT_MAX / servers).max(WAIT_MAX_EACH);
        config.connect_timeout(each);
        Ok(Self {
            tls: super::tls::tls(&trust)?,
            wait_max: each.saturating_mul(servers).max(WAIT_MAX) + WAIT_MAX_EACH,
            config,
        })
    }
}

/// What the driver does not know, or not well.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parameters {
    mode: Option<String>,
    root_file: Option<String>,
}

/// The URL without our parameters, and these.
fn split(url: &str) -> (String, Parameters) {
    let Some((head, query)) = url.split_once('?') else {
        return (url.to_owned(), Parameters::default());
    };
    let mut ours = Parameters::default();
    let mut rest = Vec::new();
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", value)) => ours.mode = Some(value.to_owned()),
            // What is no text once decoded names no file of ours; as written it is
            // recognised in the refusal.
            Some(("sslrootcert", value)) => {
                ours.root_file = percent::decode(value).or_else(|| Some(value.to_owned()));
            }
            _ => rest.push(pair),
        }
    }
    let mark = if rest.is_empty() { "" } else { "?" };
    (format!("{head}{mark}{}", rest.join("&")), ours)
}

fn mode(named: Option<&str>) -> Result<SslMode> {
    match named {
        Some("disable") => Ok(SslMode::Disable),
        None | Some("prefer") => Ok(SslMode::Prefer),
        Some("require" | "verify-ca" | "verify-full") => Ok(SslMode::Require),
        Some(other) => Err(misread(format!(
            "unknown sslmode={other}; use disable, prefer, require or verify-full"
        ))),
    }
}

fn idle_root_file() -> Error {
    misread("sslrootcert has no effect unless sslmode is require or verify-full".to_owned())
}

fn unreadable(error: &tokio_postgres::Error) -> Error {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    misread(cause.unwrap_or_else(|| error.to_string()))
}

fn misread(why: String) -> Error {
    unavailable("read database URL", why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_parameters_are_taken_out_and_the_rest_is_left_alone() {
        for (url, rest, mode, root_file) in [
            ("postgres://u@h/d", "postgres://u@h/d", None, None),
            (
                "postgres://u@h/d?sslmode=require",
                "postgres://u@h/d",
                Some("require"),
                None,
            ),
            (
                "postgres://u:p%3F@h/d?options=-c%20a%3Db&sslmode=verify-full&sslrootcert=%2Fa%20b%25.pem&x=1",
                "postgres://u:p%3F@h/d?options=-c%20a%3Db&x=1",
                Some("verify-full"),
                Some("/a b%.pem"),
            ),
        ] {
            let expected = Parameters {
                mode: mode.map(str::to_owned),
                root_file: root_file.map(str::to_owned),
            };
            assert_eq!(split(url), (rest.to_owned(), expected), "{url}");
        }
    }

    #[test]
    fn only_a_server_that_can_be_written_to_is_used_and_every_server_has_its_time() {
        let read = |url| Address::read(url).map_err(|error| error.chain()).unwrap();
        let one = read("postgres://u@a/d?target_session_attrs=any");
        assert_eq!(
            one.config.get_target_session_attrs(),
            TargetSessionAttrs::ReadWrite
        );
        assert_eq!(one.config.get_connect_timeout(), Some(&WAIT_MAX));
        let many = read("postgres://u@a:1,b:2,c,d,e/d");
        assert_eq!(many.config.get_hosts().len(), 5);
        assert_eq!(many.config.get_ports(), [1, 2, 5432, 5432, 5432]);
        let each = *many.config.get_connect_timeout().unwrap();
        assert!(each * 5 < many.wait_max, "the last one is reached");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for (url, expected) in [
            ("postgres://u:secret@h/d?sslmode=on", "unknown sslmode=on"),
            (
                "postgres://u:secret@h/d?sslrootcert=a.pem",
                "sslrootcert has no effect",
            ),
            ("postgres://u:secret@h:port/d", "port"),
            (
                "postgres://u:secret@h/d?sslmode=require&sslrootcert=/no/such.pem",
                "/no/such.pem",
            ),
        ] {
            let error = Address::read(url).err().map(|error| error.chain()).unwrap();
            assert!(error.contains(expected), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
