//! A node elsewhere.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use almanack_adapters::http::{Client, Error, Limits, Request};
use almanack_core::{address, secret::Secret, time::Clock};
use axum::http::{HeaderName, header};
use jiff::{SignedDuration, Timestamp, fmt::rfc2822};

use super::{Call, Reply};
use crate::{
    failure::{Exit, Failure, Result},
    wiring,
};

/// Holds the token; every user of the machine could read an argument.
const TOKEN_VARIABLE: &str = "ALMANACK_TOKEN";
/// How long an answer may take. A node gives up after 30 s by itself.
const ANSWER_WITHIN: Duration = Duration::from_mins(1);
/// How long an answer may take that comes when the work is done.
const WORK_WITHIN: Duration = Duration::from_hours(6);
/// Largest answer: a page of the largest payloads and entries is smaller.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Asks a node over HTTP.
pub(crate) struct Remote {
    client: Client,
    /// Without the `/` at its end.
    server: String,
    token: Option<Secret>,
    clock: Arc<dyn Clock>,
    /// How far the node's clock is ahead of this machine's, in seconds.
    ahead: AtomicI64,
}

impl Remote {
    pub(super) fn new(server: &str, environment: &BTreeMap<String, String>) -> Result<Self> {
        let url = address::parse(server).map_err(|_| {
            let what = format!("--server: `{server}` is not the address of a node");
            Failure::usage(what)
                .hint("write scheme, host and port, like https://almanack.example.org")
        })?;
        let token = environment.get(TOKEN_VARIABLE);
        let token = token.map(|text| Secret::new(text.trim()));
        Ok(Self {
            client: wiring::client_of(url.as_str())?,
            server: server.trim_end_matches('/').to_owned(),
            token: token.filter(|token| !token.expose().is_empty()),
            clock: wiring::machine_clock(),
            ahead: AtomicI64::new(0),
        })
    }

    pub(super) fn now(&self) -> Timestamp {
        let ahead = SignedDuration::from_secs(self.ahead.load(Ordering::Relaxed));
        let now = self.clock.now();
        now.checked_add(ahead).unwrap_or(now)
    }

    pub(super) async fn call(&self, call: Call) -> Result<Reply> {
        let answer = self.client.send(self.request(call)).await;
        let answer = answer.map_err(|error| self.unreachable(&error))?;
        self.note_time(answer.head.header(&header::DATE));
        let media_type = answer.head.header(&header::CONTENT_TYPE);
        let reply = Reply {
            status: answer.head.status,
            media_type: media_type.unwrap_or_default().to_owned(),
            body: answer.body,
            cause: None,
        };
        // Another web server answers anything with a page.
        if reply.media_type.starts_with("text/html") {
            return Err(self.unexpected(&reply));
        }
        Ok(reply)
    }

    fn request(&self, call: Call) -> Request {
        let address = format!("{}{}", self.server, call.target());
        let within = if call.long {
            WORK_WITHIN
        } else {
            ANSWER_WITHIN
        };
        let mut request = Request::new(call.method, address).limits(Limits {
            total: within,
            idle: within,
            body_bytes: BODY_BYTES_MAX,
        });
        if let Some(token) = &self.token {
            let shown = format!("Bearer {}", token.expose());
            request = request.header(header::AUTHORIZATION, &shown);
        }
        for (name, value) in &call.headers {
            request = request.header(HeaderName::from_static(name), value);
        }
        if let Some((media_type, body)) = call.content {
            request = request.header(header::CONTENT_TYPE, media_type);
            request.body = Some(body);
        }
        request
    }

    /// Times in sentences are seen from where the node is, not from a laptop whose clock is off.
    fn note_time(&self, date: Option<&str>) {
        let shown = date.and_then(|date| rfc2822::parse(date).ok());
        if let Some(shown) = shown {
            let ahead = shown.timestamp().duration_since(self.clock.now());
            // A header has whole seconds.
            let ahead = Some(ahead.as_secs()).filter(|ahead| ahead.abs() >= 2);
            let ahead = ahead.unwrap_or(0);
            self.ahead.store(ahead, Ordering::Relaxed);
        }
    }

    fn unreachable(&self, error: &Error) -> Failure {
        let what = format!("no answer from {}: {error}", self.server);
        let failure = Failure::new(Exit::Unreachable, what);
        match error {
            Error::Tls { .. } => failure
                .hint("the certificate must match this name and come from a trusted authority"),
            Error::Dns { .. } => failure.hint("check the name in --server or ALMANACK_SERVER"),
            _ => failure.hint(
                "is the node running there, and the address in --server or ALMANACK_SERVER right? \
                 Without them, commands work on the configured database",
            ),
        }
    }

    /// The server is not an Almanack node.
    pub(super) fn unexpected(&self, reply: &Reply) -> Failure {
        let (server, status) = (&self.server, reply.status);
        let what = format!("{server} is not an Almanack node (status {status})");
        Failure::new(Exit::Unreachable, what).hint(
            "name the node itself, or its address behind a proxy: scheme, host, port and path \
             without /api or /ui",
        )
    }
}
