//! Telegram's HTTP face: `/bot{token}/{method}`, with GET or POST, JSON or a form.
//!
//! A request is carried out and noted under one lock when it arrives ([`verdict`]); after that it only
//! waits and is answered, cut or left hanging.

mod control;
mod parameters;
mod verdict;

use std::sync::Arc;

use axum::{
    Router,
    extract::{ConnectInfo, Request, State},
    response::Response,
};

use self::{
    parameters::Parameters,
    verdict::{Called, judge},
};
use super::{handle::Handle, service::Service};
use crate::line::Cut;

/// Everything the server answers.
pub(super) fn routes(handle: Handle) -> Router {
    let service = Arc::clone(&handle.0);
    // The token is part of a path segment, so the path is read by hand.
    let api = Router::new().fallback(call).with_state(service);
    control::routes(handle).merge(api)
}

async fn call(
    State(app): State<Arc<Service>>,
    ConnectInfo(cut): ConnectInfo<Cut>,
    request: Request,
) -> Response {
    let path = request.uri().path().to_owned();
    let (token, method) = token_and_method(&path);
    let called = Called {
        token,
        method,
        parameters: Parameters::read(request).await,
    };
    let verdict = judge(&app, &called);
    app.changed();
    verdict.carry_out(&app.stop, &cut).await
}

/// Both empty where the path has another form.
fn token_and_method(path: &str) -> (String, &str) {
    let named = path.strip_prefix("/bot").and_then(|it| it.split_once('/'));
    let (token, method) = named.unwrap_or_default();
    // Clients may write the colon of a token either way.
    (token.replace("%3A", ":").replace("%3a", ":"), method)
}
