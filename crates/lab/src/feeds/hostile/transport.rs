//! Documents that do not arrive: redirects, cut and endless bodies, wrong lengths.

use std::time::Duration;

use axum::body::Bytes;

use super::{Answer, Place, RSS, feed_with, item};
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

pub(super) fn answer(name: &str, place: &Place<'_>) -> Option<Answer> {
    Some(Answer::Reply(match name {
        "redirect-loop" => place.redirect(302, "redirect-loop"),
        "redirect-ping" => place.redirect(301, "redirect-pong"),
        "redirect-pong" => place.redirect(301, "redirect-ping"),
        "redirect-nowhere" => Reply::status(301, "moved\n"),
        "redirect-garbage" => Reply::redirect(301, "http://[not an address"),
        "redirect-login" => place.redirect(302, "login.html"),
        "redirect-relative" => Reply::redirect(307, "plain.xml"),
        "cut-mid-body.xml" => small().sent(reply::cut_in_half),
        "cut.xml" => return Some(Answer::Cut),
        "hang.xml" => return Some(Answer::Hang),
        "slow-loris.xml" => small().sent(|bytes| reply::drip(bytes, Duration::from_secs(1))),
        "endless.xml" => {
            let blank = Bytes::from(vec![b' '; 16 * 1024]);
            let begin = Bytes::from("<rss><!--");
            Reply::pieces(RSS, std::iter::once(begin).chain(std::iter::repeat(blank)))
        }
        "length-too-long.xml" => claiming(text().len() + 1000),
        "length-too-short.xml" => claiming(text().len() / 2),
        "not-modified.xml" => Reply::status(304, ""),
        "no-content.xml" => Reply::status(204, ""),
        "limited-seconds.xml" => limited(429, "1800"),
        "limited-date.xml" => {
            let at = place.now + jiff::SignedDuration::from_mins(30);
            limited(503, &http_date(at))
        }
        "limited-garbage.xml" => limited(429, "soon"),
        "limited-absurd.xml" => limited(429, "999999999"),
        "long-headers.xml" => {
            let begin = small();
            (0..500).fold(begin, |reply, _| reply.with("x-noise", "n".repeat(100)))
        }
        _ => return None,
    }))
}

/// Names with a number or a target in them.
pub(super) fn numbered(name: &str, place: &Place<'_>) -> Option<Reply> {
    let (kind, which) = name.split_once('/')?;
    match kind {
        "hops" => match which.parse::<u32>().ok()? {
            0 => Some(small()),
            more => Some(place.redirect(302, &format!("hops/{}", more - 1))),
        },
        "redirect-forever" => {
            let next = which.parse::<u64>().ok()?.wrapping_add(1);
            Some(place.redirect(302, &format!("redirect-forever/{next}")))
        }
        "redirect-private" => {
            let (_, target) = PRIVATE.iter().find(|(name, _)| *name == which)?;
            Some(Reply::redirect(302, target))
        }
        _ => None,
    }
}

impl Place<'_> {
    /// To another hostile document.
    fn redirect(&self, status: u16, name: &str) -> Reply {
        Reply::redirect(status, &format!("{}/hostile/{name}", self.base_url))
    }
}

fn text() -> String {
    feed_with(&(0..20).map(item).collect::<String>())
}

fn small() -> Reply {
    Reply::new(RSS, text())
}

/// The same with a false length.
fn claiming(length: usize) -> Reply {
    let reply = Reply::pieces(RSS, std::iter::once(text()));
    reply.with("content-length", length.to_string())
}

fn limited(status: u16, retry_after: &str) -> Reply {
    let reply = Reply::status(status, "slow down\n");
    reply.with("retry-after", retry_after)
}
