//! From bytes to text, whatever a server says they are.
//!
//! What is declared is often wrong: servers add a default to every answer, templates are copied
//! between sites. So every declaration is held against the bytes (SS-19), in this order:
//!
//! 1. a byte order mark, or the zeros of UTF-16;
//! 2. the escapes of ISO-2022-JP, which no other text has;
//! 3. UTF-8, where the bytes are that throughout or but for a few broken places;
//! 4. what the header, the XML declaration and the page's `meta` declare, if the bytes can be read
//!    so and make sense; a detector decides between two that do;
//! 5. what the detector makes of the bytes and of the country that they come from.
//!
//! No answer is lost here: what cannot be decoded becomes U+FFFD.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, GB18030, GBK, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

mod plausible;

/// How much of a document is searched for its own declaration of its encoding.
const HEAD_BYTES: usize = 1024;
/// So many characters beyond ASCII are evidence. Text that is valid UTF-8 is UTF-8 then: a text of
/// two-byte characters of another encoding passes for it with a chance of about 1 in 7 for each.
const SURE_CHARS: usize = 8;
/// How much the detector looks at, from the first byte beyond ASCII on. A title decides most cases;
/// each byte costs 27 comparisons.
const DETECTED_BYTES: usize = 64 * 1024;

/// The text of an answer.
pub(crate) fn decode(bytes: &[u8], content_type: Option<&str>) -> String {
    decode_from(None, bytes, content_type)
}

/// The text of an answer from a host, whose country is a hint.
pub(crate) fn decode_from(host: Option<&str>, bytes: &[u8], content_type: Option<&str>) -> String {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return lossy(encoding, &bytes[mark..]);
    }
    if let Some(encoding) = two_byte_start(bytes) {
        return lossy(encoding, bytes);
    }
    let declared = Declared::of(bytes, content_type);
    match std::str::from_utf8(bytes) {
        Ok(text) => escaped_japanese(bytes)
            .or_else(|| declared.instead_of(text, bytes))
            .unwrap_or_else(|| text.to_owned()),
        Err(_) if is_mostly_utf8(bytes) => lossy(UTF_8, bytes),
        Err(_) => lossy(declared.choose(host, bytes), bytes),
    }
}

/// Encodings that were declared, the most authoritative first.
struct Declared {
    /// UTF-8 was among them.
    is_utf8: bool,
    others: Vec<&'static Encoding>,
}

impl Declared {
    fn of(bytes: &[u8], content_type: Option<&str>) -> Self {
        let in_header = content_type.and_then(|header| named_after(header, "charset="));
        let (in_xml, in_meta) = in_head(bytes);
        let mut is_utf8 = false;
        let mut others = Vec::new();
        for encoding in [in_header, in_xml, in_meta].into_iter().flatten() {
            is_utf8 |= encoding == UTF_8;
            if encoding != UTF_8 && !others.contains(&encoding) {
                others.push(encoding);
            }
        }
        Self { is_utf8, others }
    }

    /// The text in spite of its being valid UTF-8: short, and as valid in the only encoding that
    /// was declared. A single-byte encoding is a template's default; all texts are valid in it.
    fn instead_of(&self, text: &str, bytes: &[u8]) -> Option<String> {
        let beyond_ascii = text.chars().filter(|char| !char.is_ascii());
        let count = beyond_ascii.take(SURE_CHARS).count();
        if self.is_utf8 || count == 0 || count == SURE_CHARS {
            return None;
        }
        let mut others = self.others.iter();
        let other = others.find(|encoding| !encoding.is_single_byte())?;
        exact(other, bytes)
    }

    /// What bytes are that are not UTF-8.
    fn choose(&self, host: Option<&str>, bytes: &[u8]) -> &'static Encoding {
        let fits = |encoding: &&'static Encoding| {
            exact(encoding, bytes).is_some_and(|text| plausible::is_plausible(&text))
        };
        let fitting: Vec<_> = self.others.iter().copied().filter(fits).collect();
        match fitting.as_slice() {
            [] => guess(host, bytes),
            // What servers declare by default.
            [encoding] if *encoding == WINDOWS_1252 => several_bytes(bytes).unwrap_or(WINDOWS_1252),
            [encoding] => encoding,
            several @ [first, ..] => {
                let detected = detect(host, bytes);
                let mut several = several.iter();
                several.find(|known| **known == detected).unwrap_or(first)
            }
        }
    }
}

