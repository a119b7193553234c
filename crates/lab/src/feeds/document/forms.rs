//! The formats: the RSS family, Atom, sitemaps, JSON, and pages for people.

use serde_json::{Value, json};

use super::{escape, rfc_2822, rfc_3339};
use crate::feeds::feed::{Declared, Entry, Feed, Ids};

/// What markup shows of an entry: title, link, summary, and when it was published, as
/// `2026-01-05T16:00:00+08:00`.
type Shown<'a> = [&'a str; 4];

/// Head, entries and tail in one text.
fn whole(
    feed: &Feed,
    head: String,
    entries: &[Entry],
    show: impl Fn(&Entry, Shown<'_>) -> String,
    tail: &str,
) -> String {
    let items = entries.iter().map(|entry| {
        let [title, link, summary] =
            [&entry.title, &entry.link, &entry.summary].map(|it| escape(it));
        let at = rfc_3339(entry.published_at, feed.offset(entry.published_at));
        show(entry, [&title, &link, &summary, &at])
    });
    let items: String = items.collect();
    head + &items + tail
}

/// The XML declaration, with the charset if the feed declares it inside.
fn declaration(feed: &Feed) -> String {
    let charset = match feed.declared {
        Declared::Header => String::new(),
        _ => format!(" encoding=\"{}\"", feed.charset.name()),
    };
    format!("<?xml version=\"1.0\"{charset}?>\n")
}

/// RSS 2.0, with the feed's polling hints.
pub(super) fn rss2(feed: &Feed, entries: &[Entry], base_url: &str) -> String {
    let head = format!(
        "{}<rss version=\"2.0\" xmlns:sy=\"http://purl.org/rss/1.0/modules/syndication/\">\n\
         <channel>\n{}{}",
        declaration(feed),
        channel(feed, base_url),
        hints(feed)
    );
    let show = |entry: &Entry, [title, link, summary, _]: Shown<'_>| {
        let permanent = feed.ids == Ids::Link;
        let guid = entry.id.as_ref().map_or_else(String::new, |id| {
            format!("<guid isPermaLink=\"{permanent}\">{}</guid>\n", escape(id))
        });
        // Half the generators wrap HTML in CDATA, the others escape it.
        let summary = match feed.number % 2 {
            0 => format!("<![CDATA[{}]]>", entry.summary),
            _ => summary.to_owned(),
        };
        format!(
            "<item>\n<title>{title}</title>\n<link>{link}</link>\n{guid}<pubDate>{}</pubDate>\n\
             <description>{summary}</description>\n</item>\n",
            rfc_2822(entry.published_at, feed.offset(entry.published_at))
        )
    };
    whole(feed, head, entries, show, "</channel>\n</rss>\n")
}

fn channel(feed: &Feed, base_url: &str) -> String {
    let (title, number, language) = (escape(&feed.title()), feed.number, feed.language.tag());
    format!(
        "<title>{title}</title>\n<link>{base_url}/feeds/{number}/</link>\n\
         <description>{title}</description>\n<language>{language}</language>\n"
    )
}

fn hints(feed: &Feed) -> String {
    let hints = &feed.hints;
    let list = |name: &str, of: &str, all: Vec<String>| {
        let all = all.join(&format!("</{of}><{of}>"));
        let list = format!("<{name}><{of}>{all}</{of}></{name}>\n");
        if all.is_empty() { String::new() } else { list }
    };
    let ttl = hints.ttl_min.map(|ttl| format!("<ttl>{ttl}</ttl>\n"));
    let period = hints.update_period.map(|period| {
        format!(
            "<sy:updatePeriod>{period}</sy:updatePeriod>\n\
             <sy:updateFrequency>1</sy:updateFrequency>\n"
        )
    });
    let hours = hints.skip_hours.iter().map(ToString::to_string).collect();
    let days = hints.skip_days.iter().map(ToString::to_string).collect();
    let skipped = [
        list("skipHours", "hour", hours),
        list("skipDays", "day", days),
    ];
    ttl.into_iter().chain(period).chain(skipped).collect()
}

