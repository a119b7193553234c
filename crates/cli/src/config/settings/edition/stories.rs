//! `[edition.source]`: where stories come from (ED-33).

use almanack_adapters::hacker_news::{ALGOLIA_URL, FIREBASE_URL, List, Settings};

use super::super::{prelude::*, subscription::category};

sections! { StoryKeys }

/// Where stories come from.
#[derive(Debug, Clone)]
pub(crate) enum Stories {
    HackerNews(Box<Settings>),
    /// Entries of the configured sources.
    Entries(Entries),
    /// Both, as one list.
    Both(Box<Settings>, Entries),
}

/// Which entries.
#[derive(Debug, Clone)]
pub(crate) struct Entries {
    pub(crate) category: Option<String>,
    pub(crate) sources: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) window: SignedDuration,
}

impl Stories {
    /// Hacker News, if stories are from there.
    pub(crate) fn hacker_news(&self) -> Option<&Settings> {
        match self {
            Self::HackerNews(settings) | Self::Both(settings, _) => Some(settings),
            Self::Entries(_) => None,
        }
    }

    /// Entries, if stories are made of them.
    pub(crate) fn entries(&self) -> Option<&Entries> {
        match self {
            Self::Entries(entries) | Self::Both(_, entries) => Some(entries),
            Self::HackerNews(_) => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    HackerNews,
    Entries,
    Both,
}

words! {
    From { "hacker-news" = Self::HackerNews, "entries" = Self::Entries, "both" = Self::Both }
    List { "best" = Self::Best, "day" = Self::Day }
}

/// A public address that may be shown.
fn public_address() -> Form<String> {
    Form::new(Shape::Text, |raw| value::web_address(raw).map(String::from))
}

settings! {
    /// Where stories come from.
    struct StoryKeys in "edition.source" {
        /// Where stories come from: `hacker-news`, `entries` of the configured sources, or `both`.
        /// 文章来源：`hacker-news`、已配置源的 `entries`，或两者 `both`。
        from: From = choice().default(From::HackerNews);
        /// Only `entries` of sources in this category and below it.
        /// 仅取该分类及其下级的源的 `entries`。
        category: Option<String> = text_as(category).unset("(all)");
        /// Only `entries` of the sources of these names.
        /// 仅取这些名称的源的 `entries`。
        sources: Vec<String> = texts(|text| Ok(text.to_owned())).default(Vec::new());
        /// Only `entries` that their publishers gave one of these tags.
        /// 仅取发布者标有其中某个标签的 `entries`。
        tags: Vec<String> = texts(|text| Ok(text.to_owned())).default(Vec::new());
        /// List of Hacker News: `best`, or the best of the `day`.
        /// Hacker News 的列表：`best`，或当天最佳 `day`。
        list: List = choice().default(List::default());
        /// Maximum age of a story, in hours: of the best list, and of `entries`.
        /// 文章的最大时长（小时），适用于最佳列表和 `entries`。
        window_hours: u32 = count(1..=168).default(24).also(&["HN_TIME_WINDOW_HOURS"]);
        /// Base address of the Hacker News lists.
        /// Hacker News 列表的基础地址。
        firebase_url: String = public_address().default(FIREBASE_URL.to_owned());
        /// Base address of the Hacker News search.
        /// Hacker News 搜索的基础地址。
        algolia_url: String = public_address().default(ALGOLIA_URL.to_owned());
    }
}

pub(super) fn read(reader: &mut Reader<'_>) -> Stories {
    let read = StoryKeys::read(reader);
    if read.from == From::HackerNews {
        let names: &[&str] = &["category", "sources", "tags"];
        let needed = "from = \"entries\" or \"both\"";
        let hint = "stories of Hacker News have no source, category or tag";
        reader.without_effect(Severity::Warning, StoryKeys::NAME, (names, needed), hint);
    }
    let window = hours(i64::from(read.window_hours));
    let entries = Entries {
        category: read.category,
        sources: read.sources,
        tags: read.tags,
        window,
    };
    let hacker_news = Box::new(Settings {
        list: read.list,
        window,
        firebase_url: read.firebase_url,
        algolia_url: read.algolia_url,
        ..Settings::default()
    });
    match read.from {
        From::Entries => Stories::Entries(entries),
        From::HackerNews => Stories::HackerNews(hacker_news),
        From::Both => Stories::Both(hacker_news, entries),
    }
}
