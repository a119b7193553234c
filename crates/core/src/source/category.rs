//! Categories: folders in folders, written as one text.
//!
//! Folders are joined by `/`. A folder's own name may contain one: it is then written `\/`, and a
//! backslash `\\`. INVARIANT: [`folders`] reads back what [`join`] wrote, so a list that was
//! imported is exported with the same folders.
//!
//! A filter names a folder and means everything in it, at any depth, by whole names: `news` holds
//! `news` and `news/coast`, but not `newsletters`. The store compares in SQL (`store::category`),
//! events compare here; a conformance test keeps the two equal.

/// The folders of a category, outermost first; none at the top. Empty names count for nothing.
pub fn folders(category: &str) -> Vec<String> {
    let (mut folders, mut folder) = (Vec::new(), String::new());
    let mut chars = category.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('/', _) => folders.push(std::mem::take(&mut folder)),
            ('\\', Some('/' | '\\')) => folder.extend(chars.next()),
            (char, _) => folder.push(char),
        }
    }
    folders.push(folder);
    folders.retain(|folder| !folder.is_empty());
    folders
}

/// A category of these folders, outermost first.
pub fn join<'a>(folders: impl IntoIterator<Item = &'a str>) -> String {
    let escaped = folders
        .into_iter()
        .map(|folder| folder.replace('\\', "\\\\").replace('/', "\\/"));
    escaped.collect::<Vec<_>>().join("/")
}

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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn folders_are_read_as_they_are_written() {
        for (category, expected) in [
            ("", &[][..]),
            ("News", &["News"]),
            ("News/World", &["News", "World"]),
            ("/News//World/", &["News", "World"]),
            (r"TV\/Radio/BBC", &["TV/Radio", "BBC"]),
            (r"C:\\temp", &[r"C:\temp"]),
            // A backslash before anything else is one.
            (r"C:\temp", &[r"C:\temp"]),
            ("end\\", &["end\\"]),
        ] {
            assert_eq!(folders(category), expected, "{category}");
        }
    }

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

    proptest! {
        #[test]
        fn what_is_joined_reads_back(names in prop::collection::vec(r"[a-z/\\ ]{1,6}", 0..5)) {
            let category = join(names.iter().map(String::as_str));
            prop_assert_eq!(folders(&category), names);
        }
    }
}
