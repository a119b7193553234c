//! Documents that do not arrive: redirects, cut and endless bodies, wrong lengths.

use std::time::Duration;

use axum::body::Bytes;

use super::{Answer, Hostile, Place, RSS, feed_with, item};
use crate::reply::{self, Reply, http_date};

/// Addresses that a redirect must not lead to.
pub(super) const PRIVATE: &[(&str, &str)] = &[
    ("metadata", "http://169.254.169.254/latest/meta-data/"),
    ("ten", "http://10.0.0.1/"),
    ("home", "http://192.168.1.1/"),
    ("middle", "http://172.16.0.1/"),
    ("carrier", "http://100.64.0.1/"),
    ("any", "http://0.0.0.0/"),
    ("broadcast", "http://255.255.255.255/"),
    ("loopback-6", "http://[::1]/"),
    ("mapped", "http://[::ffff:169.254.169.254]/"),
    ("unique-local", "http://[fd00::1]/"),
    ("link-local-6", "http://[fe80::1]/"),
    ("nat64", "http://[64:ff9b::a9fe:a9fe]/"),
    ("decimal", "http://2852039166/"),
    ("octal", "http://0251.0376.0251.0376/"),
    ("hexadecimal", "http://0xa9fea9fe/"),
    ("user", "http://feeds.example@169.254.169.254/"),
    ("ssh", "http://feeds.example:22/"),
    ("file", "file:///etc/passwd"),
    ("ftp", "ftp://feeds.example/feed.xml"),
    ("gopher", "gopher://feeds.example/"),
    ("data", "data:application/rss+xml,<rss/>"),
    ("no-such-host", "http://no-such-host.invalid/feed.xml"),
];

pub(super) const ALL: &[Hostile] = &[
    Hostile::new("redirect-loop", "leads to itself", |place| {
        redirect(302, &format!("{}/hostile/redirect-loop", place.base_url))
    }),
    Hostile::new(
        "redirect-ping",
        "leads to redirect-pong, and back",
        |place| redirect(301, &format!("{}/hostile/redirect-pong", place.base_url)),
    ),
    Hostile::new(
        "redirect-pong",
        "leads to redirect-ping, and back",
        |place| redirect(301, &format!("{}/hostile/redirect-ping", place.base_url)),
    ),
    Hostile::new("redirect-nowhere", "301 without a location", |_| {
        Answer::Reply(Reply::status(301, "moved\n"))
    }),
    Hostile::new(
        "redirect-garbage",
        "301 to something that is no address",
        |_| redirect(301, "http://[not an address"),
    ),
    Hostile::new("redirect-login", "302 to a login page", |place| {
        redirect(302, &format!("{}/hostile/login.html", place.base_url))
    }),
    Hostile::new(
        "redirect-relative",
        "307 to a feed, by a relative address",
        |_| redirect(307, "plain.xml"),
    ),
    Hostile::new("cut-mid-body.xml", "the connection closes half way", |_| {
        Answer::Reply(small().sent(reply::cut_in_half))
    }),
    Hostile::new(
        "cut.xml",
        "the connection closes before the first byte",
        |_| Answer::Cut,
    ),
    Hostile::new("hang.xml", "no answer, ever", |_| Answer::Hang),
    Hostile::new("slow-loris.xml", "a byte a second", |_| {
        Answer::Reply(small().sent(|bytes| reply::drip(bytes, Duration::from_secs(1))))
    }),
    Hostile::new("endless.xml", "a comment that never ends", |_| {
        let blank = Bytes::from(vec![b' '; 16 * 1024]);
        let begin = Bytes::from("<rss><!--");
        let pieces = std::iter::once(begin).chain(std::iter::repeat(blank));
        Answer::Reply(Reply::pieces(RSS, pieces.map(reply::Piece::Bytes)))
    }),
    Hostile::new(
        "length-too-long.xml",
        "Content-Length promises more than comes",
        |_| {
            let length = text().len() + 1000;
            let reply = small().sent(at_once);
            Answer::Reply(reply.with("content-length", length.to_string()))
        },
    ),
    Hostile::new(
        "length-too-short.xml",
        "Content-Length ends in an entry",
        |_| {
            let length = text().len() / 2;
            let reply = small().sent(at_once);
            Answer::Reply(reply.with("content-length", length.to_string()))
        },
    ),
    Hostile::new("not-modified.xml", "304 to whoever never was here", |_| {
        Answer::Reply(Reply::status(304, ""))
    }),
    Hostile::new("no-content.xml", "204", |_| {
        Answer::Reply(Reply::status(204, ""))
    }),
    Hostile::new("limited-seconds.xml", "429, Retry-After in seconds", |_| {
        limited(429, "1800")
    }),
    Hostile::new("limited-date.xml", "503, Retry-After as a date", |place| {
        let at = place.now + jiff::SignedDuration::from_mins(30);
        limited(503, &http_date(at))
    }),
    Hostile::new(
        "limited-garbage.xml",
        "429, Retry-After without meaning",
        |_| limited(429, "soon"),
    ),
    Hostile::new(
        "limited-absurd.xml",
        "429, Retry-After in thirty years",
        |_| limited(429, "999999999"),
    ),
    Hostile::new("long-headers.xml", "500 headers", |_| {
        let begin = small();
        Answer::Reply((0..500).fold(begin, |reply, _| reply.with("x-noise", "n".repeat(100))))
    }),
];

/// Names with a number or a target in them.
pub(super) fn numbered(name: &str, place: &Place<'_>) -> Option<Answer> {
    let base = place.base_url;
    let (kind, which) = name.split_once('/')?;
    match kind {
        "hops" => match which.parse::<u32>().ok()? {
            0 => Some(Answer::Reply(small())),
            more => Some(redirect(302, &format!("{base}/hostile/hops/{}", more - 1))),
        },
        "redirect-forever" => {
            let next = which.parse::<u64>().ok()?.wrapping_add(1);
            Some(redirect(
                302,
                &format!("{base}/hostile/redirect-forever/{next}"),
            ))
        }
        "redirect-private" => {
            let (_, target) = PRIVATE.iter().find(|(name, _)| *name == which)?;
            Some(redirect(302, target))
        }
        _ => None,
    }
}

fn text() -> String {
    feed_with(&(0..20).map(item).collect::<String>())
}

fn small() -> Reply {
    Reply::new(RSS, text())
}

fn at_once(bytes: Bytes) -> reply::Pieces {
    Box::new(std::iter::once(reply::Piece::Bytes(bytes)))
}

fn redirect(status: u16, to: &str) -> Answer {
    Answer::Reply(Reply::redirect(status, to))
}

fn limited(status: u16, retry_after: &str) -> Answer {
    let reply = Reply::status(status, "slow down\n");
    Answer::Reply(reply.with("retry-after", retry_after))
}
