//! Percent-encoding (RFC 3986): of names in addresses of the API and its pages, of CloudEvents
//! attributes that travel as headers of HTTP or NATS, and of the parts of a database's URL.

use percent_encoding::{
    AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode, utf8_percent_encode,
};

/// Everything but unreserved characters and the colon, which no segment of a path needs escaped.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b':');
const PATH: &AsciiSet = &SEGMENT.remove(b'/').add(b':');

/// Encodes everything but unreserved characters, so that a subject with `/` stays one segment.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

/// Encodes a path, whose slashes stay.
pub fn encode_path(path: &[u8]) -> String {
    percent_encode(path, PATH).to_string()
}

/// Decodes `%XX`; what is not such a triplet stays as it is. `None` if the bytes are not UTF-8.
pub fn decode(text: &str) -> Option<String> {
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_survives_being_encoded_and_decoded() {
        for text in ["article:42", "a/b c", "100 %", "ä/日本", "%41", ""] {
            let encoded = encode(text);
            assert!(encoded.is_ascii() && !encoded.contains('/'), "{encoded}");
            assert_eq!(decode(&encoded).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_is_no_triplet_stays() {
        for (text, decoded) in [
            ("%", Some("%")),
            ("%4", Some("%4")),
            ("%zz", Some("%zz")),
            ("%+1", Some("%+1")),
            ("%ff", None),
        ] {
            assert_eq!(decode(text).as_deref(), decoded, "{text}");
        }
    }
}
