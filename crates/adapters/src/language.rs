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

    /// How long something takes to read.
    pub(crate) fn reading_time(self, minutes: u32) -> String {
        self.choose(
            format!("{minutes} min read"),
            format!("约 {minutes} 分钟读完"),
        )
    }

    /// Points and number of comments, as far as they are known.
    pub(crate) fn standing(self, points: Option<i64>, comments: Option<u32>) -> Option<String> {
        let points = points.map(|points| {
            let noun = if points == 1 { "point" } else { "points" };
            self.choose(format!("{points} {noun}"), format!("{points} 分"))
        });
        let known: Vec<String> = points
            .into_iter()
            .chain(comments.map(|it| self.comment_count(it)))
            .collect();
        (!known.is_empty()).then(|| known.join(" · "))
    }

    pub(crate) fn comment_count(self, comments: u32) -> String {
        let noun = if comments == 1 { "comment" } else { "comments" };
        self.choose(format!("{comments} {noun}"), format!("{comments} 条评论"))
    }

    /// The text in this language.
    pub fn choose<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }
}
