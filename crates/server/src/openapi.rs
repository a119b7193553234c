//! The description of the API: an OpenAPI 3.1 document, and a page for people made from it.
//!
//! Routes and document come from the same registration ([`document`] and [`crate::app`] share it),
//! so neither can know something the other does not.

use std::{fmt::Write as _, sync::Arc};

use axum::{
    Extension,
    http::header,
    response::{IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        PathItem,
        path::Operation,
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use crate::problem::ItemProblem;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
code{font-family:ui-monospace,monospace}dt{margin-top:1rem}";

/// The part of the document that no route brings.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Almanack",
        description = "Almanack decides when to try. Your services decide whether it takes effect."
    ),
    components(schemas(ItemProblem)),
    modifiers(&Token)
)]
pub(crate) struct Base;

struct Token;

impl Modify for Token {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let description =
            "Made by `almanack token`; starts with `alm_`. Scopes: read, operate, admin.";
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(description))
            .build();
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
        let description = "Standard Webhooks: `v1,` and the base64 of HMAC-SHA256 over \
                           `{webhook-id}.{webhook-timestamp}.{body}`, by the secret under `[tick]`.";
        let signature = ApiKeyValue::with_description("webhook-signature", description);
        let scheme = SecurityScheme::ApiKey(ApiKey::Header(signature));
        components.add_security_scheme("signature", scheme);
    }
}

/// The OpenAPI document of the API.
pub fn document() -> utoipa::openapi::OpenApi {
    crate::app::routes().into_openapi()
}

/// The document and the page, rendered once.
pub(crate) struct Rendered {
    json: String,
    page: String,
    policy: String,
}

impl Rendered {
    pub(crate) fn of(document: &utoipa::openapi::OpenApi) -> Self {
        let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE));
        Self {
            // Rendering plain data cannot fail; if it did, the tests on the document would.
            json: document.to_json().unwrap_or_default(),
            page: page(document),
            policy: format!(
                "default-src 'none'; style-src 'sha256-{hash}'; frame-ancestors 'none'; base-uri 'none'"
            ),
        }
    }
}

/// This document.
#[utoipa::path(
    get,
    path = "/api/v1/openapi.json",
    tag = "description",
    responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value)),
)]
pub(crate) async fn openapi_json(Extension(rendered): Extension<Arc<Rendered>>) -> Response {
    (
        [(header::CONTENT_TYPE, "application/json")],
        rendered.json.clone(),
    )
        .into_response()
}

/// The operations of this API, as a page.
#[utoipa::path(
    get,
    path = "/api/docs",
    tag = "description",
    responses((status = 200, description = "A page", body = String, content_type = "text/html")),
)]
pub(crate) async fn docs(Extension(rendered): Extension<Arc<Rendered>>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_SECURITY_POLICY, rendered.policy.clone()),
    ];
    (headers, rendered.page.clone()).into_response()
}

fn page(document: &utoipa::openapi::OpenApi) -> String {
    let mut list = String::new();
    for (path, item) in &document.paths.paths {
        for (method, operation) in operations(item) {
            let summary = operation.summary.as_deref().unwrap_or_default();
            let description = operation.description.as_deref().unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = write!(
                list,
                "<dt><code>{method} {}</code></dt><dd>{}<br>{}</dd>",
                escape(path),
                escape(summary),
                escape(description)
            );
        }
    }
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Almanack API</title>\
         <style>{STYLE}</style><main><h1>Almanack API</h1>\
         <p>The whole description: <a href=\"/api/v1/openapi.json\">openapi.json</a> (OpenAPI 3.1).</p>\
         <dl>{list}</dl></main></html>"
    )
}

fn operations(item: &PathItem) -> impl Iterator<Item = (&'static str, &Operation)> {
    let all = [
        ("GET", &item.get),
        ("PUT", &item.put),
        ("POST", &item.post),
        ("PATCH", &item.patch),
        ("DELETE", &item.delete),
    ];
    all.into_iter()
        .filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
