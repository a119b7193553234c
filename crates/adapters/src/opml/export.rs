//! Writing OPML.

use std::{collections::BTreeMap, fmt::Write};

use almanack_core::source::category;
use jiff::{Timestamp, fmt::rfc2822};
use quick_xml::escape::escape;

use super::{DEPTH_MAX, Subscription};

/// A folder: its folders by name, and its feeds as given.
#[derive(Default)]
struct Folder<'a> {
    folders: BTreeMap<String, Folder<'a>>,
    feeds: Vec<&'a Subscription>,
}

/// A file with these feeds in their folders.
pub fn export(title: &str, subscriptions: &[Subscription], now: Timestamp) -> String {
    let mut top = Folder::default();
    for subscription in subscriptions {
        let mut folder = &mut top;
        let path = category::folders(&subscription.category);
        // Two elements are around every outline, and one is the feed itself.
        for name in path.into_iter().take(DEPTH_MAX - 3) {
            folder = folder.folders.entry(name).or_default();
        }
        folder.feeds.push(subscription);
    }
    let created = rfc2822::to_string(&now.to_zoned(jiff::tz::TimeZone::UTC)).unwrap_or_default();
    let mut opml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\">\n  <head>\n    <title>{}</title>\n    <dateCreated>{created}</dateCreated>\n  </head>\n  <body>\n",
        escape(title)
    );
    write_folder(&mut opml, &top, 2);
    opml.push_str("  </body>\n</opml>\n");
    opml
}

/// Recursion ends with the path, which has a limit.
fn write_folder(opml: &mut String, folder: &Folder<'_>, depth: usize) {
    let indent = "  ".repeat(depth);
    for (name, inner) in &folder.folders {
        let name = escape(name.as_str());
        // Writing to a string cannot fail.
        let _ = writeln!(opml, "{indent}<outline text=\"{name}\" title=\"{name}\">");
        write_folder(opml, inner, depth + 1);
        let _ = writeln!(opml, "{indent}</outline>");
    }
    for feed in &folder.feeds {
        let title = escape(feed.title.as_str());
        let address = escape(feed.address.as_str());
        let site = feed.site.as_deref().map(escape);
        let site = site.map(|site| format!(" htmlUrl=\"{site}\""));
        let site = site.unwrap_or_default();
        let _ = writeln!(
            opml,
            "{indent}<outline type=\"rss\" text=\"{title}\" title=\"{title}\" xmlUrl=\"{address}\"{site}/>"
        );
    }
}
