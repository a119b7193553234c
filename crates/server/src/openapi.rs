//! The description of the API: an OpenAPI 3.1 document, and what the page for people (`read`,
//! `ui::api`) is made from.
//!
//! Routes and document come from the same registration ([`document`] and [`crate::app`] share it),
//! so they cannot differ. What many operations share is written once: refusals and scopes
//! (`guarded`), path parameters (`in_path`), and an example of each (`examples`).

mod examples;
pub(crate) mod read;

use std::sync::LazyLock;

use almanack_core::token::Scope;
use axum::response::Redirect;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{PathItem, RefOr, Required, SecurityRequirement};
use utoipa::{IntoResponses, Modify, OpenApi, PartialSchema};
use utoipa_axum::router::OpenApiRouter;

use crate::prelude::*;
use crate::problem::ItemProblem;

/// The part of the document that does not depend on routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Almanack",
        description = "Durable scheduler: tasks you can reschedule until the last second, cron, feed polling, daily digests."
    ),
    components(schemas(Problem, ItemProblem)),
    modifiers(&Token)
)]
pub(crate) struct Base;

struct Token;

impl Modify for Token {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let description = "Created by `almanack token create`; starts with `alm_`. Scopes: work, read, operate, admin.";
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
    let mut document = crate::app::routes().into_openapi();
    describe_paths(&mut document);
    examples::attach(&mut document);
    document
}

/// Adds refusals and scopes to guarded operations, unless they declare them.
pub(crate) fn guarded(
    mut router: OpenApiRouter<Arc<AppState>>,
    scope: impl Fn(&str) -> Scope,
) -> OpenApiRouter<Arc<AppState>> {
    let paths = &mut router.get_openapi_mut().paths.paths;
    for (method, operation) in paths.values_mut().flat_map(operations_mut) {
        operation.responses.responses.extend(Problem::responses());
        let scopes = [scope(method).as_str()];
        let needed = || vec![SecurityRequirement::new("token", scopes)];
        operation.security.get_or_insert_with(needed);
    }
    router
}

/// Adds the parameters that a path names, unless its operation describes them.
fn describe_paths(document: &mut utoipa::openapi::OpenApi) {
    for (path, item) in &mut document.paths.paths {
        for (_, operation) in operations_mut(item) {
            let described = operation.parameters.take().unwrap_or_default();
            let is_missing = |name: &&str| {
                let is_it = |it: &RefOr<Parameter>| matches!(it, RefOr::T(it) if it.name == *name);
                !described.iter().any(is_it)
            };
            let names = path
                .split('/')
                .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
            let mut all: Vec<_> = names.filter(is_missing).filter_map(in_path).collect();
            all.extend(described);
            operation.parameters = Some(all).filter(|all| !all.is_empty());
        }
    }
}

fn in_path(name: &str) -> Option<RefOr<Parameter>> {
    let (description, schema) = match name {
        "kind" => ("Kind of the task", String::schema()),
        "subject" => ("Subject of the task; write `/` as `%2F`", String::schema()),
        "name" => (
            "Name of the schedule: letters, digits, `.`, `_` and `-`",
            String::schema(),
        ),
        "id" => ("Id of the source", i64::schema()),
        "date" => ("Day of the edition, YYYY-MM-DD", String::schema()),
        _ => return None,
    };
    let parameter = ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(description))
        .schema(Some(schema));
    Some(parameter.build().into())
}

/// The document, rendered once. Rendering plain data cannot fail; if it did, the tests on the
/// document would.
static RENDERED: LazyLock<String> = LazyLock::new(|| document().to_json().unwrap_or_default());

/// The OpenAPI document.
#[utoipa::path(
    get, path = "/api/v1/openapi.json", tag = "description",
    responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value)),
)]
pub(crate) async fn openapi_json() -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json")];
    (headers, RENDERED.as_str()).into_response()
}

/// Where the reference was: it is a page of the dashboard, which needs no sign-in.
pub(crate) async fn docs() -> Redirect {
    Redirect::temporary("/ui/api")
}

fn operations_mut(item: &mut PathItem) -> impl Iterator<Item = (&'static str, &mut Operation)> {
    let all = [
        ("GET", &mut item.get),
        ("PUT", &mut item.put),
        ("POST", &mut item.post),
        ("PATCH", &mut item.patch),
        ("DELETE", &mut item.delete),
    ];
    let all = all.into_iter();
    all.filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}
