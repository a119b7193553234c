//! Badges: a name and what is said of it, as a picture or in the form that shields.io reads.

use crate::prelude::*;

/// What a badge says, by colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Good,
    Late,
    Bad,
    Idle,
}

impl Colour {
    /// Its name at shields.io, and its value.
    fn about(self) -> (&'static str, &'static str) {
        match self {
            Self::Good => ("success", "#1a7f37"),
            Self::Late => ("important", "#9a6700"),
            Self::Bad => ("critical", "#cf222e"),
            Self::Idle => ("inactive", "#57606a"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Svg,
    Json,
}

/// The name and the form of a file: `backup.svg`, `backup.json`.
pub(crate) fn parse(file: &str) -> Option<(&str, Form)> {
    let (name, form) = file.rsplit_once('.')?;
    match form {
        "svg" => Some((name, Form::Svg)),
        "json" => Some((name, Form::Json)),
        _ => None,
    }
}

pub(crate) fn answer(form: Form, label: &str, message: &str, colour: Colour) -> Response {
    let (name, value) = colour.about();
    match form {
        Form::Svg => {
            let kind = [(header::CONTENT_TYPE, "image/svg+xml")];
            (kind, svg(label, message, value)).into_response()
        }
        Form::Json => Json(serde_json::json!({
            "schemaVersion": 1, "label": label, "message": message, "color": name,
        }))
        .into_response(),
    }
}

/// Two boxes of text. Names have no characters that markup would take for its own.
fn svg(label: &str, message: &str, fill: &str) -> String {
    let width = |text: &str| 14 + 7 * text.len();
    let (left, right) = (width(label), width(message));
    let all = left + right;
    let (middle, last) = (left / 2, left + right / 2);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" \
         aria-label=\"{label}: {message}\"><title>{label}: {message}</title>\
         <rect width=\"{left}\" height=\"20\" fill=\"#24292f\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{fill}\"/>\
         <g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,sans-serif\" \
         font-size=\"11\"><text x=\"{middle}\" y=\"14\">{label}</text>\
         <text x=\"{last}\" y=\"14\">{message}</text></g></svg>"
    )
}
