//! The way into a page: who it is, what they may, and how they hear that they may not.
//!
//! Looking needs scope `read`, sending a form `operate`. Whoever is not known is led to the page that lets them in. Whatever goes
//! wrong behind the door is told on a page, in the reader's language where we have the words.

use axum::{extract::Request, middleware::Next};

use super::page::POLICY;
use crate::ui::prelude::*;
use crate::{access::Authentication, percent, problem::Page};

/// Lets a browser in.
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

/// The way to what is open to those whom nobody knows yet: the page that lets them in, and how they want to see it. Their forms have a
/// key of their own, so that no other page can sign them in as somebody else.
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

/// Gives a page its policy, and what went wrong a page.
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

/// A page with what is wrong.
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
            @if let Some(problem) = problem { (lang.english(&problem.detail)) }
            @else { (status) }
        }
        p { a href="/ui" { (lang.pick("Today", "今日")) } }
    };
    reported(status, page(viewer, Place::Elsewhere, title, &body))
}

/// A form that could not be taken, to be filled in again.
pub(crate) fn again(page: Markup) -> Response {
    reported(StatusCode::UNPROCESSABLE_ENTITY, page)
}

/// A page with a status of its own.
pub(crate) fn reported(status: StatusCode, page: Markup) -> Response {
    let mut response = (status, page).into_response();
    response.extensions_mut().insert(Page);
    be_careful(response.headers_mut());
    response
}

/// What a browser shall not do with a page of ours: run what is not ours, show it to a window of somebody else, use the machine.
fn be_careful(headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY.clone());
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        ),
        // Not `no-referrer`, as for everything else: browsers then keep the origin of a form to themselves, too, and ours would
        // look like those of somebody else.
        ("referrer-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
