//! Categories: folders in folders, written as one text.
//!
//! Folders are joined by `/`. A folder's own name may contain one: it is then written `\/`, and a
//! backslash `\\`. INVARIANT: [`folders`] reads back what [`join`] wrote, so a list that was
//! imported is exported with the same folders.

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

    proptest! {
        #[test]
        fn what_is_joined_reads_back(names in prop::collection::vec(r"[a-z/\\ ]{1,6}", 0..5)) {
            let category = join(names.iter().map(String::as_str));
            prop_assert_eq!(folders(&category), names);
        }
    }
}
