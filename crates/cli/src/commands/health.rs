//! `almanack health`: checks the node of this configuration at its address.
//!
//! For supervisors without an HTTP client, such as in an image that contains only this binary. It
//! does not use the database: a node whose database is away is up, and reports itself not ready.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use almanack_adapters::http::{Error, Limits, Request};
use serde::{Deserialize, Serialize};

use crate::commands::prelude::*;

/// How long an answer may take.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// What to do about a node that is not found.
const WHERE: &str =
    "check that `almanack serve` runs with this configuration, and check server.listen";

/// What a node is asked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Question {
    /// Is the process up?
    Up,
    Ready,
}

impl Question {
    fn path(self) -> &'static str {
        match self {
            Self::Up => "healthz",
            Self::Ready => "readyz",
        }
    }
}

/// The result of the check.
#[derive(Debug)]
pub(super) enum Answer {
    Yes(State),
    /// It is up, and reports why it cannot work.
    NotReady(&'static str),
    /// An answer of another server.
    Other {
        status: u16,
    },
    Unreachable(Error),
}

/// How a node describes itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct State {
    status: String,
    version: String,
    /// Its name; an older version gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) node: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    degraded: Vec<String>,
}

pub(super) fn run(arguments: &HealthArguments, inputs: &Inputs, output: &mut Output) -> Done {
    let settings = checked(config::load(inputs, Need::Database))?;
    let listen = settings.server.listen;
    let question = if arguments.ready {
        Question::Ready
    } else {
        Question::Up
    };
    match wait_for(ask(listen, question))? {
        Answer::Yes(state) if output.json => output.value(&state)?,
        Answer::Yes(state) => {
            let (status, version) = (&state.status, &state.version);
            let what = format!("{status}: a node of version {version} answers at {listen}");
            output.line(&what)?;
            if !state.degraded.is_empty() {
                let names = state.degraded.join(", ");
                output.note(&format!("not working: {names}; see its log\n"));
            }
        }
        Answer::NotReady(why) => {
            let what = format!("the node at {listen} is up, but {why}");
            return Err(
                Failure::new(Exit::Unavailable, what).hint("`almanack doctor` checks the database")
            );
        }
        Answer::Other { status } => {
            let what = format!("the server at {listen} is not an Almanack node (status {status})");
            return Err(Failure::failed(what).hint(WHERE));
        }
        Answer::Unreachable(error) => {
            let what = format!("no node answers at {listen}");
            return Err(Failure::caused(&what, &error).hint(WHERE));
        }
    }
    Ok(Exit::Ok)
}

/// Asks the server at that address. A node that listens on every address is asked on loopback.
pub(super) async fn ask(listen: SocketAddr, question: Question) -> Result<Answer> {
    let asked = SocketAddr::new(reachable(listen.ip()), listen.port());
    let address = format!("http://{asked}/{}", question.path());
    let client = wiring::client_of(&address)?;
    let request = Request::get(address).limits(Limits {
        total: WAIT_MAX,
        ..Limits::default()
    });
    Ok(match client.send(request).await {
        Ok(answer) => judge(answer.head.status, &answer.body),
        Err(error) => Answer::Unreachable(error),
    })
}

fn reachable(listen: IpAddr) -> IpAddr {
    match listen {
        IpAddr::V4(all) if all.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(all) if all.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        one => one,
    }
}

/// A node that is not ready answers with a problem and its code, as everywhere in the API.
fn judge(status: u16, body: &[u8]) -> Answer {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let why = match (status, body["code"].as_str()) {
        (200, _) => {
            let state = serde_json::from_value(body);
            return state.map_or(Answer::Other { status }, Answer::Yes);
        }
        (503, Some("database_unavailable")) => "its database does not answer",
        (503, Some("database_unwritable")) => "its database cannot be written",
        (503, Some("shutting_down")) => "it is stopping",
        _ => return Answer::Other { status },
    };
    Answer::NotReady(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_known_by_what_it_says_and_how() {
        let well = br#"{"status":"ready","version":"0.1.0"}"#;
        assert!(matches!(judge(200, well), Answer::Yes(_)));
        for code in [
            "database_unavailable",
            "database_unwritable",
            "shutting_down",
        ] {
            let body = format!(r#"{{"code":"{code}","status":503}}"#);
            assert!(matches!(judge(503, body.as_bytes()), Answer::NotReady(_)));
        }
        let busy = br#"{"code":"overloaded","status":503}"#;
        for (status, body) in [(200, &b"hello"[..]), (404, well), (503, b""), (503, busy)] {
            let judged = judge(status, body);
            assert!(
                matches!(judged, Answer::Other { .. }),
                "{status} {judged:?}"
            );
        }
    }

    #[test]
    fn who_listens_everywhere_is_asked_at_loopback_of_the_same_kind() {
        for (listen, asked) in [
            ("0.0.0.0", "127.0.0.1"),
            ("::", "::1"),
            ("192.0.2.1", "192.0.2.1"),
        ] {
            assert_eq!(reachable(listen.parse().unwrap()).to_string(), asked);
        }
    }
}
