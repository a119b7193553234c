//! Texts of others, cut to what has room.

use std::borrow::Cow;

/// At most so many characters of a text, and an ellipsis where that is not all of it.
pub fn shorten(text: &str, chars_max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_characters() {
        for (text, most, short) in [("abc", 3, "abc"), ("每日新闻", 3, "每日新…"), ("", 0, "")]
        {
            assert_eq!(shorten(text, most), short);
        }
    }
}
