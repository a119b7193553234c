//! Lists of subscriptions as people export and edit them.

use std::ops::Range;

use super::{Answer, Place, laugh_entities};
use crate::reply::Reply;

/// How deep `opml/deep.opml` nests its folders.
pub(super) const DEPTH: usize = 10_000;
/// How many feeds `opml/many.opml` lists.
pub(super) const MANY: usize = 50_000;

pub(super) fn answer(name: &str, place: &Place<'_>) -> Option<Answer> {
    Some(Answer::Reply(match name {
        "opml/nested.opml" => {
            let inner = folder("Mornings", &outlines(place, 1..3));
            let middle = folder("News &amp; more", &inner);
            list(&(folder("All", &middle) + &outlines(place, 3..4)))
        }
        "opml/broken.opml" => list(&(BROKEN.to_owned() + &outlines(place, 1..2))),
        "opml/duplicates.opml" => {
            let same = outlines(place, 1..2);
            list(&(same.repeat(4) + &same.replace("http://", "HTTP://")))
        }
        "opml/no-head.opml" => {
            let url = url(place, 1);
            text(format!(
                "<opml version=\"1.0\"><body><outline XMLURL=\"{url}\"/><outline xmlUrl='{url}?b'></outline></body></opml>"
            ))
        }
        "opml/truncated.opml" => {
            let outlines = outlines(place, 1..3);
            let mut whole = format!("<opml version=\"2.0\"><body>{outlines}");
            whole.truncate(whole.len() - 12);
            text(whole)
        }
        "opml/empty.opml" => list(""),
        "opml/empty-file.opml" => text(String::new()),
        "opml/not-opml.opml" => {
            text("<!doctype html><html><body><p>Export failed</body></html>".to_owned())
        }
        "opml/deep.opml" => {
            let open = "<outline text=\"f\">".repeat(DEPTH);
            list(&(open + &outlines(place, 1..2) + &"</outline>".repeat(DEPTH)))
        }
        "opml/entity-bomb.opml" => {
            let entities = laugh_entities();
            text(format!(
                "<!DOCTYPE opml [{entities}]><opml version=\"2.0\"><body><outline text=\"&l9;\" xmlUrl=\"http://feeds.example/&l9;\"/></body></opml>"
            ))
        }
        "opml/many.opml" => list(&outlines(place, 0..MANY)),
        _ => return None,
    }))
}

const BROKEN: &str = "<outline text=\"no address\"/>\n<outline text=\"empty\" type=\"rss\" xmlUrl=\"\"/>\n\
        <outline text=\"no scheme\" type=\"rss\" xmlUrl=\"feeds.example/rss\"/>\n\
        <outline text=\"script\" type=\"rss\" xmlUrl=\"javascript:alert(1)\"/>\n\
        <outline text=\"file\" type=\"rss\" xmlUrl=\"file:///etc/passwd\"/>\n\
        <outline text=\"spaces\" type=\"rss\" xmlUrl=\"http://a b/c d\"/>\n\
        <outline text=\"private\" type=\"rss\" xmlUrl=\"http://169.254.169.254/\"/>\n\
        <outline text=\"only a site\" type=\"rss\" htmlUrl=\"http://feeds.example/\"/>\n\
        <outline text=\"a link\" type=\"link\" url=\"http://feeds.example/page\"/>\n";

fn url(place: &Place<'_>, number: usize) -> String {
    format!("{}/hostile/hops/0?feed={number}", place.base_url)
}

fn outlines(place: &Place<'_>, numbers: Range<usize>) -> String {
    let outline = |number| {
        let url = url(place, number);
        format!("<outline text=\"Feed {number}\" type=\"rss\" xmlUrl=\"{url}\"/>\n")
    };
    numbers.map(outline).collect()
}

fn folder(name: &str, inside: &str) -> String {
    format!("<outline text=\"{name}\">\n{inside}</outline>\n")
}

fn list(outlines: &str) -> Reply {
    text(format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<opml version=\"2.0\"><head><title>Subscriptions</title></head>\n\
         <body>\n{outlines}</body></opml>\n"
    ))
}

fn text(text: String) -> Reply {
    Reply::new("text/x-opml; charset=utf-8", text)
}
