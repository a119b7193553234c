//! Text with Telegram's tags, which knows how long it is.
//!
//! Telegram counts what people see, in UTF-16 units, after tags and entities are read. Here both
//! lengths are counted while the text grows, so that it is not read again for that. Text and tags
//! come in by different methods, so all text is escaped and every tag is closed.

use crate::telegram::{MESSAGE_UNITS_MAX, units};

/// Most bytes of a message as it is sent. Telegram silently cuts what is much longer; this is more
/// than so many units need unless nearly everything in them is an address or an entity.
const RAW_BYTES_MAX: usize = 20_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Html {
    raw: String,
    units: usize,
}

impl Html {
    /// Adds plain text.
    pub(super) fn text(mut self, text: &str) -> Self {
        self.units += units(text);
        escape(text, &mut self.raw);
        self
    }

    pub(super) fn bold(mut self, text: &str) -> Self {
        self.raw.push_str("<b>");
        self = self.text(text);
        self.raw.push_str("</b>");
        self
    }

    /// Adds a link.
    pub(super) fn link(mut self, url: &str, text: &str) -> Self {
        self.raw.push_str("<a href=\"");
        escape(url, &mut self.raw);
        self.raw.push_str("\">");
        self = self.text(text);
        self.raw.push_str("</a>");
        self
    }

    /// Adds what is written already.
    pub(super) fn then(mut self, other: &Self) -> Self {
        self.raw.push_str(&other.raw);
        self.units += other.units;
        self
    }

    /// Whether Telegram takes it as one message.
    pub(super) fn fits(&self) -> bool {
        self.units <= MESSAGE_UNITS_MAX && self.raw.len() <= RAW_BYTES_MAX
    }

    /// As it is sent.
    pub(super) fn into_raw(self) -> String {
        self.raw
    }
}

fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            _ => into.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_see_is_counted_and_the_rest_is_not() {
        let html = Html::default()
            .bold("a & <b>")
            .text(" 中😀 ")
            .link("https://x/?a=1&b=\"2\"", "go");
        assert_eq!(html.units, 7 + 5 + 2);
        assert_eq!(
            html.into_raw(),
            "<b>a &amp; &lt;b&gt;</b> 中😀 <a href=\"https://x/?a=1&amp;b=&quot;2&quot;\">go</a>"
        );
    }
}
