//! What surrounds an article: banner, navigation, asides, comments, footer.
//!
//! Two layouts, alternating: one uses `<article>`, the other `<div>`s whose classes only hint at
//! it.

use crate::{
    feeds::document::escape,
    news::{site::PER_STORY, story::Facts},
};

const BANNER: &str = "<div class=\"cookie-banner\" role=\"dialog\"><p>We and our 814 partners use \
    cookies.</p><button>Accept all</button> <button>Reject</button></div>";
const NAV: &str = "<nav class=\"menu\"><ul><li><a href=\"/\">Home</a></li><li><a \
    href=\"/technology\">Technology</a></li><li><a href=\"/science\">Science</a></li><li><a \
    href=\"/subscribe\">Subscribe</a></li><li><a href=\"/login\">Sign in</a></li></ul></nav>";
const ASIDE: &str = "<aside class=\"sidebar\"><h3>Most read</h3><ul><li><a href=\"/a\">Ten chairs \
    for the autumn</a></li><li><a href=\"/b\">What your lamp says about you</a></li></ul><div \
    class=\"ad\">Advertisement</div></aside>";
const COMMENTS: &str = "<section id=\"comments\" class=\"comments\"><h2>2 comments</h2><div \
    class=\"comment\"><p>First!</p></div><div class=\"comment\"><p>The author has obviously never \
    owned a boat.</p></div></section>";
const FOOTER: &str = "<footer><p>© The Coast Gazette. All rights reserved. <a \
    href=\"/imprint\">Imprint</a> · <a href=\"/privacy\">Privacy</a></p></footer>";

/// The page as text; a given charset is declared in the document.
pub(super) fn write(facts: &Facts, charset: &str) -> String {
    let title = escape(&facts.story.title);
    let paragraphs = facts.article.iter().flatten();
    let paragraphs = paragraphs.map(|it| format!("<p>{}</p>\n", escape(it)));
    let paragraphs: String = paragraphs.collect();
    let byline = "<p class=\"byline\">By a staff writer</p>";
    let main = if facts.story.id / PER_STORY % 2 == 0 {
        format!(
            "<main><article><h1>{title}</h1>{byline}\n{paragraphs}</article>{ASIDE}</main>{COMMENTS}"
        )
    } else {
        format!(
            "<div id=\"wrap\">{ASIDE}<div class=\"col\"><div class=\"headline\"><h1>{title}</h1>\
             </div>{byline}<div class=\"post-content\">\n{paragraphs}</div></div>{COMMENTS}</div>"
        )
    };
    let meta = match charset {
        "" => String::new(),
        named => format!("<meta charset=\"{named}\">"),
    };
    format!(
        "<!doctype html>\n<html><head>{meta}<title>{title} | The Coast Gazette</title>\
         <script>window.ads = [\"<p>not text</p>\"];</script><style>.ad {{ color: red }}</style>\
         </head>\n<body>{BANNER}<header>{NAV}</header>\n{main}\n{FOOTER}</body></html>\n"
    )
}
