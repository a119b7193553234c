//! The language of answers: the one that `Accept-Language` prefers, English by default.
//!
//! Sentences are turned here, at the edge: an error is made long before its reader is known, and
//! carries both languages ([`almanack_core::lang::Sentence`]). Names, codes and numbers are the
//! same for every reader.

use std::convert::Infallible;

use almanack_core::lang::Lang;
use axum::extract::{FromRequestParts, Request};
use axum::{http::request::Parts, middleware::Next};

use crate::prelude::*;
use crate::problem;

/// The reader of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader(pub(crate) Lang);

impl<S: Sync> FromRequestParts<S> for Reader {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(accepted(&parts.headers)))
    }
}

/// The language that a request prefers.
pub(crate) fn accepted(headers: &HeaderMap) -> Lang {
    let asked = headers.get(header::ACCEPT_LANGUAGE);
    let asked = asked.and_then(|value| value.to_str().ok());
    Lang::accepted(asked.unwrap_or_default())
}

/// An answer with the language of its texts.
pub(crate) fn answer(lang: Lang, view: impl Serialize) -> Response {
    let headers = [(header::CONTENT_LANGUAGE, lang.tag())];
    (headers, Json(view)).into_response()
}

/// Turns problems into the reader's language, and says what the answer depends on.
pub(crate) async fn turn(request: Request, next: Next) -> Response {
    let lang = accepted(request.headers());
    let mut response = next.run(request).await;
    // It stays with the answer: a command on the same machine prints its cause, too.
    if let Some(problem) = response.extensions().get::<Problem>().cloned() {
        turn_problem(&mut response, problem, lang);
    }
    let headers = response.headers_mut();
    if headers.contains_key(header::CONTENT_LANGUAGE) {
        headers.append(header::VARY, HeaderValue::from_static("accept-language"));
    }
    response
}

fn turn_problem(response: &mut Response, problem: Problem, lang: Lang) {
    let is_whole = problem.detail.for_reader(lang).1 == lang;
    // The title exists in both languages, what others wrote does not.
    let languages = if is_whole { lang.tag() } else { "zh-CN, en" };
    if lang != Lang::English {
        let turned = Json(problem.turned(lang)).into_response();
        *response.body_mut() = turned.into_body();
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_LANGUAGE,
        HeaderValue::from_static(languages),
    );
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(problem::MEDIA_TYPE),
    );
}
