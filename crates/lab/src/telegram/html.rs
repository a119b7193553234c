//! HTML as Telegram documents it, as far as Almanack writes it: bold text and links.
//!
//! The text that counts, for length and for readers, is what remains after tags are removed and
//! character references are resolved. Everything else is refused, also what Telegram would accept:
//! a missing escape must be detected.

/// What readers see of HTML, without white space at both ends; or why it is refused, in Telegram's
/// words. Offsets are in bytes.
pub fn plain_text(html: &str) -> Result<String, String> {
    let (mut text, mut open) = (String::new(), Vec::new());
    let mut rest = html;
    while let Some(found) = rest.find(['<', '&']) {
        let (before, after) = rest.split_at(found);
        text.push_str(before);
        let at = html.len() - after.len();
        rest = if after.starts_with('&') {
            let bare = || format!("Unescaped \"&\" at byte offset {at}");
            let (read, rest) = reference(after).ok_or_else(bare)?;
            text.push(read);
            rest
        } else {
            tag(after, at, &mut open)?
        };
    }
    text.push_str(rest);
    match open.pop() {
        Some(name) => Err(format!(
            "Can't find end tag corresponding to start tag \"{name}\""
        )),
        None => Ok(text.trim().to_owned()),
    }
}

/// Reads the character reference that a text begins with, and what follows.
fn reference(text: &str) -> Option<(char, &str)> {
    let known = [
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&amp;", '&'),
        ("&quot;", '"'),
    ];
    let mut known = known.into_iter();
    known.find_map(|(written, read)| Some((read, text.strip_prefix(written)?)))
}

/// Reads the tag that a text starts with, and returns the rest.
fn tag<'a>(text: &'a str, at: usize, open: &mut Vec<&'static str>) -> Result<&'a str, String> {
    let (inner, rest) = text.split_once('>').unwrap_or((text, ""));
    let inner = inner.trim_start_matches('<');
    if let Some(name) = inner.strip_prefix('/') {
        return match open.pop() {
            Some(expected) if expected == name => Ok(rest),
            _ => Err(format!("Unexpected end tag at byte offset {at}")),
        };
    }
    let address = inner.strip_prefix("a href=\"");
    let address = address.and_then(|it| it.strip_suffix('"'));
    let is_link = address.is_some_and(|it| !it.contains(['"', '<']));
    let known = if is_link {
        Some("a")
    } else {
        (inner == "b").then_some("b")
    };
    // A tag that does not end is one that is not known; a bare `<` begins one.
    let Some(name) = known.filter(|_| text.contains('>')) else {
        let name = inner.split_whitespace().next().unwrap_or_default();
        return Err(format!(
            "Unsupported start tag \"{name}\" at byte offset {at}"
        ));
    };
    open.push(name);
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tags_are_gone_and_references_resolved() {
        for (html, text) in [
            ("plain > text", "plain > text"),
            (
                " \n<b>a <a href=\"https://a.example/?x=1&amp;y\">b</a></b> ",
                "a b",
            ),
            ("&lt;b&gt; &amp; &quot;", "<b> & \""),
            ("&amp;lt;", "&lt;"),
            ("<b> </b>", ""),
        ] {
            assert_eq!(plain_text(html).unwrap(), text, "{html}");
        }
    }

    #[test]
    fn what_may_not_be_sent_is_refused() {
        for (html, message) in [
            ("<p>a</p>", "Unsupported start tag \"p\" at byte offset 0"),
            ("粗<br/>", "Unsupported start tag \"br/\" at byte offset 3"),
            ("1 < 2 > 1", "Unsupported start tag \"2\" at byte offset 2"),
            ("a <b", "Unsupported start tag \"b\" at byte offset 2"),
            (
                "<a href=\"x>a</a>",
                "Unsupported start tag \"a\" at byte offset 0",
            ),
            (
                "<b>a",
                "Can't find end tag corresponding to start tag \"b\"",
            ),
            ("<b>a</i>", "Unexpected end tag at byte offset 4"),
            ("a</b>", "Unexpected end tag at byte offset 1"),
            ("AT&T", "Unescaped \"&\" at byte offset 2"),
            ("&nbsp;", "Unescaped \"&\" at byte offset 0"),
        ] {
            let refused = plain_text(html).unwrap_err();
            assert_eq!(refused, message, "{html}");
        }
    }

    proptest! {
        #[test]
        fn an_escaped_text_is_restored_unchanged(text in "\\PC{0,200}") {
            let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            prop_assert_eq!(plain_text(&escaped).unwrap(), text.trim());
        }

        #[test]
        fn nothing_makes_it_fall_over(html in "[<>/&;=\"'a-c# x粗]{0,60}") {
            let _ = plain_text(&html);
        }
    }
}
