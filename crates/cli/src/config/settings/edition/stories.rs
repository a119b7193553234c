//! `[edition.source]`: where stories come from (ED-33).

use almanack_adapters::hacker_news::{ALGOLIA_URL, FIREBASE_URL, List, Settings};

use super::super::{prelude::*, subscription::category};

sections! { StoryKeys }

/// Where stories come from.
#[derive(Debug, Clone)]
pub(crate) enum Stories {
    HackerNews(Box<Settings>),
    /// Entries of the configured sources, or of those in one category.
    Entries {
        category: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    HackerNews,
    Entries,
}

words! {
    From { "hacker-news" = Self::HackerNews, "entries" = Self::Entries }
    List { "best" = Self::Best, "day" = Self::Day }
}

/// A public address that may be shown.
fn public_address() -> Form<String> {
    Form::new(Shape::Text, |raw| value::web_address(raw).map(String::from))
}

settings! {
    /// Where stories come from.
    struct StoryKeys in "edition.source" {
        /// Where stories come from: `hacker-news`, or `entries` of the configured sources.
        /// 文章来源：`hacker-news`，或已配置源的 `entries`。
        from: From = choice().default(From::HackerNews);
        /// Only `entries` of sources in this category and below it.
        /// 仅取该分类及其下级的源的 `entries`。
        category: Option<String> = text_as(category).unset("(all)");
        /// List of Hacker News: `best`, or the best of the `day`.
        /// Hacker News 的列表：`best`，或当天最佳 `day`。
        list: List = choice().default(List::default());
        /// Maximum age of a story of the best list, in hours.
        /// 最佳列表中文章的最大时长（小时）。
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
    match read.from {
        From::Entries => Stories::Entries {
            category: read.category,
        },
        From::HackerNews => Stories::HackerNews(Box::new(Settings {
            list: read.list,
            window: hours(i64::from(read.window_hours)),
            firebase_url: read.firebase_url,
            algolia_url: read.algolia_url,
            ..Settings::default()
        })),
    }
}
