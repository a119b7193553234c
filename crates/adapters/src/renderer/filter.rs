//! Untrusted text, escaped for Markdown, YAML and addresses.
//!
//! The escapes are those that both `CommonMark` and kramdown (which GitHub's sites use) understand.
//! Braces are among them because such sites run their own template language over the page first.

use std::fmt::Write as _;

use almanack_core::{edition::quote, percent};

/// Characters that mean something anywhere in a line.
const ACTIVE: &str = "\\`*_[]<>{}|$";
/// Characters that mean something where a line begins.
const ACTIVE_FIRST: &str = "#+-=:~";
/// Longest name of a character reference: `&CounterClockwiseContourIntegral;`.
const REFERENCE_CHARS_MAX: usize = 33;
/// Characters of an address that would end it in Markdown.
const OUTSIDE_ADDRESSES: &str = "()<>{}\\\"|`";

/// A text on one line, with nothing in it that Markdown takes for markup.
pub(super) fn line(text: &str) -> String {
    let text = visible(text);
    let mut line = String::with_capacity(text.len());
    let last = text.char_indices().next_back().map_or(0, |(at, _)| at);
    let list_dot = text
        .find(|c: char| !c.is_ascii_digit())
        .filter(|at| *at > 0);
    for (at, c) in text.char_indices() {
        let first = at == 0 && ACTIVE_FIRST.contains(c);
        // `## Title #` loses its end, `1. Title` and `1) Title` become a list.
        let after = text.get(at + c.len_utf8()..).unwrap_or_default();
        let numbers = Some(at) == list_dot && matches!(c, '.' | ')');
        let numbering = numbers && (after.is_empty() || after.starts_with(' '));
        match c {
            '&' if is_reference(after) => line.push_str("&amp;"),
            '~' if first || after.starts_with('~') || line.ends_with("&#126;") => {
                line.push_str("&#126;");
            }
            _ if ACTIVE.contains(c) || first || numbering || c == '#' && at == last => {
                line.push('\\');
                line.push(c);
            }
            _ => line.push(c),
        }
    }
    line
}

