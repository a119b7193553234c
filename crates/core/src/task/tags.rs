//! Tags: a few words by which people find tasks again.

use serde::Serialize;

use super::Invalid;

/// Most tags of one task. Each is a row of an index, so there are few.
pub const TAGS_MAX: usize = 8;
/// Longest tag, in bytes.
pub const TAG_BYTES_MAX: usize = 64;

/// The tags of a task: sorted, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = Vec<String>))]
#[serde(transparent)]
pub struct Tags(Vec<String>);

impl Tags {
    /// Without any.
    pub const NONE: Self = Self(Vec::new());

    /// Accepts tags or says which rule one breaks.
    pub fn parse<T: AsRef<str>>(given: &[T]) -> Result<Self, Invalid> {
        let mut tags = given
            .iter()
            .map(|tag| parse_tag(tag.as_ref()))
            .collect::<Result<Vec<String>, Invalid>>()?;
        tags.sort();
        tags.dedup();
        if tags.len() > TAGS_MAX {
            return Err(Invalid::Tags(tags.len()));
        }
        Ok(Self(tags))
    }

    /// Each, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All in one text, as the store keeps them: no tag contains a blank.
    pub fn as_text(&self) -> String {
        self.0.join(" ")
    }

    /// Reads what [`Tags::as_text`] wrote.
    pub fn from_text(text: &str) -> Self {
        Self(text.split_ascii_whitespace().map(str::to_owned).collect())
    }
}

/// Accepts one tag or says which rule it breaks.
pub fn parse_tag(given: &str) -> Result<String, Invalid> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
    if (1..=TAG_BYTES_MAX).contains(&given.len()) && given.chars().all(is_plain) {
        Ok(given.to_owned())
    } else {
        let given = given.chars().take(TAG_BYTES_MAX).collect();
        Err(Invalid::Tag { given })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_few_plain_words() {
        let long = "x".repeat(TAG_BYTES_MAX + 1);
        let longest = "x".repeat(TAG_BYTES_MAX);
        for (tag, fits) in [
            ("tenant-9", true),
            ("a.b:c-1", true),
            ("a_b", true),
            (longest.as_str(), true),
            (long.as_str(), false),
            ("", false),
            ("two words", false),
            ("a,b", false),
            ("über", false),
            ("a\0", false),
        ] {
            assert_eq!(Tags::parse(&[tag]).is_ok(), fits, "{tag}");
        }
        let many: Vec<String> = (0..=TAGS_MAX).map(|n| format!("t{n}")).collect();
        assert_eq!(Tags::parse(&many), Err(Invalid::Tags(TAGS_MAX + 1)));
        assert!(Tags::parse(&many[1..]).is_ok());
    }

    #[test]
    fn tags_are_a_set_and_read_as_they_are_written() {
        let tags = Tags::parse(&["nightly", "a", "nightly"]).unwrap();
        assert_eq!(tags.iter().collect::<Vec<_>>(), ["a", "nightly"]);
        assert_eq!(Tags::from_text(&tags.as_text()), tags);
        assert_eq!(Tags::from_text(""), Tags::NONE);
    }
}
