//! Why there is no answer, by what the caller can do about it, in sentences without addresses.

use std::{error::Error as StdError, io, time::Duration};

use almanack_core::{address::Refusal, budget::Spent};
use jiff::Timestamp;

use super::pool::Unresolved;

/// The client could not be built: the platform's TLS is not usable.
#[derive(Debug, thiserror::Error)]
#[error("build HTTP client")]
pub struct NoClient(#[source] pub(super) reqwest::Error);

/// What was waited for when time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Connect,
    /// The head of the answer, redirects included.
    Answer,
    /// The next piece of the body.
    Idle,
    /// The end of the body.
    Whole,
}

impl Phase {
    fn text(self) -> &'static str {
        match self {
            Self::Connect => "could not connect in time",
            Self::Answer => "no answer in time",
            Self::Idle => "the answer stopped in the middle",
            Self::Whole => "the answer did not end in time",
        }
    }
}

/// Why there is no answer. No text holds more of an address than an IP or a port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The address, or that of a redirect, is not one we connect to. No request was sent there.
    #[error("{}{refusal}", after_redirects(*hops))]
    Refused {
        refusal: Refusal,
        /// How many redirects led there.
        hops: usize,
    },
    /// The name leads nowhere, at least not now.
    #[error("the name could not be resolved: {why}")]
    Dns {
        /// The resolver's error.
        why: String,
    },
    /// No server answers at that address and port.
    #[error("could not connect: {why}")]
    Connect {
        /// The network's error.
        why: String,
    },
    /// A server answers, but TLS cannot verify it.
    #[error("no secure connection: {why}")]
    Tls { why: String },
    /// It takes longer than allowed.
    #[error("{} ({} s)", phase.text(), after.as_secs_f32())]
    Timeout {
        /// What was waited for.
        phase: Phase,
        after: Duration,
    },
    /// The body is larger than allowed, after decompression.
    #[error("the answer has more than {bytes_max} bytes")]
    TooLarge {
        /// How much is allowed.
        bytes_max: usize,
    },
    /// The body grows more than honest ones do.
    #[error("the answer decompresses to more than {ratio_max} times its size")]
    Inflated {
        /// How much is allowed.
        ratio_max: usize,
    },
    /// The body is compressed in a way we did not ask for.
    #[error("the answer is compressed in a way that was not asked for")]
    Coding,
    /// The body does not decompress.
    #[error("the answer's compression is broken")]
    Unpacked,
    /// The body ends before it should.
    #[error("the answer ended early")]
    Truncated,
    /// More redirects than allowed.
    #[error("more than {max} redirects")]
    TooManyRedirects {
        /// How many are allowed.
        max: usize,
    },
    /// A redirect leads back to where we have been.
    #[error("the redirects lead in a circle")]
    RedirectLoop,
    /// A redirect without a usable address.
    #[error("a redirect does not say where to")]
    BadRedirect,
    /// What came is not HTTP, or the connection ended before an answer.
    #[error("no usable answer: {why}")]
    Broken {
        /// The network's error.
        why: String,
    },
    /// The caller's budget is spent; nothing was sent.
    #[error(transparent)]
    Spent(#[from] Spent),
    /// The proxy is not one we connect to; no request was sent.
    #[error("the proxy of this source is refused: {refusal}")]
    Proxy { refusal: Refusal },
    /// The site's `robots.txt` keeps us from it; no request was sent there.
    #[error("{why}")]
    Robots {
        /// Whether the file says so; else it could not be read.
        is_forbidden: bool,
        /// A sentence for people.
        why: String,
    },
    /// The host's pace allows no request now; nothing was sent there.
    #[error("the host takes no request before {until}")]
    Busy {
        /// When to come back.
        until: Timestamp,
    },
}

fn after_redirects(hops: usize) -> &'static str {
    if hops == 0 {
        ""
    } else {
        "a redirect leads to a refused address: "
    }
}

impl Error {
    pub(super) fn refused(refusal: Refusal) -> Self {
        Self::Refused { refusal, hops: 0 }
    }

    /// The same, known to have happened after so many redirects.
    pub(super) fn after(self, hops: usize) -> Self {
        match self {
            Self::Refused { refusal, .. } => Self::Refused { refusal, hops },
            other => other,
        }
    }

    /// Whether the same request can succeed later without a change on our side. A refused address
    /// does not become a public one by waiting.
    pub fn is_transient(&self) -> bool {
        !matches!(self, Self::Refused { .. } | Self::Proxy { .. })
    }

    /// Whether the request may have arrived all the same.
    pub fn may_have_arrived(&self) -> bool {
        match self {
            Self::Refused { hops, .. } => *hops > 0,
            Self::Dns { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Spent(_)
            | Self::Proxy { .. } => false,
            Self::Timeout { phase, .. } => *phase != Phase::Connect,
            _ => true,
        }
    }
}

/// The pool's error for a request without an answer.
pub(super) fn from_reqwest(error: reqwest::Error, connect_timeout: Duration) -> Error {
    let error = error.without_url();
    if let Some(unresolved) = find::<Unresolved>(&error) {
        return match unresolved.clone() {
            Unresolved::Refused(refusal) => Error::refused(refusal),
            Unresolved::NoName(name) => Error::Dns { why: name.why },
        };
    }
    let why = root(&error);
    if find::<rustls::Error>(&error).is_some() {
        return Error::Tls { why };
    }
    match (error.is_connect(), error.is_timeout()) {
        (true, true) => Error::Timeout {
            phase: Phase::Connect,
            after: connect_timeout,
        },
        (true, false) => Error::Connect { why },
        _ => Error::Broken { why },
    }
}

/// The pool's error for a body that ends early.
pub(super) fn from_body(error: reqwest::Error) -> Error {
    let error = error.without_url();
    let broke_off = |error: &io::Error| {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
        matches!(
            error.kind(),
            UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe
        )
    };
    if find::<io::Error>(&error).is_some_and(broke_off) {
        return Error::Truncated;
    }
    Error::Broken { why: root(&error) }
}

/// The causes of an error, itself first. An `io::Error` hides what it was made of from `source`.
fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| {
        let error: &'a (dyn StdError + 'static) = *error;
        match error.downcast_ref::<io::Error>() {
            Some(io) => io.get_ref().map(|inner| inner as &(dyn StdError + 'static)),
            None => error.source(),
        }
    })
}

fn find<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

fn root(error: &(dyn StdError + 'static)) -> String {
    causes(error)
        .last()
        .map_or_else(String::new, ToString::to_string)
}
