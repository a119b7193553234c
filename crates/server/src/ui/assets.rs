//! Style, script and icon, in the binary. Each has its digest in its name, so browsers may cache it
//! for ever.

use std::sync::LazyLock;

use maud::PreEscaped;
use sha2::{Digest, Sha256};

use crate::ui::prelude::*;

const STYLE_TEXT: &str = concat!(
    include_str!("assets/almanack.css"),
    include_str!("../picture/picture.css")
);
const SCRIPT_TEXT: &str = include_str!("assets/almanack.js");
const ICON_TEXT: &str = include_str!("assets/icon.svg");

pub(crate) static STYLE: LazyLock<String> = LazyLock::new(|| path(STYLE_TEXT, "css"));
pub(crate) static SCRIPT: LazyLock<String> = LazyLock::new(|| path(SCRIPT_TEXT, "js"));
pub(crate) static ICON: LazyLock<String> = LazyLock::new(|| path(ICON_TEXT, "svg"));

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
        (&STYLE, STYLE_TEXT, "text/css; charset=utf-8"),
        (&SCRIPT, SCRIPT_TEXT, "text/javascript; charset=utf-8"),
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