/// RSS 1.0: items beside the channel, dates by Dublin Core.
pub(super) fn rss1(feed: &Feed, entries: &[Entry], base_url: &str) -> String {
    let (title, number) = (escape(&feed.title()), feed.number);
    let period = feed.hints.update_period.map_or_else(String::new, |period| {
        format!("<sy:updatePeriod>{period}</sy:updatePeriod>\n")
    });
    let listed = entries
        .iter()
        .map(|entry| format!("<rdf:li rdf:resource=\"{}\"/>\n", escape(&entry.link)));
    let head = format!(
        "{}<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" \
         xmlns=\"http://purl.org/rss/1.0/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
         xmlns:sy=\"http://purl.org/rss/1.0/modules/syndication/\">\n\
         <channel rdf:about=\"{base_url}/feeds/{number}/rdf.xml\">\n\
         <title>{title}</title>\n<link>{base_url}/feeds/{number}/</link>\n\
         <description>{title}</description>\n{period}<items><rdf:Seq>\n{}</rdf:Seq></items>\n\
         </channel>\n",
        declaration(feed),
        listed.collect::<String>()
    );
    let show = |_: &Entry, [title, link, summary, at]: Shown<'_>| {
        format!(
            "<item rdf:about=\"{link}\">\n<title>{title}</title>\n<link>{link}</link>\n\
             <dc:date>{at}</dc:date>\n<description>{summary}</description>\n</item>\n"
        )
    };
    whole(feed, head, entries, show, "</rdf:RDF>\n")
}

/// RSS 0.91: title, link and description, nothing else.
pub(super) fn rss091(feed: &Feed, entries: &[Entry], base_url: &str) -> String {
    let (declared, channel) = (declaration(feed), channel(feed, base_url));
    let head = format!("{declared}<rss version=\"0.91\">\n<channel>\n{channel}");
    let show = |_: &Entry, [title, link, summary, _]: Shown<'_>| {
        format!(
            "<item>\n<title>{title}</title>\n<link>{link}</link>\n\
             <description>{summary}</description>\n</item>\n"
        )
    };
    whole(feed, head, entries, show, "</channel>\n</rss>\n")
}

/// Atom. Ids are required, so a feed without them uses its links, trackers and all.
pub(super) fn atom(feed: &Feed, entries: &[Entry], base_url: &str) -> String {
    let number = feed.number;
    let updated = entries.first().map_or_else(String::new, |entry| {
        rfc_3339(entry.published_at, feed.offset(entry.published_at))
    });
    let head = format!(
        "{}<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{}\">\n<title>{}</title>\n\
         <id>{base_url}/feeds/{number}/</id>\n<updated>{updated}</updated>\n\
         <link rel=\"alternate\" href=\"{base_url}/feeds/{number}/\"/>\n\
         <link rel=\"self\" href=\"{base_url}/feeds/{number}/atom.xml\"/>\n\
         <author><name>Feed {number}</name></author>\n",
        declaration(feed),
        feed.language.tag(),
        escape(&feed.title()),
    );
    let show = |entry: &Entry, [title, link, summary, at]: Shown<'_>| {
        let id = entry.id.as_deref().map_or_else(|| link.to_owned(), escape);
        format!(
            "<entry>\n<title>{title}</title>\n<id>{id}</id>\n<link href=\"{link}\"/>\n\
             <published>{at}</published>\n<updated>{at}</updated>\n\
             <summary type=\"html\">{summary}</summary>\n</entry>\n"
        )
    };
    whole(feed, head, entries, show, "</feed>\n")
}

/// A sitemap with Google's news extension, which is the one that carries titles.
pub(super) fn sitemap(feed: &Feed, entries: &[Entry]) -> String {
    let head = format!(
        "{}<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\">\n",
        declaration(feed)
    );
    let (name, language) = (escape(&feed.title()), feed.language.tag());
    let show = |_: &Entry, [title, link, _, at]: Shown<'_>| {
        format!(
            "<url><loc>{link}</loc><lastmod>{at}</lastmod><news:news><news:publication>\
             <news:name>{name}</news:name><news:language>{language}</news:language></news:publication>\
             <news:publication_date>{at}</news:publication_date><news:title>{title}</news:title>\
             </news:news></url>\n"
        )
    };
    whole(feed, head, entries, show, "</urlset>\n")
}

