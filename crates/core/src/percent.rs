//! Percent-encoding (RFC 3986): of names in addresses of the API and its pages, of CloudEvents attributes that travel as headers of HTTP
//! or NATS, and of parameters in a database's URL.

use std::fmt::Write as _;

/// Encodes everything but unreserved characters, so that a subject with `/` stays one segment.
pub fn encode(text: &str) -> String {
    text.bytes()
        .fold(String::with_capacity(text.len()), |mut encoded, byte| {
            if byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte) {
                encoded.push(char::from(byte));
            } else {
                // Writing to a String cannot fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
            encoded
        })
}

/// Decodes `%XX`; what is not such a triplet stays as it is. `None` if the bytes are not UTF-8.
pub fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = triplet(tail).filter(|_| first == b'%');
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).ok()
}

fn triplet(tail: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*tail.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
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
