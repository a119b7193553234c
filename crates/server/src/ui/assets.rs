//! Style, script and icon, in the binary. Each has its digest in its name, so browsers may cache it
//! for ever.

use std::sync::LazyLock;

use maud::PreEscaped;
use sha2::{Digest, Sha256};

use crate::ui::prelude::*;

static STYLE_TEXT: LazyLock<String> = LazyLock::new(|| {
    lean(concat!(
        include_str!("assets/almanack.css"),
        include_str!("../picture/picture.css")
    ))
});
static SCRIPT_TEXT: LazyLock<String> = LazyLock::new(|| lean(include_str!("assets/almanack.js")));
/// Only for the API reference: every other page is smaller without it.
static TRY_TEXT: LazyLock<String> = LazyLock::new(|| lean(include_str!("assets/try.js")));
const ICON_TEXT: &str = include_str!("assets/icon.svg");

pub(crate) static STYLE: LazyLock<String> = LazyLock::new(|| path(&STYLE_TEXT, "css"));
pub(crate) static SCRIPT: LazyLock<String> = LazyLock::new(|| path(&SCRIPT_TEXT, "js"));
pub(crate) static TRY: LazyLock<String> = LazyLock::new(|| path(&TRY_TEXT, "js"));
pub(crate) static ICON: LazyLock<String> = LazyLock::new(|| path(ICON_TEXT, "svg"));

/// A text without the comments and the indentation that its readers need and browsers do not: a
/// first visit stays below 30 kB. Only whole lines are comments, so nothing has to be parsed.
fn lean(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut within = false;
    for line in text.lines().map(str::trim) {
        within |= line.starts_with("/*");
        if !(within || line.is_empty() || line.starts_with("//")) {
            kept.push_str(line);
            kept.push('\n');
        }
        within &= !line.ends_with("*/");
    }
    kept
}

fn path(text: &str, ending: &str) -> String {
    let digest = format!("{:x}", Sha256::digest(text));
    format!("/ui/assets/{}.{ending}", &digest[..16])
}

/// The icon, inside a page.
pub(crate) fn mark() -> Markup {
    html! { span class="mark" aria-hidden="true" { (PreEscaped(ICON_TEXT)) } }
}

/// The routes; public, because the sign-in page needs them.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/ui/assets/{name}", get(asset))
        .route("/robots.txt", get(robots))
}

async fn asset(Path(name): Path<String>) -> Response {
    let known = [
        (&STYLE, STYLE_TEXT.as_str(), "text/css; charset=utf-8"),
        (
            &SCRIPT,
            SCRIPT_TEXT.as_str(),
            "text/javascript; charset=utf-8",
        ),
        (&TRY, TRY_TEXT.as_str(), "text/javascript; charset=utf-8"),
        (&ICON, ICON_TEXT, "image/svg+xml"),
    ];
    let asked = format!("/ui/assets/{name}");
    let found = known.into_iter().find(|(path, ..)| ***path == asked);
    let Some((_, text, kind)) = found else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let for_ever = HeaderValue::from_static("public, max-age=31536000, immutable");
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, for_ever),
    ];
    (headers, text).into_response()
}

/// A dashboard should not be indexed by search engines. Published editions may be.
async fn robots(headers: HeaderMap) -> String {
    let sitemap = crate::editions::pages::sitemap::for_robots(&headers);
    format!("User-agent: *\nDisallow: /ui\nDisallow: /api\n{sitemap}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_indentation_stay_here() {
        let text = "/* One,\n   two. */\n  a { b: c }\n\n  // three\n  d /* four */ e\n";
        assert_eq!(lean(text), "a { b: c }\nd /* four */ e\n");
        for text in [&STYLE_TEXT, &SCRIPT_TEXT] {
            assert!(text.len() > 10_000 && !text.contains("\n/*"));
        }
    }
}
