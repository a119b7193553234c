//! What every changing request carries: the requester, a body of limited size, and optionally an
//! idempotency key.

use almanack_core::both;
use almanack_core::lang::{Sentence, reader};
use almanack_core::store::OnceKey;
use almanack_core::task::{Identity, Kind, Subject};
use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::{body::Bytes, http::request::Parts};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{error::Category, value::RawValue};

use crate::prelude::*;
use crate::{access::Requester, idempotency, problem};

/// A changing request.
pub(crate) struct Call {
    pub(crate) requester: Requester,
    pub(crate) once: Option<OnceKey>,
    pub(crate) headers: HeaderMap,
    body: Bytes,
}

impl FromRequest<Arc<AppState>> for Call {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Arc<AppState>) -> Result<Self> {
        let (mut parts, body) = request.into_parts();
        let requester = Requester::from_request_parts(&mut parts, state).await?;
        // Rebuilt with the extensions, because the body limit may be one of them.
        let mut bodied = Request::new(body);
        *bodied.extensions_mut() = parts.extensions.clone();
        let body = Bytes::from_request(bodied, state).await;
        let body = body.map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => problem::body_too_large(state.limits.body_bytes),
            _ => Problem::new(
                Code::BadRequest,
                both!(
                    "the body could not be read to its end",
                    "请求体未能完整读取"
                ),
            ),
        })?;
        let once = idempotency::key(&parts, &requester, &body)?;
        Ok(Self {
            requester,
            once,
            headers: parts.headers,
            body,
        })
    }
}

impl Call {
    /// The content type without its parameters.
    pub(crate) fn media_type(&self) -> Option<&str> {
        let full = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        full.split(';').next().map(str::trim)
    }

    /// The body as text.
    pub(crate) fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.body).map_err(|_| {
            Problem::new(
                Code::MalformedJson,
                both!("the body is not UTF-8", "请求体不是 UTF-8"),
            )
        })
    }

    /// The raw body.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// The body as JSON of the given type.
    pub(crate) fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T> {
        read_object(self.json_text()?)
    }

    /// The body as one JSON object of the given type, or as an array of raw values.
    pub(crate) fn json_or_list<'a, T: Deserialize<'a>>(&'a self) -> Result<OneOrMany<'a, T>> {
        let text = self.json_text()?;
        if text.trim_ascii_start().starts_with('[') {
            return read_json(text).map(OneOrMany::Many);
        }
        read_object(text).map(OneOrMany::One)
    }

    fn json_text(&self) -> Result<&str> {
        if !self
            .media_type()
            .is_some_and(|t| t.eq_ignore_ascii_case("application/json"))
        {
            return Err(unsupported("application/json"));
        }
        self.text()
    }

    /// As [`Self::json`]; an empty body counts as `{}`.
    pub(crate) fn json_or_default<'a, T: Deserialize<'a> + Default>(&'a self) -> Result<T> {
        if self.body.is_empty() {
            return Ok(T::default());
        }
        self.json()
    }

    /// Refuses an idempotency key where it has no effect.
    pub(crate) fn refuse_key(&self) -> Result<()> {
        self.refuse_key_because(both!(
            "changes of schedules do not accept an Idempotency-Key; use If-Match for safe changes",
            "日程的更改不接受 Idempotency-Key；请用 If-Match 保证安全"
        ))
    }

    /// As [`Self::refuse_key`], with another message.
    pub(crate) fn refuse_key_because(&self, detail: Sentence) -> Result<()> {
        if self.once.is_none() {
            return Ok(());
        }
        Err(Problem::new(Code::IdempotencyKeyUnsupported, detail))
    }
}

/// A body that is one object or several.
pub(crate) enum OneOrMany<'a, T> {
    One(T),
    Many(Vec<&'a RawValue>),
}

/// Refuses the content type.
pub(crate) fn unsupported(wanted: &str) -> Problem {
    Problem::new(
        Code::UnsupportedMediaType,
        both!(
            "send the body as `Content-Type: {wanted}`",
            "请以 `Content-Type: {wanted}` 发送请求体"
        ),
    )
}

/// Reads a JSON object of the given type. serde would also accept an array, field by field in
/// order; that is always a mistake of the caller.
pub(crate) fn read_object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T> {
    if !text.trim_ascii_start().starts_with(['[', '"']) {
        return read_json(text);
    }
    read_json::<IgnoredAny>(text)?;
    Err(Problem::new(
        Code::InvalidBody,
        both!("this must be a JSON object", "这里必须是 JSON 对象"),
    ))
}

