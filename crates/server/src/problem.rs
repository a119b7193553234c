//! Errors as problem details (RFC 9457).
//!
//! Clients act on `code`, which is stable; `detail` is a sentence for people and may change. The
//! cause of a server-side failure goes to the log and never into the answer.

use std::collections::BTreeMap;

use almanack_core::{
    both,
    event::incoming::EventError,
    lang::{Lang, Say, Sentence},
    store,
    task::Invalid,
    token::Scope,
};
use almanack_engine::reschedule;
use utoipa::IntoResponses;
use utoipa::openapi::{self, Content, RefOr};

use crate::prelude::*;

pub use self::code::Code;

mod calendar;
mod code;
mod edition;
mod radar;
mod schedule;
mod source;
mod work;

/// Media type of every error.
pub const MEDIA_TYPE: &str = "application/problem+json";

// Fields are boxed, because it is part of every `Result` here.
/// A problem document (RFC 9457).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// Identifies the kind of problem: `/problems/{code}`.
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
    pub(crate) detail: Sentence,
    /// Path of the invalid value in the JSON body.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "callback.url")]
    path: Option<Box<str>>,
    /// The configured kinds, if the requested kind is not one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    known_kinds: Option<Box<[String]>>,
    /// The scope that this call needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
    /// The problems of single items of an all-or-nothing call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<ItemProblem>>, no_recursion)]
    errors: Option<Box<[ItemProblem]>>,
    /// Where the expression is invalid, and how to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Misread>)]
    expression: Option<Box<Misread>>,
    /// The log message: for a caller in this process, which has no log to read.
    #[serde(skip)]
    #[schema(ignore)]
    cause: Option<Box<Cause>>,
}

/// The log message.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cause(String);

/// What is wrong with a schedule's expression.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Misread {
    /// What is wrong, in a sentence.
    #[schema(value_type = String)]
    pub(crate) message: Sentence,
    /// The invalid part: its first byte, and one past its last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<usize>>, example = json!([2, 4]))]
    pub(crate) span: Option<[usize; 2]>,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub(crate) hint: Option<Sentence>,
    /// The corrected expression, if the intention is clear.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "0 8 * * MON")]
    pub(crate) repaired: Option<String>,
}

impl Misread {
    fn turned(self, lang: Lang) -> Self {
        Self {
            message: self.message.turned(lang),
            hint: self.hint.map(|hint| hint.turned(lang)),
            ..self
        }
    }
}

/// The problem of one item of an all-or-nothing call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ItemProblem {
    /// Index of the item, from 0.
    pub(crate) index: usize,
    /// Its problem.
    pub(crate) error: Problem,
}

impl Problem {
    /// A problem with a sentence about this request.
    pub fn new(code: Code, detail: impl Into<Sentence>) -> Self {
        let (status, r#type) = code.about();
        Self {
            r#type,
            title: code.title(Lang::English),
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

    /// An invalid value at a path of the body.
    pub(crate) fn invalid(path: &str, detail: impl Into<Sentence>) -> Self {
        Self::new(Code::InvalidValue, detail).at(path)
    }

    /// [`Self::invalid`], unless the value fits.
    pub(crate) fn unless<T: Into<Sentence>>(
        fits: bool,
        path: &str,
        detail: impl FnOnce() -> T,
    ) -> Result<()> {
        if fits {
            return Ok(());
        }
        Err(Self::invalid(path, detail()))
    }

    /// An invalid query parameter.
    pub(crate) fn in_query(detail: impl Into<Sentence>) -> Self {
        Self::new(Code::InvalidQuery, detail)
    }

    pub fn code(&self) -> Code {
        self.code
    }

    /// The same for a reader of this language.
    #[must_use]
    pub fn turned(self, lang: Lang) -> Self {
        let turn = |item: ItemProblem| ItemProblem {
            error: item.error.turned(lang),
            ..item
        };
        Self {
            title: self.code.title(lang),
            detail: self.detail.turned(lang),
            errors: self
                .errors
                .map(|errors| errors.into_iter().map(turn).collect()),
            expression: self
                .expression
                .map(|misread| Box::new(misread.turned(lang))),
            ..self
        }
    }

    /// The log message, if known. Never part of an answer.
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref().map(|cause| cause.0.as_str())
    }

    /// Sets the path of the invalid value.
    pub(crate) fn at(mut self, path: impl Into<Box<str>>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The path of the invalid value.
    pub(crate) fn place(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// What is wrong with the expression, if it is the problem.
    pub(crate) fn misread(&self) -> Option<&Misread> {
        self.expression.as_deref()
    }

    /// Sets the scope that would be sufficient.
    pub(crate) fn needs(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// An all-or-nothing call with invalid items.
    pub(crate) fn items(errors: Vec<ItemProblem>) -> Self {
        let detail = both!(
            "invalid items: {}; with an Idempotency-Key the call is all or nothing, so nothing was stored",
            "无效的条目：{} 个；带 Idempotency-Key 的调用要么全部成功，要么全部不做，因此没有保存任何内容",
            errors.len()
        );
        Self {
            errors: Some(errors.into()),
            ..Self::new(Code::InvalidItems, detail)
        }
    }
}

/// The refusals of every guarded operation, described once.
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
                response("Refused; nothing was stored. See `code` for the reason"),
            ),
            (
                "5XX".to_owned(),
                response("Try again; repeating the call is safe"),
            ),
        ])
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let code = self.code;
        let mut response = (code.status(), Json(&self)).into_response();
        // Pages render it in their own form.
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
            | Code::TooManyWaiting
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
            Invalid::ExpiresAfter(_) | Invalid::ExpiresTwice => "expires_after_s",
            Invalid::CallTimeout(_) => "callback.timeout_s",
            Invalid::CallHeader { .. } => "callback.headers",
            Invalid::Tag { .. } | Invalid::Tags(_) => "tags",
            Invalid::Status(_) => "status",
        };
        Self::new(Code::InvalidValue, invalid.both()).at(path)
    }
}

