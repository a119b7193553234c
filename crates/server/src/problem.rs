//! Errors as problem details (RFC 9457).
//!
//! Callers act on `code`: it is stable, `detail` is a sentence for people and may change. The cause
//! of a server-side failure goes to the log and never into the answer.

use std::collections::BTreeMap;

use almanack_core::{event::incoming::EventError, store, task::Invalid, token::Scope};
use almanack_engine::reschedule;
use utoipa::IntoResponses;
use utoipa::openapi::{self, Content, RefOr};

use crate::prelude::*;
use crate::words;

pub use self::code::Code;

mod code;
mod edition;
mod schedule;
mod source;

/// Media type of every error.
pub const MEDIA_TYPE: &str = "application/problem+json";

// Boxed inside, because it travels in every `Result` here.
/// A problem document (RFC 9457).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// Names the kind of problem as a reference: `/problems/{code}`.
    #[schema(example = "/problems/unknown_kind")]
    r#type: &'static str,
    /// The kind of problem in a few words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// The kind of problem, for programs.
    pub(crate) code: Code,
    /// What is wrong with this request, for people.
    #[schema(value_type = String)]
    pub(crate) detail: Box<str>,
    /// Where in the JSON body it went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "callback.url")]
    path: Option<Box<str>>,
    /// The kinds that are configured, when the kind asked for is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    known_kinds: Option<Box<[String]>>,
    /// The scope a token needs for this.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
    /// What is wrong with which item of an all-or-nothing call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<ItemProblem>>, no_recursion)]
    errors: Option<Box<[ItemProblem]>>,
    /// Where in the expression it went wrong, and what to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Misread>)]
    expression: Option<Box<Misread>>,
    /// What the log says of it: for a caller in this process, who has no log to read.
    #[serde(skip)]
    #[schema(ignore)]
    cause: Option<Box<Cause>>,
}

/// What the log says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cause(String);

/// What is wrong with a schedule's expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Misread {
    /// What is wrong, in a sentence.
    pub(crate) message: String,
    /// The part that is refused: its first byte, and one past its last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<usize>>, example = json!([2, 4]))]
    pub(crate) span: Option<[usize; 2]>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// The whole expression as it was probably meant, where that is clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "0 8 * * MON")]
    pub(crate) repaired: Option<String>,
}

/// What is wrong with one item of an all-or-nothing call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ItemProblem {
    /// Which item, from 0.
    pub(crate) index: usize,
    /// What is wrong with it.
    pub(crate) error: Problem,
}

impl Problem {
    /// A problem with a sentence that says what is wrong with this request.
    pub fn new(code: Code, detail: impl Into<Box<str>>) -> Self {
        let (status, r#type, title) = code.about();
        Self {
            r#type,
            title,
            status: status.as_u16(),
            code,
            detail: detail.into(),
            path: None,
            known_kinds: None,
            scope: None,
            errors: None,
            expression: None,
            cause: None,
        }
    }

    /// The kind of problem.
    pub fn code(&self) -> Code {
        self.code
    }

    /// What the log says of it, where that is known. Never a part of an answer.
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref().map(|cause| cause.0.as_str())
    }

