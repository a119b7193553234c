//! Undo: the confirmation of a pause or a resume offers the reverse, as an ordinary form.
//!
//! Whoever paused or resumed left one state for another. Both travel with the confirmation, under
//! the session's seal, and the reverse is carried out only while the state is still the one that
//! was left: what somebody else has decided meanwhile stays. Nothing is stored for it.

use almanack_core::lang::reader;
use almanack_core::plan::Pause;
use sha2::{Digest, Sha256};

use crate::ui::prelude::*;

/// From which state to which; no pause is none.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Undo {
    pub(crate) before: Option<Pause>,
    pub(crate) after: Option<Pause>,
}

/// What a confirmation is asked for with.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Given {
    undo: Option<String>,
    seal: Option<String>,
}

/// The form.
#[derive(Debug, Deserialize)]
pub(crate) struct Undoing {
    undo: String,
}

impl Undo {
    /// Leads to the page that confirms. `of` is where the form goes, without its last part.
    pub(crate) fn see(&self, viewer: &Viewer, of: &str, page: &str) -> Response {
        if self.before == self.after {
            return see(page);
        }
        let text = serde_json::to_string(self).unwrap_or_default();
        let seal = seal(viewer, &format!("{of} {text}"));
        let query = address("", [("undo", text), ("seal", seal)]);
        see(&format!("{page}&{}", query.trim_start_matches('?')))
    }
}

/// A seal that only this session could have computed for a text.
fn seal(viewer: &Viewer, text: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(viewer.form_key.len().to_le_bytes());
    digest.update(&viewer.form_key);
    digest.update(text);
    format!("{:x}", digest.finalize())[..32].to_owned()
}

/// The button, if the confirmation came from this session.
pub(crate) fn offer(viewer: &Viewer, given: &Given, of: &str) -> Markup {
    let (Some(text), Some(given)) = (&given.undo, &given.seal) else {
        return Markup::default();
    };
    if *given != seal(viewer, &format!("{of} {text}")) {
        return Markup::default();
    }
    button(viewer, &format!("{of}/undo"), &hidden([("undo", text)]))
}

/// A form that takes something back.
pub(crate) fn button(viewer: &Viewer, action: &str, fields: &Markup) -> Markup {
    let fields = html! {
        (fields)
        button type="submit" { (viewer.lang.pick("Undo", "撤销")) }
    };
    form::form(viewer, action, &fields)
}

impl Undoing {
    /// The state to go back to, if `now` is the one that was left.
    pub(crate) fn back_from(&self, now: Option<&Pause>) -> Result<Option<Pause>> {
        let undo: Undo = serde_json::from_str(&self.undo)
            .map_err(|error| Problem::new(Code::InvalidValue, reader::of_json(".", &error)))?;
        if undo.after.as_ref() != now {
            return Err(moved_on());
        }
        Ok(undo.before)
    }
}

pub(crate) fn moved_on() -> Problem {
    let detail = both!(
        "this can no longer be undone: it has changed since; its page shows what it is now",
        "已无法撤销：此后又有更改；当前状态请看其页面"
    );
    Problem::new(Code::WrongState, detail)
}
