//! Categories: the folders that people put sources in, joined by `/`.
//!
//! A filter names a folder and means everything in it, at any depth, by whole names: `news` holds
//! `news` and `news/coast`, but not `newsletters`. The store compares in SQL (`store::category`),
//! events compare here; a conformance test keeps the two equal.

/// The one way to write a filter: without blanks and slashes around it; `None` for no filter.
pub fn folder(text: &str) -> Option<String> {
    let text = text.trim().trim_matches('/');
    (!text.is_empty()).then(|| text.to_owned())
}

/// Whether a source of this category is in this folder.
pub fn is_within(category: &str, folder: &str) -> bool {
    let rest = category.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ss_24_a_folder_holds_what_is_below_it_by_whole_names() {
        for (category, folder, expected) in [
            ("news", "news", true),
            ("news/coast", "news", true),
            ("news/coast/ferries", "news/coast", true),
            ("newsletters", "news", false),
            ("news/coastal", "news/coast", false),
            ("news", "news/coast", false),
            ("News", "news", false),
            ("", "news", false),
            ("新闻/本地", "新闻", true),
            ("新闻网", "新闻", false),
        ] {
            assert_eq!(
                is_within(category, folder),
                expected,
                "{category} in {folder}"
            );
        }
    }

    #[test]
    fn ss_24_a_folder_is_written_one_way() {
        for (text, expected) in [
            ("news", Some("news")),
            (" /news/coast/ ", Some("news/coast")),
            ("", None),
            (" / ", None),
        ] {
            assert_eq!(folder(text).as_deref(), expected, "{text}");
        }
    }
}