/// A text on one line without invisible characters. They go before anything is matched by position:
/// behind a byte order mark, `#` would be the second character of its text and the first of its
/// line.
fn visible(text: &str) -> String {
    let is_seen = |c: &char| c.is_whitespace() || !(c.is_control() || is_invisible(*c));
    let text: String = text.chars().filter(is_seen).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text in paragraphs, one for each of its lines, with nothing in them that Markdown takes for
/// markup.
pub(super) fn paragraphs(text: &str) -> String {
    let lines = text.lines().map(line).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n\n")
}

/// Quotes as blocks, each with its author; any other text in paragraphs.
pub(super) fn quoted(text: &str) -> String {
    let quotes = quote::parse(text);
    if quotes.is_empty() {
        return paragraphs(text);
    }
    let block = |quote: &quote::Quote| match &quote.author {
        Some(author) => format!("> {}\n>\n> — {}", line(&quote.text), line(author)),
        None => format!("> {}", line(&quote.text)),
    };
    let blocks: Vec<String> = quotes.iter().map(block).collect();
    blocks.join("\n\n")
}

/// An address as Markdown wants it between parentheses; nothing where it is not one of the web.
pub(super) fn link(url: &str) -> String {
    let lower = url.trim().to_ascii_lowercase();
    if !lower.starts_with("http://") && !lower.starts_with("https://") {
        return String::new();
    }
    let mut link = String::with_capacity(url.len());
    for c in url.trim().chars() {
        if c.is_whitespace() || c.is_control() || is_invisible(c) || OUTSIDE_ADDRESSES.contains(c) {
            link.push_str(&percent::encode(c.encode_utf8(&mut [0; 4])));
        } else {
            link.push(c);
        }
    }
    link
}

/// A text as a YAML scalar in double quotes.
pub(super) fn yaml(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            '\n' => quoted.push_str("\\n"),
            _ if c.is_control() || is_invisible(c) => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Line breaks of other kinds, marks of byte order, and what turns the direction of writing around.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether what follows an ampersand makes it a character reference.
fn is_reference(after: &str) -> bool {
    let name = after
        .chars()
        .take(REFERENCE_CHARS_MAX)
        .take_while(|c| *c != ';');
    let chars = name.clone().count();
    let ends = after.chars().nth(chars) == Some(';');
    ends && chars > 0 && name.clone().all(|c| c == '#' || c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_title_stays_one_line_without_markup() {
        for (text, expected) in [
            ("Plain title", "Plain title"),
            ("数据库为什么慢？", "数据库为什么慢？"),
            ("two\n\nlines\tand  space ", "two lines and space"),
            ("# Heading", "\\# Heading"),
            ("C #", "C \\#"),
            ("C# and F# now", "C# and F# now"),
            ("1. First", "1\\. First"),
            ("1) First", "1\\) First"),
            ("3.50 is out", "3.50 is out"),
            ("- item", "\\- item"),
            ("--- ", "\\---"),
            ("=====", "\\====="),
            ("a - b", "a - b"),
            ("*bold* _under_", "\\*bold\\* \\_under\\_"),
            ("[link](x)", "\\[link\\](x)"),
            ("<script>", "\\<script\\>"),
            (
                "{{ site.x }} {% raw %}",
                "\\{\\{ site.x \\}\\} \\{% raw %\\}",
            ),
            ("a | b", "a \\| b"),
            ("`code`", "\\`code\\`"),
            ("back\\slash", "back\\\\slash"),
            ("AT&T", "AT&T"),
            ("a &lt; b &#60; c", "a &amp;lt; b &amp;#60; c"),
            ("~~gone~~", "&#126;&#126;gone&#126;&#126;"),
            ("about ~5", "about ~5"),
            ("$$x$$", "\\$\\$x\\$\\$"),
            (": defined", "\\: defined"),
            ("\u{202e}turned\u{feff}", "turned"),
            ("\u{feff}# Heading", "\\# Heading"),
            ("\u{1} - item", "\\- item"),
            ("\u{202a}1. First", "1\\. First"),
            ("1\u{2066}\u{feff}. First", "1\\. First"),
            ("C #\u{202c}", "C \\#"),
            ("~\u{feff}~gone", "&#126;&#126;gone"),
            ("&\u{1}lt;", "&amp;lt;"),
            ("", ""),
        ] {
            assert_eq!(line(text), expected, "{text}");
        }
    }

    #[test]
    fn a_summary_is_paragraphs() {
        assert_eq!(
            paragraphs("one\n\n\n# two\n---\n  - three"),
            "one\n\n\\# two\n\n\\---\n\n\\- three"
        );
        assert_eq!(
            paragraphs("```\ncode\n```"),
            "\\`\\`\\`\n\ncode\n\n\\`\\`\\`"
        );
        assert_eq!(paragraphs(""), "");
    }

    #[test]
    fn quotes_are_blocks_with_their_authors_and_nothing_else_is() {
        assert_eq!(
            quoted("“It is *fast*.” — ada\n\n“# No.” — <b>"),
            "> It is \\*fast\\*.\n>\n> — ada\n\n> \\# No.\n>\n> — \\<b\\>"
        );
        assert_eq!(
            quoted("Readers agree.\nMostly."),
            "Readers agree.\n\nMostly."
        );
    }

    #[test]
    fn an_address_ends_where_it_ends() {
        for (url, expected) in [
            (
                "https://example.org/a?b=c&d=e#f",
                "https://example.org/a?b=c&d=e#f",
            ),
            (
                "https://en.wikipedia.org/wiki/A_(b)",
                "https://en.wikipedia.org/wiki/A_%28b%29",
            ),
            (
                "https://example.org/a b\n)](x",
                "https://example.org/a%20b%0A%29]%28x",
            ),
            ("https://例子.example/数", "https://例子.example/数"),
            ("HTTPS://example.org", "HTTPS://example.org"),
            ("javascript:alert(1)", ""),
            ("", ""),
        ] {
            assert_eq!(link(url), expected);
        }
    }

    #[test]
    fn a_text_is_a_yaml_scalar() {
        for (text, expected) in [
            (
                "HackerNews Daily - 2026-01-10",
                r#""HackerNews Daily - 2026-01-10""#,
            ),
            ("a: \"b\" # c\\", r#""a: \"b\" # c\\""#),
            (
                "a\n---\nb\u{7f}\u{85}\u{2028}",
                r#""a\n---\nb\u007f\u0085\u2028""#,
            ),
        ] {
            assert_eq!(yaml(text), expected);
        }
    }

    proptest! {
        #[test]
        fn nothing_breaks_out_of_its_line(text in "[a-z#*_>|{}<~=\\- \n\r\t0-9.)\u{85}\u{2028}\u{feff}\u{202a}\u{2066}\u{1}\u{7f}`\\\\&;]{0,40}") {
            let title = line(&text);
            let breaks = title.chars().any(|c| c.is_control() || is_invisible(c));
            let liquid = title.contains("{{") || title.contains("{%");
            prop_assert!(!breaks && !liquid, "{}", title);
            prop_assert!(!title.starts_with(|c| ACTIVE_FIRST.contains(c)));
            let digits = title.trim_start_matches(|c: char| c.is_ascii_digit());
            let numbers = digits.strip_prefix(['.', ')']).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
            prop_assert!(digits.len() == title.len() || !numbers, "{}", title);
            prop_assert_eq!(title.trim(), title.as_str());
            let address = link(&format!("https://example.org/{text}"));
            prop_assert!(!address.contains(['(', ')', ' ', '\n', '<', '>']));
            let scalar = yaml(&text);
            prop_assert!(!scalar.chars().any(char::is_control));
            let lines: Vec<String> = text.lines().map(line).collect();
            let all_escaped = paragraphs(&text).lines().all(|it| it.is_empty() || lines.iter().any(|line| line == it));
            prop_assert!(all_escaped);
        }
    }
}
