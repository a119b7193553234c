//! Atom, sitemaps, and pages for people.

use std::fmt::Write as _;

use super::{declaration, escape, rfc_3339};
use crate::feeds::feed::{Declared, Entry, Feed};

/// Atom. Ids are required, so a feed without them uses its links, trackers and all.
pub(super) fn atom(feed: &Feed, entries: &[Entry], base_url: &str) -> String {
    let mut text = declaration(feed);
    let number = feed.number;
    let updated = entries.first().map_or_else(String::new, |entry| {
        rfc_3339(entry.published_at, feed.offset(entry.published_at))
    });
    let _ = write!(
        text,
        "<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{}\">\n<title>{}</title>\n\
         <id>{base_url}/feeds/{number}/</id>\n<updated>{updated}</updated>\n\
         <link rel=\"alternate\" href=\"{base_url}/feeds/{number}/\"/>\n\
         <link rel=\"self\" href=\"{base_url}/feeds/{number}/atom.xml\"/>\n\
         <author><name>Feed {number}</name></author>\n",
        feed.language.tag(),
        escape(&feed.title()),
    );
    for entry in entries {
        let at = rfc_3339(entry.published_at, feed.offset(entry.published_at));
        let link = escape(&entry.link);
        let id = entry.id.as_deref().map_or_else(|| link.clone(), escape);
        let _ = write!(
            text,
            "<entry>\n<title>{}</title>\n<id>{id}</id>\n<link href=\"{link}\"/>\n\
             <published>{at}</published>\n<updated>{at}</updated>\n\
             <summary type=\"html\">{}</summary>\n</entry>\n",
            escape(&entry.title),
            escape(&entry.summary),
        );
    }
    text.push_str("</feed>\n");
    text
}

/// A sitemap with Google's news extension, which is the one that carries titles.
pub(super) fn sitemap(feed: &Feed, entries: &[Entry]) -> String {
    let mut text = declaration(feed);
    text.push_str(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\">\n",
    );
    let (name, language) = (escape(&feed.title()), feed.language.tag());
    for entry in entries {
        let at = rfc_3339(entry.published_at, feed.offset(entry.published_at));
        let (link, title) = (escape(&entry.link), escape(&entry.title));
        let _ = writeln!(
            text,
            "<url><loc>{link}</loc><lastmod>{at}</lastmod><news:news><news:publication>\
             <news:name>{name}</news:name><news:language>{language}</news:language></news:publication>\
             <news:publication_date>{at}</news:publication_date><news:title>{title}</news:title>\
             </news:news></url>"
        );
    }
    text.push_str("</urlset>\n");
    text
}

/// A list for people; links are relative, as on most sites.
pub(super) fn page(feed: &Feed, entries: &[Entry]) -> String {
    let mut text = head(feed);
    text.push_str("<nav><a href=\"/\">Home</a></nav>\n<ul class=\"posts\">\n");
    for entry in entries {
        let at = rfc_3339(entry.published_at, feed.offset(entry.published_at));
        let day = at.get(..10).unwrap_or_default();
        let _ = write!(
            text,
            "<li class=\"post\"><a class=\"title\" href=\"/feeds/{}/entries/{}\">{}</a> \
             <time datetime=\"{at}\">{day}</time>\n<p class=\"summary\">{}</p></li>\n",
            feed.number,
            entry.key,
            escape(&entry.title),
            // A paragraph holds no paragraphs.
            entry.summary.replace("<p>", "").replace("</p>", " "),
        );
    }
    text.push_str("</ul>\n</body></html>\n");
    text
}

/// The front page of a site, or of one feed; always UTF-8.
pub(super) fn front_page(feeds: &[Feed], base_url: &str) -> String {
    let mut links = String::new();
    let mut list = String::new();
    for feed in feeds {
        let (title, number) = (escape(&feed.title()), feed.number);
        let href = format!("/feeds/{number}/{}", feed.document.file_name());
        if feed.document.is_feed() {
            let media_type = feed.document.media_type();
            let _ = writeln!(
                links,
                "<link rel=\"alternate\" type=\"{media_type}\" title=\"{title}\" href=\"{href}\">"
            );
        }
        let _ = writeln!(list, "<li><a href=\"/feeds/{number}/\">{title}</a></li>");
    }
    format!(
        "<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>{base_url}</title>\n{links}</head>\n\
         <body><h1>{base_url}</h1>\n<ul>\n{list}</ul></body></html>\n"
    )
}

/// The page of one entry; always UTF-8.
pub(super) fn entry_page(feed: &Feed, entry: &Entry) -> String {
    let title = escape(&entry.title);
    let (number, file) = (feed.number, feed.document.file_name());
    let media_type = feed.document.media_type();
    let at = rfc_3339(entry.published_at, feed.offset(entry.published_at));
    format!(
        "<!doctype html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\"><title>{title}</title>\n\
         <link rel=\"alternate\" type=\"{media_type}\" href=\"/feeds/{number}/{file}\"></head>\n\
         <body><article><h1>{title}</h1><time datetime=\"{at}\">{at}</time>\n{}</article></body></html>\n",
        feed.language.tag(),
        entry.summary,
    )
}

fn head(feed: &Feed) -> String {
    let charset = if feed.declared == Declared::Header {
        String::new()
    } else {
        format!("<meta charset=\"{}\">", feed.charset.label())
    };
    format!(
        "<!doctype html>\n<html lang=\"{}\"><head>{charset}<title>{}</title></head>\n<body>\n",
        feed.language.tag(),
        escape(&feed.title()),
    )
}
