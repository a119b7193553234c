//! Plain text out of simple markup: what entries and comments are written in.
//!
//! Their markup is a browser's subset (paragraphs, links, emphasis, code), sanitised or written by
//! a machine, so it takes no parser to read: a tag goes, a block becomes its own line, an entity
//! becomes its character. INVARIANT: nothing recurses, no tag is searched for its end beyond
//! `TAG_BYTES_MAX`, and what is not understood stays as it is written.

/// Longest tag that is recognised; addresses are shorter than that.
const TAG_BYTES_MAX: usize = 4096;
/// Longest entity that is recognised: `&thetasym;` and `&#x10FFFF;`.
const ENTITY_BYTES_MAX: usize = 10;
/// Elements whose content is invisible.
const HIDDEN: [&str; 3] = ["script", "style", "template"];
/// Elements that get their own lines.
const BLOCKS: [&str; 22] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dt",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "p",
    "pre",
    "section",
    "tr",
];
/// Entities by name, as far as such markup uses them.
const ENTITIES: [(&str, char); 17] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("ndash", '–'),
    ("mdash", '—'),
    ("hellip", '…'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("copy", '©'),
    ("trade", '™'),
];

/// The text that a reader of `markup` sees, at most `chars_max` of it: one line per block, no line
/// empty, every run of blanks one space.
pub fn plain_text(markup: &str, chars_max: usize) -> String {
    let mut page = Page::new(chars_max);
    let mut rest = markup;
    while let Some(at) = rest.find(['<', '&']) {
        page.write(&rest[..at]);
        rest = &rest[at..];
        if page.is_full() {
            break;
        }
        let read = if rest.starts_with('<') {
            page.tag(rest)
        } else {
            page.entity(rest)
        };
        rest = &rest[read..];
    }
    page.write(rest);
    page.end()
}

/// One line of text in which `<` means nothing, but entities do: a title. At most `chars_max` of
/// it.
pub fn plain_line(text: &str, chars_max: usize) -> String {
    let mut page = Page::new(chars_max);
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        page.write(&rest[..at]);
        rest = &rest[at..];
        let read = page.entity(rest);
        rest = &rest[read..];
    }
    page.write(rest);
    page.end()
}

/// Where the text goes.
struct Page {
    text: String,
    chars_left: usize,
    /// What separates the next character from the last one.
    gap: Gap,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
}

impl Page {
    fn new(chars_max: usize) -> Self {
        Self {
            text: String::new(),
            chars_left: chars_max,
            gap: Gap::None,
        }
    }

    fn is_full(&self) -> bool {
        self.chars_left == 0
    }

    fn write(&mut self, words: &str) {
        for char in words.chars() {
            if self.is_full() {
                return;
            }
            self.put(char);
        }
    }

    fn put(&mut self, char: char) {
        if self.is_full() {
            return;
        }
        if char.is_whitespace() || char.is_control() {
            self.gap = self.gap.max(Gap::Space);
            return;
        }
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        if !self.text.is_empty() && gap != Gap::None {
            self.text.push(if gap == Gap::Line { '\n' } else { ' ' });
            self.chars_left -= 1;
        }
        if !self.is_full() {
            self.text.push(char);
            self.chars_left -= 1;
        }
    }

    /// Reads what begins with `<`, and returns how much of it that was.
    fn tag(&mut self, rest: &str) -> usize {
        if let Some(comment) = rest.strip_prefix("<!--") {
            return comment.find("-->").map_or(rest.len(), |end| 4 + end + 3);
        }
        let Some(end) = tag_end(rest) else {
            self.put('<');
            return 1;
        };
        let name = tag_name(rest);
        if BLOCKS.contains(&name.as_str()) {
            self.gap = Gap::Line;
        }
        if HIDDEN.contains(&name.as_str()) && !rest.starts_with("</") {
            return end + hidden_bytes(&rest[end..], &name);
        }
        end
    }

    /// Reads what begins with `&`, and returns how much of it that was.
    fn entity(&mut self, rest: &str) -> usize {
        let head = &rest[..rest.floor_char_boundary(ENTITY_BYTES_MAX + 1)];
        let named = head
            .find(';')
            .and_then(|end| Some((end, meaning(&rest[1..end])?)));
        let (end, char) = named.unwrap_or((0, '&'));
        self.put(char);
        end + 1
    }

