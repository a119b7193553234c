//! Text for people out of what publishers write: no markup, no control characters, no surprises in
//! length.

use std::borrow::Cow;

use scraper::{Html, Node, node::Element};

/// Elements that titles are decorated with. Others stay as written: `Vec<T>` is a title, too.
const DECORATION: &str = "a abbr acronym b bdi big blink blockquote br center cite code del dfn \
     div em font h1 h2 h3 h4 i img ins kbd li mark p pre q s samp script small span strike strong \
     style sub sup u";

/// One line: no control characters, every run of blanks one space.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|char: char| char.is_whitespace() || char.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// One line of at most `bytes_max`.
pub(crate) fn short_line(text: &str, bytes_max: usize) -> String {
    cut(one_line(text), bytes_max)
}

/// At most `bytes_max`, ending with a whole character.
pub(crate) fn cut(mut text: String, bytes_max: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes_max));
    text.truncate(text.trim_end().len());
    text
}

/// Without control characters, but with its lines.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_noise = |char: char| char.is_control() && !matches!(char, '\n' | '\t');
    if text.contains(is_noise) {
        text.replace(is_noise, "").into()
    } else {
        text.into()
    }
}

/// One line of plain text out of text that may be decorated with markup and entities.
pub(crate) fn undecorated(text: &str, bytes_max: usize) -> String {
    if !text.contains(['<', '&']) {
        return short_line(text, bytes_max);
    }
    // A title is a line. What is longer than any title is not worth a parser's time, which is not
    // bounded by the length alone.
    let text = &text[..text.floor_char_boundary(bytes_max.saturating_mul(4))];
    let fragment = Html::parse_fragment(&escape_undecorating(text));
    short_line(&visible_text(&fragment), bytes_max)
}

/// Makes text of every `<` that does not begin a decoration.
fn escape_undecorating(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut parts = text.split('<');
    escaped.push_str(parts.next().unwrap_or_default());
    for part in parts {
        escaped.push_str(if is_decoration(part) { "<" } else { "&lt;" });
        escaped.push_str(part);
    }
    escaped
}

fn is_decoration(after_bracket: &str) -> bool {
    let name = after_bracket.strip_prefix('/').unwrap_or(after_bracket);
    let end = name.find(|char: char| !char.is_ascii_alphanumeric());
    let name = name[..end.unwrap_or(name.len())].to_ascii_lowercase();
    DECORATION.split(' ').any(|known| known == name) && after_bracket.contains('>')
}

/// What a reader would see of a parsed fragment.
fn visible_text(fragment: &Html) -> String {
    let mut text = String::new();
    for node in fragment.tree.root().descendants() {
        match node.value() {
            Node::Text(words) if !is_hidden(node.parent().map(|parent| parent.value())) => {
                text.push_str(words);
            }
            Node::Element(element) if breaks_line(element) => text.push(' '),
            _ => {}
        }
    }
    text
}

fn is_hidden(parent: Option<&Node>) -> bool {
    parent
        .and_then(Node::as_element)
        .is_some_and(|element| matches!(element.name(), "script" | "style"))
}

fn breaks_line(element: &Element) -> bool {
    matches!(
        element.name(),
        "br" | "p" | "div" | "li" | "h1" | "h2" | "h3" | "h4" | "pre" | "blockquote"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_plain_text() {
        for (title, expected, why) in [
            ("Plain", "Plain", "nothing to do"),
            ("  two\n\t lines  ", "two lines", "one line"),
            (
                "a\0b\u{7}c\u{85}d",
                "a b c d",
                "control characters separate",
            ),
            (
                "AT&amp;T &amp; caf&eacute; &#8211; x",
                "AT&T & café – x",
                "entities",
            ),
            ("AT&T & co", "AT&T & co", "no entity"),
            (
                "<b>Bold</b> and <i class=x>light</i>",
                "Bold and light",
                "decoration",
            ),
            ("one<br/>two<p>three", "one two three", "lines"),
            (
                "<script>alert(1)</script>Hello",
                "Hello",
                "nothing that runs",
            ),
            ("<STYLE>p{}</STYLE>Hello", "Hello", "nothing that paints"),
            (
                "Vec<T> and Option<&str>",
                "Vec<T> and Option<&str>",
                "not decoration",
            ),
            ("1 < 2 and a<b", "1 < 2 and a<b", "a comparison"),
            ("I <3 feeds", "I <3 feeds", "a heart"),
            ("&lt;b&gt; is a tag", "<b> is a tag", "escaped twice"),
            ("<img src=x onerror=alert(1)>", "", "only a picture"),
        ] {
            assert_eq!(undecorated(title, 500), expected, "{why}");
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(undecorated(&"é".repeat(300), 500), "é".repeat(250));
        assert_eq!(undecorated(&"日本".repeat(300), 500).len(), 498);
        assert_eq!(
            undecorated(&format!("<b>{}", "é".repeat(300)), 500).len(),
            500
        );
        assert_eq!(cut("ab cd".to_owned(), 3), "ab");
    }
}
