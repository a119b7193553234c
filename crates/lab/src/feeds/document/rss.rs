//! The RSS family: 2.0, 1.0 and 0.91.

use std::fmt::Write as _;

use super::{declaration, escape, rfc_2822, rfc_3339};
use crate::feeds::feed::{Entry, Feed, Ids};

/// RSS 2.0, with whatever the feed says about being looked at.
pub(super) fn rss2(feed: &Feed, entries: &[Entry], base_url: &str) -> String {
    let mut text = declaration(feed);
    text.push_str(
        "<rss version=\"2.0\" xmlns:sy=\"http://purl.org/rss/1.0/modules/syndication/\">\n<channel>\n",
    );
    push_channel(&mut text, feed, base_url);
    push_hints(&mut text, feed);
    for entry in entries {
        push_item(&mut text, feed, entry);
    }
    text.push_str("</channel>\n</rss>\n");
    text
}

fn push_channel(text: &mut String, feed: &Feed, base_url: &str) {
    let (title, number, language) = (escape(&feed.title()), feed.number, feed.language.tag());
    let _ = write!(
        text,
        "<title>{title}</title>\n<link>{base_url}/feeds/{number}/</link>\n\
         <description>{title}</description>\n<language>{language}</language>\n"
    );
}

fn push_hints(text: &mut String, feed: &Feed) {
    let hints = &feed.hints;
    if let Some(ttl) = hints.ttl_min {
        let _ = writeln!(text, "<ttl>{ttl}</ttl>");
    }
    if let Some(period) = hints.update_period {
        let _ = write!(
            text,
            "<sy:updatePeriod>{period}</sy:updatePeriod>\n<sy:updateFrequency>1</sy:updateFrequency>\n"
        );
    }
    if !hints.skip_hours.is_empty() {
        text.push_str("<skipHours>");
        for hour in &hints.skip_hours {
            let _ = write!(text, "<hour>{hour}</hour>");
        }
        text.push_str("</skipHours>\n");
    }
    if !hints.skip_days.is_empty() {
        text.push_str("<skipDays>");
        for day in &hints.skip_days {
            let _ = write!(text, "<day>{day}</day>");
        }
        text.push_str("</skipDays>\n");
    }
}

fn push_item(text: &mut String, feed: &Feed, entry: &Entry) {
    let date = rfc_2822(entry.published_at, feed.offset(entry.published_at));
    let (title, link) = (escape(&entry.title), escape(&entry.link));
    let _ = writeln!(text, "<item>\n<title>{title}</title>\n<link>{link}</link>");
    if let Some(id) = &entry.id {
        let permanent = feed.ids == Ids::Link;
        let _ = writeln!(
            text,
            "<guid isPermaLink=\"{permanent}\">{}</guid>",
            escape(id)
        );
    }
    // Half the generators wrap HTML in CDATA, the others escape it.
    let summary = if feed.number.is_multiple_of(2) {
        format!("<![CDATA[{}]]>", entry.summary)
    } else {
        escape(&entry.summary)
    };
    let _ = write!(
        text,
        "<pubDate>{date}</pubDate>\n<description>{summary}</description>\n</item>\n"
    );
}

/// RSS 1.0: items beside the channel, dates by Dublin Core.
pub(super) fn rss1(feed: &Feed, entries: &[Entry], base_url: &str) -> String {
    let mut text = declaration(feed);
    let _ = write!(
        text,
        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" \
         xmlns=\"http://purl.org/rss/1.0/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
         xmlns:sy=\"http://purl.org/rss/1.0/modules/syndication/\">\n\
         <channel rdf:about=\"{base_url}/feeds/{}/rdf.xml\">\n",
        feed.number
    );
    let (title, number) = (escape(&feed.title()), feed.number);
    let _ = write!(
        text,
        "<title>{title}</title>\n<link>{base_url}/feeds/{number}/</link>\n<description>{title}</description>\n"
    );
    if let Some(period) = feed.hints.update_period {
        let _ = writeln!(text, "<sy:updatePeriod>{period}</sy:updatePeriod>");
    }
    text.push_str("<items><rdf:Seq>\n");
    for entry in entries {
        let _ = writeln!(text, "<rdf:li rdf:resource=\"{}\"/>", escape(&entry.link));
    }
    text.push_str("</rdf:Seq></items>\n</channel>\n");
    for entry in entries {
        let date = rfc_3339(entry.published_at, feed.offset(entry.published_at));
        let (title, link) = (escape(&entry.title), escape(&entry.link));
        let summary = escape(&entry.summary);
        let _ = write!(
            text,
            "<item rdf:about=\"{link}\">\n<title>{title}</title>\n<link>{link}</link>\n\
             <dc:date>{date}</dc:date>\n<description>{summary}</description>\n</item>\n"
        );
    }
    text.push_str("</rdf:RDF>\n");
    text
}

/// RSS 0.91: title, link and description, nothing else.
pub(super) fn rss091(feed: &Feed, entries: &[Entry], base_url: &str) -> String {
    let mut text = declaration(feed);
    text.push_str("<rss version=\"0.91\">\n<channel>\n");
    push_channel(&mut text, feed, base_url);
    for entry in entries {
        let (title, link) = (escape(&entry.title), escape(&entry.link));
        let summary = escape(&entry.summary);
        let _ = write!(
            text,
            "<item>\n<title>{title}</title>\n<link>{link}</link>\n\
             <description>{summary}</description>\n</item>\n"
        );
    }
    text.push_str("</channel>\n</rss>\n");
    text
}