/// A list for people; links are relative, as on most sites.
pub(super) fn page(feed: &Feed, entries: &[Entry]) -> String {
    let charset = match feed.declared {
        Declared::Header => String::new(),
        _ => format!("<meta charset=\"{}\">", feed.charset.name()),
    };
    let head = format!(
        "<!doctype html>\n<html lang=\"{}\"><head>{charset}<title>{}</title></head>\n<body>\n\
         <nav><a href=\"/\">Home</a></nav>\n<ul class=\"posts\">\n",
        feed.language.tag(),
        escape(&feed.title()),
    );
    let show = |entry: &Entry, [title, _, _, at]: Shown<'_>| {
        format!(
            "<li class=\"post\"><a class=\"title\" href=\"/feeds/{}/entries/{}\">{title}</a> \
             <time datetime=\"{at}\">{}</time>\n<p class=\"summary\">{}</p></li>\n",
            feed.number,
            entry.key,
            at.get(..10).unwrap_or_default(),
            // A paragraph holds no paragraphs.
            entry.summary.replace("<p>", "").replace("</p>", " "),
        )
    };
    whole(feed, head, entries, show, "</ul>\n</body></html>\n")
}

/// JSON Feed 1.1. Ids are required, so a feed without them uses its links.
pub(super) fn json_feed(feed: &Feed, entries: &[Entry], base_url: &str) -> String {
    let number = feed.number;
    let item = |entry: &Entry| {
        json!({
            "id": entry.id.as_ref().unwrap_or(&entry.link),
            "url": entry.link,
            "title": entry.title,
            "content_html": entry.summary,
            "date_published": rfc_3339(entry.published_at, feed.offset(entry.published_at)),
        })
    };
    json!({
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title(),
        "language": feed.language.tag(),
        "home_page_url": format!("{base_url}/feeds/{number}/"),
        "feed_url": format!("{base_url}/feeds/{number}/feed.json"),
        "items": entries.iter().map(item).collect::<Vec<Value>>(),
    })
    .to_string()
}

/// A non-standard API. Half of these show the time as text, the others as seconds.
pub(super) fn api(feed: &Feed, entries: &[Entry]) -> String {
    let item = |entry: &Entry| {
        let at = entry.published_at;
        let published_at = match feed.number % 2 {
            0 => json!(rfc_3339(at, feed.offset(at))),
            _ => json!(at.as_second()),
        };
        json!({
            "id": entry.key,
            "title": entry.title,
            "url": entry.link,
            "published_at": published_at,
            "summary": entry.summary,
        })
    };
    let items: Vec<Value> = entries.iter().map(item).collect();
    json!({ "status": "ok", "data": { "count": items.len(), "items": items } }).to_string()
}

/// The page of a site or of one feed: what a person sees, and where a program discovers the feeds;
/// always UTF-8.
pub fn front_page(feeds: &[Feed], base_url: &str) -> String {
    let link = |feed: &Feed| {
        let (title, number) = (escape(&feed.title()), feed.number);
        let (media_type, file) = (feed.document.media_type(), feed.document.file_name());
        format!(
            "<link rel=\"alternate\" type=\"{media_type}\" title=\"{title}\" \
             href=\"/feeds/{number}/{file}\">\n"
        )
    };
    let row = |feed: &Feed| {
        let (title, number) = (escape(&feed.title()), feed.number);
        format!("<li><a href=\"/feeds/{number}/\">{title}</a></li>\n")
    };
    let discovered = feeds.iter().filter(|feed| feed.document.is_feed());
    let links: String = discovered.map(link).collect();
    let rows: String = feeds.iter().map(row).collect();
    format!(
        "<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>{base_url}</title>\n{links}</head>\n\
         <body><h1>{base_url}</h1>\n<ul>\n{rows}</ul></body></html>\n"
    )
}

/// The page of one entry; always UTF-8.
pub fn entry_page(feed: &Feed, entry: &Entry) -> String {
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