fn lossy(encoding: &'static Encoding, bytes: &[u8]) -> String {
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

/// The text, if all of it can be decoded.
fn exact(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    Some(text.into_owned())
}

/// UTF-16 without a mark shows itself by the zero beside its first `<`.
fn two_byte_start(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [b'<', 0, _, 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, _, ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// ISO-2022-JP is ASCII with escapes, so it is valid UTF-8, and the name of its encoding can be
/// read although it is none that reads ASCII as ASCII. The escapes alone decide.
fn escaped_japanese(bytes: &[u8]) -> Option<String> {
    let escapes = |pair: &[u8]| matches!(pair, [0x1b, b'$' | b'(']);
    let is_escaped = bytes.is_ascii() && bytes.windows(2).any(escapes);
    is_escaped.then(|| exact(ISO_2022_JP, bytes)).flatten()
}

/// Whether more characters are whole than broken. Of other encodings about one character in seven
/// passes for UTF-8.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let broken = text.matches(char::REPLACEMENT_CHARACTER).count();
    let whole = text.chars().filter(|char| !char.is_ascii()).count() - broken;
    whole > broken
}

/// What bytes are that nobody declares. The detector needs a few of them, or a country; without,
/// the old default of the web is right more often.
fn guess(host: Option<&str>, bytes: &[u8]) -> &'static Encoding {
    let mut beyond_ascii = bytes.iter().filter(|byte| !byte.is_ascii());
    let country = host.and_then(top_level_domain);
    let has_hint = EncodingDetector::tld_may_affect_guess(country.as_deref().map(str::as_bytes));
    if has_hint || beyond_ascii.nth(SURE_CHARS - 1).is_some() {
        detect(host, bytes)
    } else {
        WINDOWS_1252
    }
}

/// An encoding of several bytes that a text is sure to be in. The country is no evidence here: on
/// its sites the detector takes `Crème brûlée` for Chinese.
fn several_bytes(bytes: &[u8]) -> Option<&'static Encoding> {
    let detected = detect(None, bytes);
    if detected.is_single_byte() {
        return None;
    }
    let text = exact(detected, bytes)?;
    let mut beyond_ascii = text.chars().filter(|char| !char.is_ascii());
    let is_sure = beyond_ascii.nth(SURE_CHARS - 1).is_some();
    is_sure.then_some(detected)
}

/// What the bytes look like, to a detector made for old pages.
fn detect(host: Option<&str>, bytes: &[u8]) -> &'static Encoding {
    let from = Encoding::ascii_valid_up_to(bytes).saturating_sub(2);
    let until = bytes.len().min(from + DETECTED_BYTES);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[from..until], until == bytes.len());
    let country = host.and_then(top_level_domain);
    detector.guess(country.as_deref().map(str::as_bytes), Utf8Detection::Deny)
}

/// The last label of a name, as the detector wants it: it panics at dots, capitals and other than
/// ASCII.
fn top_level_domain(host: &str) -> Option<String> {
    let label = host.trim_end_matches('.').rsplit('.').next()?;
    let is_label = !label.is_empty()
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_label.then(|| label.to_ascii_lowercase())
}

/// The encodings in an XML declaration, and of a page's `meta`.
fn in_head(bytes: &[u8]) -> (Option<&'static Encoding>, Option<&'static Encoding>) {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let head = String::from_utf8_lossy(head);
    let head = head.trim_start();
    let in_xml = head.starts_with("<?xml").then(|| {
        let declaration = head.split("?>").next().unwrap_or_default();
        named_after(declaration, "encoding=")
    });
    let lower = head.to_ascii_lowercase();
    let mut metas = lower.split("<meta").skip(1);
    let in_meta = metas.find_map(|meta| named_after(meta, "charset="));
    (in_xml.flatten(), in_meta)
}

/// An encoding that reads ASCII as ASCII, since the name itself was read so.
fn named_after(text: &str, key: &str) -> Option<&'static Encoding> {
    let text = text.to_ascii_lowercase();
    let rest = &text[text.find(key)? + key.len()..];
    let name = rest
        .trim_start_matches(['"', '\'', ' '])
        .split(|char: char| !char.is_ascii_alphanumeric() && !"-_:.".contains(char))
        .next()?;
    let encoding = Encoding::for_label(name.as_bytes())?;
    // They are decoded alike, and the detector knows the older name only.
    let encoding = if encoding == GB18030 { GBK } else { encoding };
    encoding.is_ascii_compatible().then_some(encoding)
}

#[cfg(test)]
mod tests;
