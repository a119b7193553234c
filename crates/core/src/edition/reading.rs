//! How long a text takes to read.

use super::summary::is_cjk;

/// Words that a reader of an alphabet takes in per minute.
const WORDS_PER_MINUTE: usize = 230;
/// Characters that a reader of a script without spaces takes in per minute.
const CHARS_PER_MINUTE: usize = 400;

/// The time that these texts take together, in whole minutes, rounded up; none for no text.
pub fn minutes<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<u32> {
    let (mut words, mut chars) = (0, 0);
    for text in texts {
        chars += text.chars().filter(|c| is_cjk(*c)).count();
        let has_letters = |word: &&str| word.chars().any(|c| c.is_alphanumeric() && !is_cjk(c));
        words += text.split_whitespace().filter(has_letters).count();
    }
    // In parts of a minute that both kinds divide evenly, so that nothing is rounded twice.
    let parts = words * CHARS_PER_MINUTE + chars * WORDS_PER_MINUTE;
    let minutes = parts.div_ceil(WORDS_PER_MINUTE * CHARS_PER_MINUTE);
    u32::try_from(minutes).ok().filter(|minutes| *minutes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_takes_as_long_as_its_words_and_characters() {
        for (text, expected, why) in [
            (String::new(), None, "nothing"),
            ("… — !".to_owned(), None, "no words"),
            ("One word.".to_owned(), Some(1), "rounded up"),
            ("word ".repeat(230), Some(1), "a minute"),
            ("word ".repeat(231), Some(2), "and a word"),
            ("数".repeat(400), Some(1), "a minute without spaces"),
            ("数".repeat(1_200), Some(3), "three of them"),
            (
                format!("{} {}", "word ".repeat(115), "数".repeat(200)),
                Some(1),
                "half a minute of each",
            ),
        ] {
            assert_eq!(minutes([text.as_str()]), expected, "{why}");
        }
        let both = ["word ".repeat(200), "word ".repeat(200)];
        assert_eq!(minutes(both.iter().map(String::as_str)), Some(2));
    }
}
