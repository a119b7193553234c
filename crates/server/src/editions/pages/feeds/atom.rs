//! Atom (RFC 4287).

use std::fmt::Write as _;

use super::{Entry, Feed, text};

pub(super) fn write(feed: &Feed<'_>) -> String {
    let (title, here) = (text(&feed.settings.title), text(&feed.here));
    let language = text(&feed.settings.language);
    let (id, updated) = (&feed.id, feed.updated_at);
    let mut atom = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    // Writing to a String cannot fail, here and below.
    let _ = write!(
        atom,
        "<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{language}\">\n\
         <id>{id}</id>\n<title>{title}</title>\n<updated>{updated}</updated>\n\
         <author><name>{title}</name></author>\n<generator>Almanack</generator>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{here}/feed.xml\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{here}\"/>\n"
    );
    for entry in &feed.entries {
        push(&mut atom, entry);
    }
    atom.push_str("</feed>\n");
    atom
}

fn push(atom: &mut String, entry: &Entry) {
    let (id, title, language) = (&entry.id, text(&entry.title), text(&entry.language));
    let (url, summary, content) = (text(&entry.url), text(&entry.summary), text(&entry.content));
    let updated = entry.published_at;
    let _ = write!(
        atom,
        "<entry xml:lang=\"{language}\">\n<id>{id}</id>\n<title>{title}</title>\n\
         <updated>{updated}</updated>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{url}\"/>\n\
         <summary>{summary}</summary>\n\
         <content type=\"html\">{content}</content>\n</entry>\n"
    );
}
