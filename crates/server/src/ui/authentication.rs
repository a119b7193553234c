//! Authentication of pages, and error pages.
//!
//! Reading needs scope `read`, submitting a form `operate`. Clients that are not signed in are
//! redirected to the sign-in page. Every error behind authentication is shown as a page, in the
//! reader's language where the text exists.

use axum::{extract::Request, middleware::Next};

use super::page::POLICY;
use crate::ui::prelude::*;
use crate::{access::Authentication, problem::Page};

/// Authenticates a browser.
pub(crate) async fn enter(
    State(authentication): State<Arc<Authentication>>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut viewer = Viewer::arriving(&parts, authentication.state());
    let looking = parts.method.is_safe();
    let needed = if looking { Scope::Read } else { Scope::Operate };
    match authentication.admit_browser(&parts, needed).await {
        Ok(visit) => {
            parts.extensions.insert(visit.requester.clone());
            viewer.let_in(visit);
        }
        Err(problem) if problem.code == Code::Unauthenticated && looking => {
            let here = percent::encode(&viewer.here);
            return see(&format!("/ui/sign-in?next={here}"));
        }
        Err(problem) => return wrong(&viewer, problem.code.status(), Some(&problem)),
    }
    parts.extensions.insert(viewer.clone());
    let response = next.run(Request::from_parts(parts, body)).await;
    dress(&viewer, response)
}

/// Public pages: sign-in and preferences. Their forms have a separate key, so that no other page
/// can sign a browser in as another user.
pub(crate) async fn arrive(
    State(authentication): State<Arc<Authentication>>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut viewer = Viewer::arriving(&parts, authentication.state());
    let mut given = None;
    match authentication.admit_browser(&parts, Scope::Read).await {
        Ok(visit) => viewer.let_in(visit),
        Err(problem) if problem.code == Code::Unauthenticated => {
            (viewer.form_key, given) = authentication.arrival(&parts.headers);
        }
        Err(problem) => return wrong(&viewer, problem.code.status(), Some(&problem)),
    }
    parts.extensions.insert(viewer.clone());
    let response = next.run(Request::from_parts(parts, body)).await;
    let mut response = dress(&viewer, response);
    if let Some(given) = given {
        response.headers_mut().append(header::SET_COOKIE, given);
    }
    response
}

/// Adds the security headers to a page, and turns errors into pages.
pub(crate) fn dress(viewer: &Viewer, mut response: Response) -> Response {
    let status = response.status();
    let is_page = response.extensions().get::<Page>().is_some();
    if !is_page && (status.is_client_error() || status.is_server_error()) {
        let problem = response.extensions_mut().remove::<Problem>();
        let mut page = wrong(viewer, status, problem.as_ref());
        if let Some(after) = response.headers().get(header::RETRY_AFTER) {
            let headers = page.headers_mut();
            headers.insert(header::RETRY_AFTER, after.clone());
        }
        return page;
    }
    be_careful(response.headers_mut());
    response
}

/// An error page.
pub(crate) fn wrong(viewer: &Viewer, status: StatusCode, problem: Option<&Problem>) -> Response {
    let lang = viewer.lang;
    let title = match status {
        StatusCode::NOT_FOUND => lang.pick("Not found", "页面不存在"),
        StatusCode::FORBIDDEN => lang.pick("Not allowed", "您没有权限"),
        StatusCode::UNAUTHORIZED => lang.pick("Sign in first", "请先登录"),
        status if status.is_server_error() => lang.pick("Internal error", "内部错误"),
        _ => lang.pick("Request refused", "请求被拒绝"),
    };
    let body = html! {
        p class="wrong" role="alert" {
            @if let Some(problem) = problem { (said(lang, &problem.detail)) }
            @else { (status) }
        }
        p {
            a href="/ui" { (lang.pick("Today", "今日")) }
            @if let Some(problem) = problem {
                " · " a href=(problem.code.page()) { (lang.pick("What this means", "说明")) }
            }
        }
    };
    with_status(status, page(viewer, Place::Elsewhere, title, &body))
}

/// A refused form, to be filled in again.
pub(crate) fn again(page: Markup) -> Response {
    with_status(StatusCode::UNPROCESSABLE_ENTITY, page)
}

/// A page with a status.
pub(crate) fn with_status(status: StatusCode, page: Markup) -> Response {
    let mut response = (status, page).into_response();
    response.extensions_mut().insert(Page);
    be_careful(response.headers_mut());
    response
}

/// What a browser must not do with our pages: run foreign code, show them in foreign frames, use
/// the machine.
fn be_careful(headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY.clone());
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        ),
        // Not `no-referrer`, as elsewhere: browsers would then omit the origin of a form, too, and
        // our own forms would look foreign.
        ("referrer-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
