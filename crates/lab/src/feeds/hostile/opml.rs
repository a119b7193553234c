//! Lists of subscriptions as people export and edit them.

use super::{Answer, Hostile, Place, laugh_entities};
use crate::reply::Reply;

/// How deep `opml/deep.opml` nests its folders.
pub(super) const DEPTH: usize = 10_000;
/// How many feeds `opml/many.opml` lists.
pub(super) const MANY: usize = 50_000;

pub(super) const ALL: &[Hostile] = &[
    Hostile::new(
        "opml/nested.opml",
        "folders in folders, three feeds",
        |place| {
            let inner = folder(
                "Mornings",
                &format!("{}{}", outline(place, 1), outline(place, 2)),
            );
            let middle = folder("News &amp; more", &inner);
            list(&format!("{}{}", folder("All", &middle), outline(place, 3)))
        },
    ),
    Hostile::new(
        "opml/broken.opml",
        "one good feed among nine bad entries",
        broken,
    ),
    Hostile::new(
        "opml/duplicates.opml",
        "one feed five times, in two spellings",
        |place| {
            let same = outline(place, 1).repeat(4);
            list(&format!(
                "{same}{}",
                outline(place, 1).replace("http://", "HTTP://")
            ))
        },
    ),
    Hostile::new(
        "opml/no-head.opml",
        "no head, no titles, odd attribute case",
        |place| {
            let url = url(place, 1);
            text(format!(
                "<opml version=\"1.0\"><body><outline XMLURL=\"{url}\"/><outline xmlUrl='{url}?b'></outline></body></opml>"
            ))
        },
    ),
    Hostile::new(
        "opml/truncated.opml",
        "ends in the middle of an entry",
        |place| {
            let whole = format!(
                "<opml version=\"2.0\"><body>{}{}",
                outline(place, 1),
                outline(place, 2)
            );
            let end = whole.len().saturating_sub(12);
            text(whole.get(..end).unwrap_or_default().to_owned())
        },
    ),
    Hostile::new("opml/empty.opml", "no entry at all", |_| list("")),
    Hostile::new("opml/empty-file.opml", "no byte at all", |_| {
        text(String::new())
    }),
    Hostile::new("opml/not-opml.opml", "a page", |_| {
        text("<!doctype html><html><body><p>Export failed</body></html>".to_owned())
    }),
    Hostile::new(
        "opml/deep.opml",
        "10,000 folders inside each other",
        |place| {
            let open = "<outline text=\"f\">".repeat(DEPTH);
            list(&format!(
                "{open}{}{}",
                outline(place, 1),
                "</outline>".repeat(DEPTH)
            ))
        },
    ),
    Hostile::new("opml/entity-bomb.opml", "a billion laughs", |_| {
        let entities = laugh_entities();
        text(format!(
            "<!DOCTYPE opml [{entities}]><opml version=\"2.0\"><body><outline text=\"&l9;\" xmlUrl=\"http://feeds.example/&l9;\"/></body></opml>"
        ))
    }),
    Hostile::new("opml/many.opml", "50,000 feeds", |place| {
        list(
            &(0..MANY)
                .map(|number| outline(place, number))
                .collect::<String>(),
        )
    }),
];

fn broken(place: &Place<'_>) -> Answer {
    let bad = "<outline text=\"no address\"/>\n<outline text=\"empty\" type=\"rss\" xmlUrl=\"\"/>\n\
        <outline text=\"no scheme\" type=\"rss\" xmlUrl=\"feeds.example/rss\"/>\n\
        <outline text=\"script\" type=\"rss\" xmlUrl=\"javascript:alert(1)\"/>\n\
        <outline text=\"file\" type=\"rss\" xmlUrl=\"file:///etc/passwd\"/>\n\
        <outline text=\"spaces\" type=\"rss\" xmlUrl=\"http://a b/c d\"/>\n\
        <outline text=\"private\" type=\"rss\" xmlUrl=\"http://169.254.169.254/\"/>\n\
        <outline text=\"only a site\" type=\"rss\" htmlUrl=\"http://feeds.example/\"/>\n\
        <outline text=\"a link\" type=\"link\" url=\"http://feeds.example/page\"/>\n";
    list(&format!("{bad}{}", outline(place, 1)))
}

fn url(place: &Place<'_>, number: usize) -> String {
    format!("{}/hostile/hops/0?feed={number}", place.base_url)
}

fn outline(place: &Place<'_>, number: usize) -> String {
    let url = url(place, number);
    format!("<outline text=\"Feed {number}\" type=\"rss\" xmlUrl=\"{url}\"/>\n")
}

fn folder(name: &str, inside: &str) -> String {
    format!("<outline text=\"{name}\">\n{inside}</outline>\n")
}

fn list(outlines: &str) -> Answer {
    text(format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<opml version=\"2.0\"><head><title>Subscriptions</title></head>\n\
         <body>\n{outlines}</body></opml>\n"
    ))
}

fn text(text: String) -> Answer {
    Answer::Reply(Reply::new("text/x-opml; charset=utf-8", text))
}