impl From<EventError> for Problem {
    fn from(error: EventError) -> Self {
        match error {
            EventError::Invalid(invalid) => invalid.into(),
            other => Self::new(Code::InvalidEvent, other.both()),
        }
    }
}

impl From<reschedule::Error> for Problem {
    fn from(error: reschedule::Error) -> Self {
        match error {
            reschedule::Error::NothingThere(nothing) => Self::new(Code::NoSuchTask, nothing.both()),
            reschedule::Error::Expired(_) => {
                Self::new(Code::InvalidValue, error.both()).at("expires_at")
            }
            reschedule::Error::UnknownKind { ref known, .. } => {
                let known = known.iter().map(ToString::to_string).collect();
                Self {
                    known_kinds: Some(known),
                    ..Self::new(Code::UnknownKind, error.both()).at("kind")
                }
            }
            reschedule::Error::Reserved { .. } => {
                Self::new(Code::InvalidValue, error.both()).at("kind")
            }
            reschedule::Error::TooManyKinds { .. } => {
                Self::new(Code::TooManyKinds, error.both()).at("kind")
            }
            reschedule::Error::Callback(_) | reschedule::Error::Pulled { .. } => {
                Self::new(Code::InvalidValue, error.both()).at("callback.url")
            }
            reschedule::Error::Contended { .. } => Self::new(Code::Contended, error.both()),
            reschedule::Error::KeyReused => Self::new(Code::IdempotencyKeyReused, error.both()),
            reschedule::Error::Store(error) => error.into(),
        }
    }
}

impl From<store::Error> for Problem {
    /// Logs the cause once, here; the caller learns what to do.
    fn from(error: store::Error) -> Self {
        if matches!(error, store::Error::Busy) {
            // A flood of readers must not flood the log, too; requests are counted by status.
            return busy();
        }
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        tracing::error!(error = %error, cause, "store operation failed");
        let chain = Cause(error.chain());
        let problem = match error {
            store::Error::Unavailable { .. } => Self::new(
                Code::DatabaseUnavailable,
                both!(
                    "the database does not answer; try again, repeating the call is safe",
                    "数据库没有响应；请重试，重复调用是安全的"
                ),
            ),
            store::Error::Unwritable { .. } => Self::new(
                Code::DatabaseUnwritable,
                both!(
                    "the database cannot be written (read-only, or its disk is full); nothing was stored",
                    "数据库无法写入（只读，或磁盘已满）；没有保存任何内容"
                ),
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
        both!(
            "too many concurrent reads; try again in a moment (tasks and changes are not delayed)",
            "并发读取过多；请稍后重试（任务和更改不受影响）"
        ),
    )
}

pub(crate) fn internal() -> Problem {
    Problem::new(
        Code::Internal,
        both!(
            "internal error; see the log of this node",
            "内部错误；请查看本节点的日志"
        ),
    )
}

/// Marks an answer for a browser, which shows errors as pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page;

/// Turns errors of inner layers into problems, so that clients see one form of error only.
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
            both!(
                "this path does not support this method; see the Allow header",
                "此路径不支持该方法；请查看 Allow 头"
            ),
        ),
        StatusCode::GATEWAY_TIMEOUT => timed_out(),
        status if status.is_client_error() => Problem::new(
            Code::BadRequest,
            both!("the request cannot be understood", "无法理解该请求"),
        ),
        _ => internal(),
    };
    let mut unified = problem.into_response();
    if let Some(allow) = response.headers().get(header::ALLOW) {
        unified.headers_mut().insert(header::ALLOW, allow.clone());
    }
    unified
}

/// The message names the limit, so that the client can keep it.
pub(crate) fn body_too_large(bytes_max: usize) -> Problem {
    let detail = both!(
        "the body exceeds the limit of {bytes_max} bytes; send fewer items per call",
        "请求体超过 {bytes_max} 字节的上限；请减少每次调用的条目"
    );
    Problem::new(Code::BodyTooLarge, detail)
}

fn timed_out() -> Problem {
    tracing::warn!("request timed out");
    let detail = both!(
        "the request timed out and its outcome is unknown; try again, repeating the call is safe",
        "请求超时，结果未知；请重试，重复调用是安全的"
    );
    Problem::new(Code::TimedOut, detail)
}

/// The answer to a panic. Its message stays in the log: it may quote anything.
pub(crate) fn panicked(_: Box<dyn std::any::Any + Send + 'static>) -> Response {
    tracing::error!("a request handler panicked");
    internal().into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sf_01_too_many_readers_learn_when_to_retry() {
        let response = Problem::from(store::Error::Busy).into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    }
}