    /// Says where in the body it went wrong.
    pub(crate) fn at(mut self, path: impl Into<Box<str>>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Where in the body it went wrong.
    pub(crate) fn place(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// What is wrong with the expression, if that is what is wrong.
    pub(crate) fn misread(&self) -> Option<&Misread> {
        self.expression.as_deref()
    }

    /// Says which scope would have been enough.
    pub(crate) fn needs(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// An all-or-nothing call with invalid items.
    pub(crate) fn items(errors: Vec<ItemProblem>) -> Self {
        let detail = format!(
            "invalid items: {}; with an Idempotency-Key the call is all or nothing, so nothing was stored",
            errors.len()
        );
        Self {
            errors: Some(errors.into()),
            ..Self::new(Code::InvalidItems, detail)
        }
    }
}

/// How every guarded operation refuses, said once for all of them.
impl IntoResponses for Problem {
    fn responses() -> BTreeMap<String, RefOr<openapi::Response>> {
        let problem = || Content::new(Some(openapi::Ref::from_schema_name("Problem")));
        let response = |description| {
            let response = openapi::ResponseBuilder::new().description(description);
            response.content(MEDIA_TYPE, problem()).build().into()
        };
        BTreeMap::from([
            (
                "4XX".to_owned(),
                response("Refused: nothing was stored. `code` says why"),
            ),
            (
                "5XX".to_owned(),
                response("Ask again; asking again is harmless"),
            ),
        ])
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let code = self.code;
        let mut response = (code.status(), Json(&self)).into_response();
        // Pages tell it in their own form.
        response.extensions_mut().insert(self);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        match code {
            Code::Unauthenticated | Code::BadSignature => {
                let challenge = HeaderValue::from_static("Bearer realm=\"almanack\"");
                headers.insert(header::WWW_AUTHENTICATE, challenge);
            }
            Code::DatabaseUnavailable
            | Code::Busy
            | Code::Contended
            | Code::TimedOut
            | Code::TooManyTicks
            | Code::TooManyRuns => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

impl From<Invalid> for Problem {
    fn from(invalid: Invalid) -> Self {
        let path = match &invalid {
            Invalid::Subject { .. } => "subject",
            Invalid::Kind { .. } => "kind",
            Invalid::Payload(_) | Invalid::PayloadTooLarge { .. } => "payload",
            Invalid::Priority(_) => "priority",
            Invalid::MaxRetry(_) => "max_retry",
            Invalid::Revision(_) => "revision",
            Invalid::Status(_) => "status",
        };
        Self::new(Code::InvalidValue, invalid.to_string()).at(path)
    }
}

impl From<EventError> for Problem {
    fn from(error: EventError) -> Self {
        match error {
            EventError::Invalid(invalid) => invalid.into(),
            EventError::Shape(reported) => Self::new(Code::InvalidEvent, words::of_json(&reported)),
            other => Self::new(Code::InvalidEvent, other.to_string()),
        }
    }
}

impl From<reschedule::Error> for Problem {
    fn from(error: reschedule::Error) -> Self {
        match error {
            reschedule::Error::NothingThere(nothing) => {
                Self::new(Code::NoSuchTask, nothing.to_string())
            }
            reschedule::Error::UnknownKind { ref known, .. } => {
                let known = known.iter().map(ToString::to_string).collect();
                Self {
                    known_kinds: Some(known),
                    ..Self::new(Code::UnknownKind, error.to_string())
                }
            }
            reschedule::Error::Reserved { .. } => {
                Self::new(Code::InvalidValue, error.to_string()).at("kind")
            }
            reschedule::Error::TooManyKinds { .. } => {
                Self::new(Code::TooManyKinds, error.to_string()).at("kind")
            }
            reschedule::Error::Callback(_) => {
                Self::new(Code::InvalidValue, error.to_string()).at("callback.url")
            }
            reschedule::Error::Contended { .. } => Self::new(Code::Contended, error.to_string()),
            reschedule::Error::KeyReused => {
                Self::new(Code::IdempotencyKeyReused, error.to_string())
            }
            reschedule::Error::Store(error) => error.into(),
        }
    }
}

impl From<store::Error> for Problem {
    /// The log gets the cause, once, here; the caller gets what they can do about it.
    fn from(error: store::Error) -> Self {
        if matches!(error, store::Error::Busy) {
            // Who floods a node with readers must not flood its log, too; requests are counted by their status.
            return busy();
        }
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        tracing::error!(error = %error, cause, "the store did not do what it was asked");
        let chain = Cause(error.chain());
        let problem = match error {
            store::Error::Unavailable { .. } => Self::new(
                Code::DatabaseUnavailable,
                "the database does not answer; ask again, asking again is harmless",
            ),
            store::Error::Unwritable { .. } => Self::new(
                Code::DatabaseUnwritable,
                "the database cannot be written (read-only, or its disk is full); nothing was stored",
            ),
            store::Error::Busy => busy(),
            store::Error::Refused { .. }
            | store::Error::Incompatible { .. }
            | store::Error::Unreadable { .. }
            | store::Error::Taken { .. } => internal(),
        };
        Self {
            cause: Some(Box::new(chain)),
            ..problem
        }
    }
}

fn busy() -> Problem {
    Problem::new(
        Code::Busy,
        "too many are reading at once; ask again in a moment, work and changes are not delayed by this",
    )
}

fn internal() -> Problem {
    Problem::new(
        Code::Internal,
        "something went wrong here; the log of this node says what",
    )
}

/// Marks an answer to people, who get a page even when something is wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page;

/// Turns whatever a layer below answered in its own words into a problem, so that callers meet one
/// form of error only.
pub(crate) fn unify(response: Response, body_bytes_max: usize) -> Response {
    let status = response.status();
    let is_problem = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|t| t == MEDIA_TYPE);
    let is_page = response.extensions().get::<Page>().is_some();
    if is_problem || is_page || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let problem = match status {
        StatusCode::PAYLOAD_TOO_LARGE => body_too_large(body_bytes_max),
        StatusCode::METHOD_NOT_ALLOWED => Problem::new(
            Code::MethodNotAllowed,
            "this path does not take this method; see Allow",
        ),
        StatusCode::GATEWAY_TIMEOUT => timed_out(),
        status if status.is_client_error() => {
            Problem::new(Code::BadRequest, "the request cannot be understood")
        }
        _ => internal(),
    };
    let mut unified = problem.into_response();
    if let Some(allow) = response.headers().get(header::ALLOW) {
        unified.headers_mut().insert(header::ALLOW, allow.clone());
    }
    unified
}

/// A body over the limit, which a caller must know to keep it.
pub(crate) fn body_too_large(bytes_max: usize) -> Problem {
    let detail = format!(
        "the body is larger than the {bytes_max} bytes this node takes; send fewer items at a time"
    );
    Problem::new(Code::BodyTooLarge, detail)
}

fn timed_out() -> Problem {
    tracing::warn!("a request was given up because its answer took too long");
    let detail = "the answer took too long; ask again to find out, asking again is harmless";
    Problem::new(Code::TimedOut, detail)
}

/// What a panic answers. Its message stays in the log: it may quote anything.
pub(crate) fn panicked(_: Box<dyn std::any::Any + Send + 'static>) -> Response {
    tracing::error!("a request handler panicked");
    internal().into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sf_01_too_many_readers_are_reported_when_to_ask_again() {
        let response = Problem::from(store::Error::Busy).into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    }
}
