//! Messages from outside, without the names that must stay hidden (DP-15).

/// Longest message that is kept.
const MESSAGE_CHARS_MAX: usize = 300;
/// Longest message that is searched for names. Longer than what is kept: cutting first could leave
/// half a name at the end, which would not be recognised.
const MESSAGE_CHARS_READ: usize = 10_000;
/// Replaces a hidden name.
const REDACTED: &str = "***";

/// Takes every one of `names` out of `text`, whatever its case, where it is a whole word: a
/// repository called `a` must not swallow every letter a. Too much is taken out rather than too
/// little.
pub(crate) fn redact(text: &str, names: &[&str]) -> String {
    let mut text: String = text.chars().take(MESSAGE_CHARS_READ).collect();
    let mut names: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !name.is_empty())
        .collect();
    // The longest first: `news` must not break `news.yml` before it is found.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    for name in names {
        text = without(&text, name);
    }
    text.chars().take(MESSAGE_CHARS_MAX).collect()
}

fn without(text: &str, name: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let name = name.to_ascii_lowercase();
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in lower.match_indices(&name) {
        let end = at + name.len();
        let before = text[..at].chars().next_back();
        let after = text[end..].chars().next();
        let is_word = ![before, after]
            .into_iter()
            .flatten()
            .any(char::is_alphanumeric);
        if is_word {
            kept.push_str(&text[from..at]);
            kept.push_str(REDACTED);
            from = end;
        }
    }
    kept.push_str(&text[from..]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dp_15_names_are_taken_out_of_messages() {
        let names = ["acme", "news", "news.yml", "a"];
        for (message, expected) in [
            ("Not Found", "Not Found"),
            (
                "no workflow news.yml in acme/news",
                "no workflow *** in ***/***",
            ),
            ("ACME/News does not allow it", "***/*** does not allow it"),
            (
                "https://github.com/acme/news.git?a=b",
                "https://github.com/***/***.git?***=b",
            ),
            (
                "newsletter of acmeville at a glance",
                "newsletter of acmeville at *** glance",
            ),
            ("acme", "***"),
            ("", ""),
            ("Aïda a é", "Aïda *** é"),
        ] {
            assert_eq!(redact(message, &names), expected);
        }
        let long = format!("{} acme/news", "x".repeat(MESSAGE_CHARS_MAX - 4));
        assert!(
            redact(&long, &names).ends_with("x ***"),
            "cut only afterwards"
        );
        assert!(redact(&"x".repeat(100_000), &names).len() <= MESSAGE_CHARS_MAX);
    }
}
