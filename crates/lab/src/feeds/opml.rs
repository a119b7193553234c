//! The list of all feeds, written while it is sent: a hundred thousand of them are 15 MB.

use std::{fmt::Write as _, ops::Range};

use super::{document::escape, fleet::Fleet};

/// Feeds to a folder.
const FOLDER: usize = 1000;

/// OPML of the feeds of a range, in folders. What is not a feed is left out: a list of
/// subscriptions cannot contain selectors.
pub(super) fn write(
    fleet: Fleet,
    numbers: Range<u32>,
    port: u16,
) -> impl Iterator<Item = String> + Send + 'static {
    let until = numbers.end;
    let folders = numbers
        .step_by(FOLDER)
        .map(move |first| folder(&fleet, first..until.min(first.saturating_add(1000)), port));
    let head = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<opml version=\"2.0\"><head><title>All feeds</title></head>\n<body>\n";
    std::iter::once(head.to_owned())
        .chain(folders)
        .chain(["</body></opml>\n".to_owned()])
}

fn folder(fleet: &Fleet, numbers: Range<u32>, port: u16) -> String {
    let last = numbers.end.saturating_sub(1);
    let mut text = format!("<outline text=\"Feeds {} to {last}\">\n", numbers.start);
    for number in numbers {
        let feed = fleet.feed(number).filter(|feed| feed.document.is_feed());
        let Some(feed) = feed else {
            continue;
        };
        let (title, base_url) = (escape(&feed.title()), fleet.base_url(number, port));
        let _ = writeln!(
            text,
            "<outline text=\"{title}\" type=\"rss\" xmlUrl=\"{}\" htmlUrl=\"{base_url}/feeds/{number}/\"/>",
            fleet.feed_url(number, port),
        );
    }
    text.push_str("</outline>\n");
    text
}
