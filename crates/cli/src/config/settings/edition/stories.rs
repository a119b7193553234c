//! `[edition.source]`: where stories come from (ED-33).

use std::sync::Arc;

use almanack_adapters::hacker_news::{ALGOLIA_URL, FIREBASE_URL, List, Settings};

use almanack_core::{
    edition::{
        selection::{BadTopic, Selection, TOPICS_MAX, Topics},
        weight::Weights,
    },
    source::filter::{Filters, RULES_MAX},
};

use super::super::{prelude::*, sources::rule, subscription::category};

const SECTION: &str = StoryKeys::NAME;
sections! { StoryKeys }

/// Where stories come from, and which of them an edition takes.
#[derive(Debug, Clone)]
pub(crate) struct Stories {
    pub(crate) from: StoriesFrom,
    pub(crate) selection: Arc<Selection>,
}

/// Where stories come from.
#[derive(Debug, Clone)]
pub(crate) enum StoriesFrom {
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
        match &self.from {
            StoriesFrom::HackerNews(settings) | StoriesFrom::Both(settings, _) => Some(settings),
            StoriesFrom::Entries(_) => None,
        }
    }

    /// Entries, if stories are made of them.
    pub(crate) fn entries(&self) -> Option<&Entries> {
        match &self.from {
            StoriesFrom::Entries(entries) | StoriesFrom::Both(_, entries) => Some(entries),
            StoriesFrom::HackerNews(_) => None,
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
        /// Keep and block rules for stories, like `block title contains "sponsored"`.
        /// 文章的保留和屏蔽规则，如 `block title contains "sponsored"`。
        rules: Vec<String> = texts(rule).default(Vec::new());
        /// Topics of stories, like `Rust: title contains rust`; the first that fits counts.
        /// 文章的主题，如 `Rust: title contains rust`；取第一个符合的主题。
        topics: Vec<String> = texts(topic).default(Vec::new());
        /// How much sources count beside others, like `A blog=2`; Hacker News only with `both`.
        /// 各源的权重，如 `A blog=2`；Hacker News 仅在 `both` 时有效。
        weights: Vec<String> = texts(weight).default(Vec::new());
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
    let selection = Arc::new(selection(reader, &read));
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
    let from = match read.from {
        From::Entries => StoriesFrom::Entries(entries),
        From::HackerNews => StoriesFrom::HackerNews(hacker_news),
        From::Both => StoriesFrom::Both(hacker_news, entries),
    };
    Stories { from, selection }
}

/// Each line was read before, so nothing is left to be wrong with one of them.
fn selection(reader: &mut Reader<'_>, read: &StoryKeys) -> Selection {
    let lists = [
        ("rules", &read.rules, RULES_MAX),
        ("topics", &read.topics, TOPICS_MAX),
    ];
    for (key, lines, most) in lists {
        if lines.len() > most {
            let what = format!("edition.source.{key} has more than {most} lines");
            reader.refuse(
                what,
                KeyPath::plain(SECTION, key),
                "join some: `matches \"one|other\"`",
            );
        }
    }
    if read.from == From::HackerNews && !read.weights.is_empty() {
        let key = KeyPath::plain(SECTION, "weights");
        let what = "edition.source.weights has no effect: Hacker News is the only source";
        reader
            .problems
            .push(Problem::warning(what, reader.place(&key)));
    }
    Selection {
        rules: Filters::parse(&read.rules).unwrap_or_default(),
        topics: Topics::parse(&read.topics).unwrap_or_default(),
        weights: Weights::parse(&read.weights).unwrap_or_default(),
    }
}

fn topic(text: &str) -> Read<String> {
    let read = Topics::parse(&[text]);
    read.map(|_| text.to_owned()).map_err(|bad| {
        let hint = match &bad {
            BadTopic::Name => "write it like `Rust: title contains rust`",
            BadTopic::Rule(rule) => rule.hint.0,
        };
        Problem::new(format!("`{text}`: {bad}"), hint)
    })
}

fn weight(text: &str) -> Read<String> {
    let read = Weights::parse(&[text]);
    let what = |bad| format!("`{text}`: {bad}");
    let hint = "write it like `A blog=2`";
    read.map(|_| text.to_owned())
        .map_err(|bad| Problem::new(what(bad), hint))
}
