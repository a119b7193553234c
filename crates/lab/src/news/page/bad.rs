//! Pages without an article: bot checks, empty apps, endless pages and files.

use axum::body::Bytes;

use super::HTML;
use crate::{feeds::document::escape, reply::Reply};

/// More than a client should read of one page.
pub(super) const OVERSIZED_BYTES: usize = 12 * 1024 * 1024;
/// What the flood consists of.
pub(super) const LINE: &str = "The tide table continues, and continues, and continues. ";
/// The text of a bot check.
pub(super) const BLOCKED: &str = "Just a moment. We are checking that you are human before you \
    proceed. You have been blocked by network security. If you think this is a mistake, sign in \
    or file a ticket. Ray ID: 7f3a11c09d";
/// The text of a page that needs JavaScript.
pub(super) const SHELL: &str =
    "You need to enable JavaScript to run this app. Alternatively, try one of the native apps.";

/// A bot check that claims success.
pub(super) fn blocked() -> Reply {
    Reply::new(HTML, check("Just a moment...", BLOCKED))
}

/// A bot check that admits it.
pub(super) fn forbidden() -> Reply {
    let text = "Access Denied. You don't have permission to access this page on this server. \
        Reference #18.4d5e6f";
    Reply::new(HTML, check("Access Denied", text)).at(403)
}

fn check(title: &str, text: &str) -> String {
    format!(
        "<!doctype html><html><head><title>{title}</title><meta name=\"robots\" \
         content=\"noindex,nofollow\"></head><body><div class=\"main-wrapper\"><h1>{title}</h1>\
         <p>{}</p><form id=\"challenge-form\" method=\"post\"></form></div></body></html>\n",
        escape(text)
    )
}

/// A script that would fetch the article.
pub(super) fn shell(title: &str) -> Reply {
    let title = escape(title);
    let html = format!(
        "<!doctype html><html><head><title>{title}</title><script src=\"/app.js\" defer></script>\
         </head><body><noscript>{SHELL}</noscript><div id=\"root\"></div></body></html>\n"
    );
    Reply::new(HTML, html)
}

/// A page longer than a client should read.
pub(super) fn oversized(title: &str) -> Reply {
    let begin = format!(
        "<!doctype html><html><head><title>{}</title></head><body><article>\n",
        escape(title)
    );
    let paragraph = Bytes::from(format!("<p>{}</p>\n", LINE.repeat(1024)));
    let count = OVERSIZED_BYTES / paragraph.len() + 1;
    let pieces = std::iter::once(Bytes::from(begin))
        .chain(std::iter::repeat_n(paragraph, count))
        .chain([Bytes::from("</article></body></html>\n")]);
    Reply::pieces(HTML, pieces)
}

/// A file that is no page.
pub(super) fn pdf() -> Reply {
    let mut bytes = b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n".to_vec();
    bytes.extend_from_slice(
        b"1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n",
    );
    Reply::new("application/pdf", bytes)
}

/// An error page.
pub(super) fn status(status: u16, sentence: &str) -> Reply {
    Reply::new(HTML, check(sentence, sentence)).at(status)
}
