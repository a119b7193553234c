//! How deep markup is nested, before a parser is asked.
//!
//! The parser of HTML looks through all open elements at every tag, so a page of a million `<div>` costs it a
//! million times a million steps. This count costs one step a byte. It is rough, and errs on the side of the page:
//! elements that authors leave open by habit do not count.

/// Deepest nesting that is read; browsers give up at the same depth.
pub(crate) const DEPTH_MAX: usize = 512;

/// Elements without an end, or whose end is usually left out.
const NEVER_CLOSED: [&[u8]; 27] = [
    b"area", b"base", b"br", b"col", b"dd", b"dt", b"embed", b"hr", b"img", b"input", b"li",
    b"link", b"meta", b"option", b"p", b"param", b"path", b"source", b"tbody", b"td", b"th",
    b"thead", b"tr", b"track", b"use", b"wbr", b"rect",
];
/// Elements whose content is no markup.
const RAW: [&[u8]; 4] = [b"script", b"style", b"textarea", b"title"];

/// Whether markup is nested deeper than [`DEPTH_MAX`].
pub(crate) fn is_too_deep(markup: &str) -> bool {
    let mut depth = 0_usize;
    let mut rest = markup.as_bytes();
    while let Some(open) = rest.iter().position(|byte| *byte == b'<') {
        rest = &rest[open + 1..];
        let closes = rest.first() == Some(&b'/');
        let name = name_at(if closes { &rest[1..] } else { rest });
        if name.is_empty() || holds(&NEVER_CLOSED, name) {
            continue;
        }
        if closes {
            depth = depth.saturating_sub(1);
        } else if holds(&RAW, name) {
            rest = after_raw(rest, name);
        } else if !is_self_closing(rest) {
            depth += 1;
        }
        if depth > DEPTH_MAX {
            return true;
        }
    }
    false
}

fn name_at(tag: &[u8]) -> &[u8] {
    let end = tag.iter().position(|byte| !byte.is_ascii_alphanumeric());
    &tag[..end.unwrap_or(tag.len())]
}

fn holds(names: &[&[u8]], name: &[u8]) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether the tag ends with `/>`; only a little of it is looked at, and a longer one counts as open.
fn is_self_closing(tag: &[u8]) -> bool {
    const TAG_BYTES: usize = 300;
    let tag = &tag[..tag.len().min(TAG_BYTES)];
    let end = tag.iter().position(|byte| *byte == b'>');
    end.is_some_and(|end| end > 0 && tag[end - 1] == b'/')
}

/// Behind the end tag of an element whose content is no markup.
fn after_raw<'a>(rest: &'a [u8], name: &[u8]) -> &'a [u8] {
    let mut from = 0;
    while let Some(at) = rest[from..].iter().position(|byte| *byte == b'<') {
        let tag = &rest[from + at + 1..];
        if tag.first() == Some(&b'/') && name_at(&tag[1..]).eq_ignore_ascii_case(name) {
            return tag;
        }
        from += at + 1;
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stays_open_counts() {
        let within = DEPTH_MAX;
        let beyond = DEPTH_MAX + 1;
        for (markup, expected, why) in [
            ("<div>".repeat(within), false, "as deep as allowed"),
            ("<div>".repeat(beyond), true, "deeper"),
            ("<div>x</div>".repeat(10_000), false, "closed"),
            (
                "<p><li><br><td>".repeat(10_000),
                false,
                "left open by habit",
            ),
            ("<g a=b/>".repeat(10_000), false, "closed in itself"),
            (
                format!("<script>{}</script>", "a<b ".repeat(10_000)),
                false,
                "a program",
            ),
            ("1 < 2 ".repeat(10_000), false, "comparisons"),
            ("<script>".repeat(10_000), false, "one script without end"),
            (
                "</div>".repeat(10_000) + &"<i>".repeat(beyond),
                true,
                "stray ends do not help",
            ),
        ] {
            assert_eq!(is_too_deep(&markup), expected, "{why}");
        }
    }
}
