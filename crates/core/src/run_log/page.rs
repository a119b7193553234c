//! A part of a log, as text.

use serde::Serialize;

use crate::store::LogPiece;

/// A part of a log. It never spans what was left out: the part behind a gap says how large it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RunLogText))]
pub struct LogText {
    /// Where the text begins, in bytes from the beginning of the attempt's output.
    pub offset: u64,
    /// Bytes missing right before it: the log is longer than its limit, or too old.
    pub left_out: u64,
    /// What was printed; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// Where the next part begins.
    pub next_offset: u64,
}

/// The text from a place on, at most `bytes_max`. A character that is not complete yet waits for its
/// rest, unless the log `is_over`.
pub fn read_page(pieces: &[LogPiece], from: u64, bytes_max: usize, is_over: bool) -> LogText {
    let mut bytes: Vec<u8> = Vec::new();
    let first = pieces.iter().find(|piece| piece.end() > from);
    let Some(offset) = first.map(|piece| piece.at.max(from)) else {
        return LogText {
            offset: from,
            next_offset: from,
            ..LogText::default()
        };
    };
    let mut end = offset;
    for piece in pieces.iter().filter(|piece| piece.end() > from) {
        if piece.at > end || bytes.len() >= bytes_max {
            break;
        }
        let skipped = usize::try_from(end - piece.at).unwrap_or(usize::MAX);
        let text = piece.text.get(skipped..).unwrap_or_default();
        bytes.extend_from_slice(text);
        end = piece.end();
    }
    let is_cut = bytes.len() > bytes_max;
    bytes.truncate(bytes_max);
    if is_cut || !is_over {
        bytes.truncate(whole_characters(&bytes));
    }
    LogText {
        offset,
        left_out: offset - from,
        next_offset: offset + u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    }
}

/// How many bytes are left without the character at the end that misses its rest.
fn whole_characters(bytes: &[u8]) -> usize {
    const LONGEST: usize = 4;
    let last = bytes.len().saturating_sub(LONGEST);
    for (behind, byte) in bytes.iter().enumerate().skip(last).rev() {
        let needed = match byte {
            0x80..0xc0 => continue,
            0xc2..0xe0 => 2,
            0xe0..0xf0 => 3,
            0xf0..0xf5 => 4,
            _ => break,
        };
        if bytes.len() - behind < needed {
            return behind;
        }
        break;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(at: u64, text: &str) -> LogPiece {
        LogPiece {
            at,
            text: text.as_bytes().to_vec(),
        }
    }

    #[test]
    fn dp_20_a_log_is_read_part_by_part_and_says_what_is_missing() {
        let pieces = [piece(0, "one "), piece(4, "two "), piece(20, "end")];
        let rows = [
            // From, at most; then where, missing, text, next.
            (0, 100, (0, 0, "one two ", 8)),
            (0, 6, (0, 0, "one tw", 6)),
            (6, 100, (6, 0, "o ", 8)),
            (8, 100, (20, 12, "end", 23)),
            (10, 100, (20, 10, "end", 23)),
            (22, 100, (22, 0, "d", 23)),
            (23, 100, (23, 0, "", 23)),
            (99, 100, (99, 0, "", 99)),
        ];
        for (from, bytes_max, (offset, left_out, text, next_offset)) in rows {
            let expected = LogText {
                offset,
                left_out,
                text: text.to_owned(),
                next_offset,
            };
            assert_eq!(read_page(&pieces, from, bytes_max, false), expected);
        }
    }

    #[test]
    fn dp_20_characters_are_never_torn() {
        let text = "日報: ok — 日報";
        for bytes_max in 4..text.len() {
            let mut from = 0;
            let mut read = String::new();
            while from < text.len() as u64 {
                let page = read_page(&[piece(0, text)], from, bytes_max, false);
                assert!(page.next_offset > from, "{bytes_max} bytes at {from}");
                from = page.next_offset;
                read.push_str(&page.text);
            }
            assert_eq!(read, text, "{bytes_max} bytes at a time");
        }
        let torn = LogPiece {
            at: 0,
            text: vec![b'a', 0xe6, 0x97],
        };
        let torn = [torn];
        assert_eq!(read_page(&torn, 0, 100, false).text, "a");
        assert_eq!(read_page(&torn, 0, 100, true).text, "a\u{fffd}");
        let broken = LogPiece {
            at: 0,
            text: vec![0xff, 0x80, 0x80, 0x80, 0x80, 0x80],
        };
        assert_eq!(read_page(&[broken], 0, 100, false).next_offset, 6);
    }
}
