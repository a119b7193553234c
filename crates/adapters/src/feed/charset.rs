//! From bytes to text, whatever a server says they are.
//!
//! What is declared is often wrong: servers add a default to every answer, templates are copied
//! between sites. So the bytes have the last word: a byte order mark, or text that is UTF-8
//! throughout, outweighs any declaration. No answer is lost here: what cannot be decoded becomes
//! U+FFFD.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// How much of a document is searched for its own declaration of its encoding.
const HEAD_BYTES: usize = 1024;
/// With so many characters beyond ASCII, text that is valid UTF-8 is UTF-8: a text of two-byte
/// characters of another encoding passes for it with a chance of about 1 in 7 for each.
const SURE_CHARS: usize = 8;

/// The text of an answer.
pub(crate) fn decode(bytes: &[u8], content_type: Option<&str>) -> String {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return lossy(encoding, &bytes[mark..]);
    }
    if let Some(encoding) = two_byte_start(bytes) {
        return lossy(encoding, bytes);
    }
    let in_header = content_type.and_then(|header| named_after(header, "charset="));
    let declared = in_header.or_else(|| in_head(bytes));
    match std::str::from_utf8(bytes) {
        Ok(text) if declared.is_none_or(|encoding| outweighs(text, bytes, encoding)) => {
            text.to_owned()
        }
        _ => {
            let declared = declared.filter(|encoding| *encoding != UTF_8);
            lossy(declared.unwrap_or_else(|| guess(bytes)), bytes)
        }
    }
}

/// Whether text that is valid UTF-8 is so in spite of the declared encoding.
fn outweighs(text: &str, bytes: &[u8], declared: &'static Encoding) -> bool {
    let beyond_ascii = text.chars().filter(|char| !char.is_ascii());
    declared == UTF_8
        || declared.is_single_byte()
        || beyond_ascii.take(SURE_CHARS).count() == SURE_CHARS
        || declared.decode_without_bom_handling(bytes).1
}

fn lossy(encoding: &'static Encoding, bytes: &[u8]) -> String {
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

/// Nothing else declared and not UTF-8: either UTF-8 with a few broken places, or the old default
/// of the web, which at least keeps different texts different.
fn guess(bytes: &[u8]) -> &'static Encoding {
    let text = String::from_utf8_lossy(bytes);
    let broken = text.matches(char::REPLACEMENT_CHARACTER).count();
    let whole = text.chars().filter(|char| !char.is_ascii()).count() - broken;
    if whole > broken { UTF_8 } else { WINDOWS_1252 }
}

/// UTF-16 without a mark shows itself by the zero beside its first `<`.
fn two_byte_start(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [b'<', 0, _, 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, _, ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// The encoding in an XML declaration, or of a page's `meta`.
fn in_head(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let head = String::from_utf8_lossy(head);
    let head = head.trim_start();
    if head.starts_with("<?xml") {
        let declaration = head.split("?>").next().unwrap_or_default();
        return named_after(declaration, "encoding=");
    }
    head.to_ascii_lowercase()
        .split("<meta")
        .skip(1)
        .find_map(|meta| named_after(meta, "charset="))
}

/// An encoding that reads ASCII as ASCII, since the name itself was read so.
fn named_after(text: &str, key: &str) -> Option<&'static Encoding> {
    let text = text.to_ascii_lowercase();
    let rest = &text[text.find(key)? + key.len()..];
    let name = rest
        .trim_start_matches(['"', '\'', ' '])
        .split(|char: char| !char.is_ascii_alphanumeric() && !"-_:.".contains(char))
        .next()?;
    Encoding::for_label(name.as_bytes()).filter(|encoding| encoding.is_ascii_compatible())
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1251};

    fn check(bytes: &[u8], content_type: Option<&str>, expected: &str, why: &str) {
        assert_eq!(decode(bytes, content_type), expected, "{why}");
    }

    fn xml(encoding: &str, text: &str) -> String {
        format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?><a>{text}</a>")
    }

    #[test]
    fn ss_12_wrong_charset_does_not_lose_the_feed() {
        let chinese = "今天的新闻很多，明天也是";
        for (declared, text, why) in [
            ("utf-8", "né", "as declared"),
            ("iso-8859-1", "né", "a template's default"),
            ("windows-1251", "né", "a template's default"),
            ("gbk", chinese, "would be other characters, all valid"),
            (
                "utf-16",
                "né",
                "the declaration could not be read if it were true",
            ),
            ("klingon", "né", "an unknown name"),
        ] {
            let document = xml(declared, text);
            check(document.as_bytes(), None, &document, why);
            let header = format!("application/xml; charset={declared}");
            check(document.as_bytes(), Some(&header), &document, why);
        }
    }

    #[test]
    fn what_is_declared_is_believed_where_the_bytes_allow_it() {
        for (encoding, name, text) in [
            (GBK, "GB2312", "联通"),
            (SHIFT_JIS, "shift_jis", "日本語"),
            (WINDOWS_1251, "windows-1251", "Привет"),
            (WINDOWS_1252, "ISO-8859-1", "né"),
        ] {
            let document = xml(name, text);
            let (bytes, _, _) = encoding.encode(&document);
            check(&bytes, Some("text/xml"), &document, name);
            let bare = format!("<a>{text}</a>");
            let (bytes, _, _) = encoding.encode(&bare);
            let header = format!("text/xml; Charset=\"{name}\"; q=1");
            check(&bytes, Some(&header), &bare, name);
            let page = format!("<html><META charset='{name}'>{text}");
            let (bytes, _, _) = encoding.encode(&page);
            check(&bytes, Some("text/html"), &page, name);
        }
    }

    #[test]
    fn marks_and_two_byte_texts_are_recognised() {
        let utf16 = |text: &str| text.encode_utf16().collect::<Vec<_>>();
        let little: Vec<u8> = utf16("<a>né</a>")
            .into_iter()
            .flat_map(u16::to_le_bytes)
            .collect();
        let big: Vec<u8> = utf16("\u{feff}<a>né</a>")
            .into_iter()
            .flat_map(u16::to_be_bytes)
            .collect();
        check(&little, None, "<a>né</a>", "no mark");
        check(
            &big,
            Some("text/xml; charset=utf-8"),
            "<a>né</a>",
            "a mark wins",
        );
        check(
            b"\xef\xbb\xbf<a>",
            Some("x; charset=latin1"),
            "<a>",
            "a mark wins",
        );
    }

    #[test]
    fn what_cannot_be_decoded_is_marked() {
        check(b"n\xe9", None, "né", "the web's old default");
        check("né été \u{e9}".as_bytes(), None, "né été é", "plain");
        check(
            b"n\xc3\xa9 \xc3\xa9 \xff",
            None,
            "né é \u{fffd}",
            "mostly UTF-8",
        );
        check(b"", None, "", "nothing");
    }
}
