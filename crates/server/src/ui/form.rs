//! Forms: how a page changes something.
//!
//! Every form contains the viewer's form key, and [`Filled`] is the only way to read one: it
//! refuses a form without the key, so that foreign pages cannot submit it (authentication also
//! checks the origin). Destructive actions are confirmed: a link leads to a page that says what
//! would happen and to how many, and only its button does it.

mod faults;

use almanack_core::lang::reader;
use axum::extract::{FromRequest, FromRequestParts, Request};
use serde::de::DeserializeOwned;
use subtle::ConstantTimeEq;

pub(crate) use self::faults::{Fault, Faults};
use super::page;
use super::query::{read, write};
use crate::ui::prelude::*;

/// Name of the field with the form key.
const KEY: &str = "form_key";

/// A submitted form with a valid key.
pub(crate) struct Filled<T = Nothing>(pub(crate) Arc<AppState>, pub(crate) Viewer, pub(crate) T);

/// A form without fields.
#[derive(Debug, Deserialize)]
pub(crate) struct Nothing {}

impl<T: DeserializeOwned> FromRequest<Arc<AppState>> for Filled<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Arc<AppState>) -> Result<Self> {
        let (mut parts, body) = request.into_parts();
        let viewer = Viewer::from_request_parts(&mut parts, state).await?;
        let request = Request::from_parts(parts, body);
        let fields = axum::Form::<Vec<(String, String)>>::from_request(request, state).await;
        let axum::Form(fields) = fields.map_err(|_| {
            Problem::new(
                Code::BadRequest,
                both!("the form cannot be read", "无法读取表单"),
            )
        })?;
        let key = fields.iter().find(|(name, _)| name == KEY);
        let key = key.map_or("", |(_, value)| value.as_str());
        let ours = viewer.form_key.as_bytes();
        if ours.is_empty() || !bool::from(ours.ct_eq(key.as_bytes())) {
            let detail = both!(
                "this form belongs to another session; go back, reload the page and send it again",
                "此表单属于另一个会话；请返回，重新加载页面后再提交"
            );
            return Err(Problem::new(Code::ForeignOrigin, detail));
        }
        let given = fields.iter().filter(|(name, _)| name != KEY);
        let form = read(&write(given.map(|(name, value)| (name, value)))).map_err(|error| {
            Problem::new(Code::InvalidValue, reader::of_query(&error.to_string()))
        })?;
        Ok(Self(Arc::clone(state), viewer, form))
    }
}

/// A form that posts to `action`. The browser checks nothing, because it would show one fault at a
/// time; ours are shown together ([`Faults`]).
pub(crate) fn form(viewer: &Viewer, action: &str, body: &Markup) -> Markup {
    html! {
        form method="post" action=(action) novalidate {
            input type="hidden" name=(KEY) value=(viewer.form_key);
            (body)
        }
    }
}

/// The buttons of a form that can be previewed. The preview comes first, because it is what the
/// Enter key in a field does; with it, the form has `act` = `check`.
pub(crate) fn checked(lang: Lang, save: &str) -> Markup {
    html! {
        p class="acts" {
            button type="submit" name="act" value="check" { (lang.pick("Preview", "预览")) }
            button type="submit" class="primary" { (save) }
        }
    }
}

/// One button that posts, for harmless actions.
pub(crate) fn button(viewer: &Viewer, action: &str, label: &str) -> Markup {
    form(viewer, action, &html! { button type="submit" { (label) } })
}

/// Values that travel with a form.
pub(crate) fn hidden<N: Render, V: Render>(pairs: impl IntoIterator<Item = (N, V)>) -> Markup {
    html! { @for (name, value) in pairs { input type="hidden" name=(name) value=(value); } }
}

/// A confirmation before a destructive action.
pub(crate) struct Question<'a> {
    /// The action as a heading.
    pub(crate) title: &'a str,
    /// What would happen, and to how many.
    pub(crate) sentence: Markup,
    /// Further fields, hidden or visible.
    pub(crate) fields: Markup,
    /// What the button says.
    pub(crate) button: &'a str,
    /// Where to go instead.
    pub(crate) back: &'a str,
    /// The equivalent command.
    pub(crate) equivalent: Equivalent,
}

/// A confirmation page. Its form goes to its own path.
pub(crate) fn ask(viewer: &Viewer, place: page::Place, question: &Question<'_>) -> Markup {
    let fields = html! {
        (question.fields)
        p class="acts" {
            button type="submit" class="danger" { (question.button) }
            a class="button" href=(question.back) { (viewer.lang.pick("Keep it", "返回")) }
        }
    };
    let action = viewer.here.split('?').next().unwrap_or_default();
    let body = html! {
        p { (question.sentence) }
        (form(viewer, action, &fields))
        (question.equivalent.show(viewer))
    };
    page::page(viewer, place, question.title, &body)
}

/// Redirects after a form, so that reloading does not submit it again.
pub(crate) fn see(path: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, path.to_owned())]).into_response()
}
