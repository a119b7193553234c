//! What pages say that are shown instead of an article.
//!
//! Certain signs are phrases that occur in an article only in quotes; doubtful ones occur in many.
//! All in lower case, with straight apostrophes.

/// Longest quote that is recognised as one.
const QUOTE_BYTES_MAX: usize = 200;

/// How much a sign counts.
enum Weight {
    /// Only block pages contain it.
    Certain,
    /// Articles contain it, too.
    Doubtful,
}

use Weight::{Certain, Doubtful};

const SIGNS: &[(&str, Weight)] = &[
    // Bot checks.
    ("verify you are human", Certain),
    ("verify that you are human", Certain),
    ("verifying you are human", Certain),
    ("verifying your browser", Certain),
    ("checking your browser", Certain),
    ("checking if the site connection is secure", Certain),
    ("needs to review the security of your connection", Certain),
    ("confirm you are human", Certain),
    ("confirm you are a human", Certain),
    ("confirm that you are not a robot", Certain),
    ("let us know you're not a robot", Certain),
    ("making sure you're not a bot", Certain),
    ("not a robot", Doubtful),
    ("are you a robot", Doubtful),
    ("press & hold", Doubtful),
    ("unusual traffic from your computer", Certain),
    ("unusual activity from your computer", Certain),
    ("unusual traffic", Doubtful),
    ("complete the captcha", Doubtful),
    ("captcha", Doubtful),
    ("just a moment...", Doubtful),
    ("ray id:", Doubtful),
    ("performance & security by cloudflare", Certain),
    ("has set up anubis", Certain),
    ("why am i seeing this", Doubtful),
    ("why did this happen", Doubtful),
    ("block reference id", Certain),
    // What runs in browsers only.
    ("enable javascript and cookies to continue", Certain),
    ("enable js and disable any ad blocker", Certain),
    ("javascript is disabled in this browser", Certain),
    ("javascript is disabled in your browser", Certain),
    ("please enable javascript", Certain),
    ("you need to enable javascript", Certain),
    ("must enable javascript", Certain),
    ("requires javascript", Doubtful),
    ("enable javascript", Doubtful),
    ("javascript is not available", Doubtful),
    ("supported browser", Doubtful),
    ("supports javascript and cookies", Doubtful),
    ("disable your ad blocker", Doubtful),
    ("请启用javascript", Certain),
    ("请开启javascript", Certain),
    // Refusals.
    ("you have been blocked", Certain),
    ("why have i been blocked", Certain),
    ("triggered the security solution", Certain),
    ("is using a security service to protect itself", Certain),
    ("you've been blocked", Certain),
    ("you don't have permission to access", Certain),
    ("you do not have permission to access", Certain),
    ("your access to this site has been limited", Certain),
    ("your request has been blocked", Certain),
    ("your ip address has been", Doubtful),
    ("access denied", Doubtful),
    ("access to this page has been denied", Certain),
    ("403 forbidden", Doubtful),
    ("reference #", Doubtful),
    ("not available in your region", Doubtful),
    ("not available in your country", Doubtful),
    ("访问受限", Doubtful),
    ("安全验证", Doubtful),
    ("拖动滑块", Certain),
    // Logins and payments.
    ("you must log in to continue", Certain),
    ("you must be logged in", Certain),
    ("please log in to continue", Certain),
    ("please sign in to continue", Certain),
    ("log in to continue", Certain),
    ("sign in to continue", Certain),
    ("sign in to view", Certain),
    ("log in to your", Doubtful),
    ("log in or sign up", Doubtful),
    ("log in or create", Doubtful),
    ("create your free account", Doubtful),
    ("create a free account", Doubtful),
    ("forgot password", Doubtful),
    ("forgot your password", Doubtful),
    ("already a subscriber?", Doubtful),
    ("subscribe to continue reading", Certain),
    ("subscribe to read", Doubtful),
    ("already have an account", Doubtful),
    ("请先登录", Doubtful),
    ("登录后查看", Certain),
    // Errors that were answered as if they were pages.
    ("page not found", Doubtful),
    ("404 not found", Doubtful),
    ("the page you are looking for", Doubtful),
    ("the page you requested", Doubtful),
    ("may have been moved", Doubtful),
];

/// Different signs found so far.
#[derive(Debug, Default)]
pub(super) struct Signs {
    pub(super) certain: usize,
    doubtful: usize,
    seen: Vec<usize>,
}

impl Signs {
    pub(super) fn points(&self) -> usize {
        2 * self.certain + self.doubtful
    }

    /// Looks for signs in a sentence; returns whether it has one. A sign within another is part of
    /// it.
    pub(super) fn search(&mut self, sentence: &str) -> bool {
        let mut has = false;
        let mut inside: Vec<&str> = Vec::new();
        for (at, (words, weight)) in SIGNS.iter().enumerate() {
            if !sentence.contains(words) {
                continue;
            }
            has = true;
            if self.seen.contains(&at) || inside.iter().any(|longer| longer.contains(words)) {
                continue;
            }
            inside.push(words);
            self.seen.push(at);
            match weight {
                Certain => self.certain += 1,
                Doubtful => self.doubtful += 1,
            }
        }
        has
    }
}

/// A text without quotes on one line.
pub(super) fn unquoted(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find(['"', '“', '「']) {
        let (before, quote) = rest.split_at(open);
        kept.push_str(before);
        let length = quoted_bytes(quote);
        if length == 0 {
            let mark = quote.chars().next().map_or(0, char::len_utf8);
            kept.push_str(&quote[..mark]);
            rest = &quote[mark..];
        } else {
            rest = &quote[length..];
        }
    }
    kept.push_str(rest);
    kept
}

/// How long the quote is that begins here; 0 if it does not end soon.
fn quoted_bytes(quote: &str) -> usize {
    let near = &quote[..quote.floor_char_boundary(QUOTE_BYTES_MAX)];
    let mut chars = near.char_indices();
    let close = match chars.next() {
        Some((_, '“')) => '”',
        Some((_, '「')) => '」',
        _ => '"',
    };
    let ended = chars
        .take_while(|(_, char)| *char != '\n')
        .find(|(_, char)| *char == close);
    ended.map_or(0, |(at, char)| at + char.len_utf8())
}

/// The sentences of a text, and its lines where there are none. A dot within a word ends nothing.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = |(at, char): (usize, char)| {
        let after = at + char.len_utf8();
        let is_last = text[after..].chars().next().is_none_or(char::is_whitespace);
        let does = match char {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' => is_last,
            _ => false,
        };
        does.then_some(after)
    };
    let mut from = 0;
    let ends = text.char_indices().filter_map(ends).chain([text.len()]);
    let pieces = ends.map(move |end| {
        let piece = &text[from..end];
        from = end;
        piece.trim()
    });
    pieces.filter(|piece| piece.contains(char::is_alphanumeric))
}