/// Reads JSON of the given type; the error names the path where it failed.
pub(crate) fn read_json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let problem = unread(&path, error.inner());
        if path == "." {
            problem
        } else {
            problem.at(path)
        }
    })?;
    deserializer.end().map_err(|error| unread(".", &error))?;
    Ok(value)
}

fn unread(path: &str, error: &serde_json::Error) -> Problem {
    let code = match error.classify() {
        Category::Data => Code::InvalidBody,
        Category::Syntax | Category::Eof | Category::Io => Code::MalformedJson,
    };
    Problem::new(code, reader::of_json(path, error))
}

/// The identity a path names.
pub(crate) struct At(pub(crate) Identity);

/// Describes the idempotency header.
#[derive(IntoParams)]
#[into_params(names("Idempotency-Key"), parameter_in = Header)]
#[expect(dead_code, reason = "it describes a header and is never made")]
pub(crate) struct OnceHeader(
    /// Run this call at most once; several items are all or nothing.
    Option<String>,
);

impl<S: Send + Sync> FromRequestParts<S> for At {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let (kind, subject): (String, String) = named(parts, state).await?;
        Ok(Self(Identity {
            subject: Subject::parse(&subject)?,
            kind: Kind::parse(&kind)?,
        }))
    }
}

/// An extractor of what a path names, read from its one parameter: a result of that type.
macro_rules! in_path {
    ($(#[$about:meta])* $name:ident($named:ty), |$given:ident: $type:ty| $read:expr) => {
        $(#[$about])*
        pub(crate) struct $name(pub(crate) $named);

        impl<S: Send + Sync> axum::extract::FromRequestParts<S> for $name {
            type Rejection = Problem;

            async fn from_request_parts(
                parts: &mut axum::http::request::Parts,
                state: &S,
            ) -> Result<Self> {
                let $given: $type = $crate::call::named(parts, state).await?;
                let named: Result<$named> = $read;
                named.map(Self)
            }
        }
    };
}
pub(crate) use in_path;

/// The parameters of a path.
pub(crate) async fn named<T, S>(parts: &mut Parts, state: &S) -> Result<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    let path = Path::<T>::from_request_parts(parts, state).await;
    path.map(|Path(named)| named)
        .map_err(|rejection| unnamed(&rejection))
}

/// A part of the path that cannot be read.
fn unnamed(rejection: &PathRejection) -> Problem {
    let other = || Sentence::from(rejection.body_text());
    let PathRejection::FailedToDeserializePathParams(failed) = rejection else {
        return Problem::new(Code::BadRequest, other());
    };
    let detail = match failed.kind() {
        ErrorKind::InvalidUtf8InPathParam { key } => both!(
            "`{key}` in the path is not UTF-8",
            "路径中的 `{key}` 不是 UTF-8"
        ),
        ErrorKind::ParseError { value, .. }
        | ErrorKind::ParseErrorAtKey { value, .. }
        | ErrorKind::ParseErrorAtIndex { value, .. } => both!(
            "`{value}` in the path must be a whole number",
            "路径中的 `{value}` 必须是整数"
        ),
        _ => other(),
    };
    Problem::new(Code::BadRequest, detail)
}

/// The query; unknown parameters are refused.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        let Query(asked) = query.map_err(|rejection| {
            let text = rejection.body_text();
            let what = text.strip_prefix("Failed to deserialize query string: ");
            Problem::in_query(reader::of_query(what.unwrap_or(&text)))
        })?;
        Ok(Self(asked))
    }
}

/// Longest text that is searched for, in bytes.
const TEXT_BYTES_MAX: usize = 200;

/// A text to search for. Nothing that is stored contains control characters, and PostgreSQL refuses
/// to search for a NUL.
pub(crate) fn check_text(text: String, name: &str) -> Result<String> {
    if text.len() > TEXT_BYTES_MAX || text.contains(char::is_control) {
        let detail = both!(
            "{name} must have at most {TEXT_BYTES_MAX} bytes and no control characters",
            "{name} 最多 {TEXT_BYTES_MAX} 字节，不能含控制字符"
        );
        return Err(Problem::in_query(detail));
    }
    Ok(text)
}
