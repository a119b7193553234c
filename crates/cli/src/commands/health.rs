//! `almanack health`: asks the node of this configuration, at its own address, how it is.
//!
//! For supervisors that have no HTTP client at hand, such as those of an image that holds nothing but this binary. The
//! database is left alone: a node whose database is away is up, and says itself that it is not ready.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use almanack_adapters::http::{Error, Limits, Request};
use serde::{Deserialize, Serialize};

use super::{checked, wait_for};
use crate::{
    args::HealthArguments,
    config::{self, Inputs, Need},
    failure::{Exit, Failure},
    output::Output,
    wiring,
};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a node is asked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Question {
    /// Is the process up?
    Up,
    /// Can it work?
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

/// What became of asking.
#[derive(Debug)]
pub(super) enum Answer {
    /// It is.
    Yes(State),
    /// A node says that it is not, or it is no node that answers.
    No {
        /// The answer's status.
        status: u16,
    },
    /// Nobody answered.
    Nobody(Error),
}

/// How a node describes itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct State {
    status: String,
    version: String,
}

/// Asks.
pub(super) fn run(
    arguments: &HealthArguments,
    inputs: &Inputs,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let settings = checked(config::load(inputs, Need::Database))?;
    let listen = settings.server.listen;
    let question = if arguments.ready {
        Question::Ready
    } else {
        Question::Up
    };
    match wait_for(ask(listen, question))? {
        Answer::Yes(state) if output.json => output.value(&state)?,
        Answer::Yes(State { status, version }) => output.line(&format!(
            "{status}: a node of version {version} answers at {listen}"
        ))?,
        Answer::No { status: 503 } if arguments.ready => {
            let what = format!("the node at {listen} is up, but its database does not answer");
            return Err(Failure::new(Exit::Unavailable, what)
                .hint("`almanack doctor` looks at the database"));
        }
        Answer::No { status } => {
            let what = format!("what answers at {listen} is no node of Almanack (status {status})");
            return Err(Failure::new(Exit::Failed, what).hint(WHERE));
        }
        Answer::Nobody(error) => {
            let what = format!("no node answers at {listen}");
            return Err(Failure::caused(&what, &error).hint(WHERE));
        }
    }
    Ok(Exit::Ok)
}

const WHERE: &str =
    "does `almanack serve` run with this configuration? server.listen says where it is asked";

/// Asks whoever listens there. A node that listens at every address of the machine is asked at loopback.
pub(super) async fn ask(listen: SocketAddr, question: Question) -> Result<Answer, Failure> {
    let mut asked = listen;
    if asked.ip().is_unspecified() {
        asked.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    let address = format!("http://{asked}/{}", question.path());
    let client = wiring::client_of(&address)?;
    let request = Request::get(address).limits(Limits {
        total: PATIENCE,
        ..Limits::default()
    });
    Ok(match client.send(request).await {
        Ok(answer) => serde_json::from_slice(&answer.body).map_or(
            Answer::No {
                status: answer.head.status,
            },
            Answer::Yes,
        ),
        Err(error) => Answer::Nobody(error),
    })
}
