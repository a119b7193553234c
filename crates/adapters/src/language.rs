//! The languages that Almanack itself speaks to people in.

/// In which language something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    #[default]
    English,
    Chinese,
}

impl Language {
    /// By a tag such as `zh-CN`; English for every other.
    pub fn of(tag: &str) -> Self {
        let first = tag.split(['-', '_']).next().unwrap_or_default();
        if first.eq_ignore_ascii_case("zh") {
            Self::Chinese
        } else {
            Self::English
        }
    }

    pub(crate) fn choose<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }
}