    fn end(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}

/// Where a tag ends, if this is one: brackets inside quotes are not its end.
fn tag_end(rest: &str) -> Option<usize> {
    let begins = |char: char| char.is_ascii_alphabetic() || matches!(char, '/' | '!' | '?');
    rest[1..].chars().next().filter(|char| begins(*char))?;
    let bytes = &rest.as_bytes()[..rest.len().min(TAG_BYTES_MAX)];
    let mut quote = None;
    for (at, byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    // An unclosed quote: the first bracket will do.
    bytes.iter().position(|byte| *byte == b'>').map(|at| at + 1)
}

/// The name of the element, in lower case.
fn tag_name(tag: &str) -> String {
    let name = tag[1..].trim_start_matches('/');
    let end = name.find(|char: char| !char.is_ascii_alphanumeric());
    name[..end.unwrap_or(name.len())].to_ascii_lowercase()
}

/// How much of what follows is content of the hidden element `name`: all of it, if that never ends.
fn hidden_bytes(rest: &str, name: &str) -> usize {
    let closes = |at: usize| {
        let after = rest[at..].strip_prefix("</");
        let after = after.and_then(|after| after.get(..name.len()));
        after.is_some_and(|after| after.eq_ignore_ascii_case(name))
    };
    let mut closing = rest.match_indices('<').map(|(at, _)| at);
    closing.find(|at| closes(*at)).unwrap_or(rest.len())
}

fn meaning(entity: &str) -> Option<char> {
    let Some(number) = entity.strip_prefix('#') else {
        let named = ENTITIES.iter().find(|(name, _)| *name == entity);
        return named.map(|(_, char)| *char);
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(markup: &str, expected: &str, why: &str) {
        assert_eq!(plain_text(markup, 1000), expected, "{why}");
    }

    #[test]
    fn ed_33_markup_becomes_plain_text() {
        for (markup, expected, why) in [
            ("plain", "plain", "nothing to do"),
            ("", "", "nothing at all"),
            ("  two\n\n words ", "two words", "blanks"),
            (
                "one<p>two<p>three",
                "one\ntwo\nthree",
                "as comments are written",
            ),
            ("<p>one</p>\n<p>two</p>", "one\ntwo", "as feeds are written"),
            ("a <i>b</i><b>c</b>", "a bc", "emphasis separates nothing"),
            ("one<br/>two", "one\ntwo", "a line break"),
            (
                "It&#x27;s &quot;x&quot; &amp; y&#38;z",
                "It's \"x\" & y&z",
                "entities",
            ),
            ("&amp;lt; is <", "&lt; is <", "read once"),
            ("AT&T; &bogus; & &", "AT&T; &bogus; & &", "no entities"),
            (
                "&#0;&#xD800;&#99999999;",
                "&#xD800;&#99999999;",
                "no characters",
            ),
            ("a&nbsp;b", "a b", "a blank that looks like one"),
            ("1 < 2 and a <- b", "1 < 2 and a <- b", "no tags"),
            (
                "<a href=\"x\" title='a>b'>link</a>.",
                "link.",
                "a bracket in quotes",
            ),
            ("<a href=\"x>link</a>", "link", "an unclosed quote"),
            ("a<b", "a<b", "a tag that never ends"),
            ("x<!-- <p>no</p> -->y", "xy", "a comment"),
            ("x<!-- y", "x", "a comment that never ends"),
            ("x<script>if (a<b) c()</script>y", "xy", "what runs"),
            ("x<STYLE>p{}</STYLE >y", "xy", "what paints"),
            ("x<script>y", "x", "what never ends"),
            ("a\u{0}b\u{7}", "a b", "control characters"),
            ("é日<p>本", "é日\n本", "characters of any length"),
        ] {
            check(markup, expected, why);
        }
    }

    #[test]
    fn ed_33_titles_keep_their_brackets() {
        for (title, expected, why) in [
            ("Plain", "Plain", "nothing to do"),
            ("AT&amp;T &#x2F; &quot;x&quot;", "AT&T / \"x\"", "entities"),
            (
                "The <a> element &lt;b&gt;",
                "The <a> element <b>",
                "no markup",
            ),
            (" two\n lines\u{0} ", "two lines", "one line"),
        ] {
            assert_eq!(plain_line(title, 100), expected, "{why}");
        }
        assert_eq!(plain_line("日本&amp;&amp;語", 3), "日本&");
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(plain_text("<p>日本語</p>", 2), "日本");
        assert_eq!(plain_text("one two", 4), "one");
        assert_eq!(plain_text("one &amp; two", 5), "one &");
        assert_eq!(plain_text("one", 0), "");
    }

    proptest! {
        #[test]
        fn whatever_is_written_comes_out_within_its_limit(markup in "(<[a-z/!]{0,3}|>|&[a-z#0-9]{0,3}|;|\"|[a-z é\n]{1,5}|-->|<!--){0,40}", chars_max in 0_usize..60) {
            let text = plain_text(&markup, chars_max);
            prop_assert!(text.chars().count() <= chars_max);
            prop_assert_eq!(text.trim(), text.as_str());
            prop_assert!(!text.contains("\n\n") && !text.contains("  "));
        }

        #[test]
        fn words_survive(words in proptest::collection::vec("[a-zé日]{1,8}", 0..20)) {
            let paragraphs = words.join("</p><p class=\"x\">");
            let markup = format!("<p>{paragraphs}</p>");
            prop_assert_eq!(plain_text(&markup, 10_000), words.join("\n"));
        }
    }
}
