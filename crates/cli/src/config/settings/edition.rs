//! `[edition]`: the daily digest, from its stories to its destinations.
//!
//! Editions are on as soon as any of their settings is given, in the file or by the variables of
//! the original setup. Other programs use some of those variables as well (`GITHUB_TOKEN`): these
//! turn nothing on, and are not read while editions are off. So another program's variable never
//! keeps a node from starting.

mod content;
mod destination;
mod model;
mod pages;
mod stories;
mod ticks;

use almanack_adapters::telegram::BotToken;
use almanack_core::{
    edition::{
        port::Sensitivity,
        rules::{Rules, STORIES_MAX},
    },
    secret::COVER,
};

use almanack_adapters::model::Settings as Model;
use content::Filter;
pub(crate) use content::read_template;
pub(crate) use destination::{Destinations, TIMEOUT};
pub(crate) use pages::Pages;
pub(crate) use stories::Stories;
pub(crate) use ticks::{SCHEDULE, Ticks};

use super::{
    super::{Need, key::VARIABLE_PREFIX},
    node::keep_for,
    prelude::*,
};

sections! { Switch; stories; pages; model; destination }

/// Variables of the original setup that other programs use, too.
const OTHERS_USE_TOO: &[&str] = &[
    "GITHUB_ENABLED",
    "GITHUB_TOKEN",
    "JINA_API_KEY",
    "LOCAL_TEST_MODE",
    "MAX_RETRY_COUNT",
    "TARGET_BRANCH",
    "TELEGRAM_BOT_TOKEN",
];

/// Variables of the original setup that change nothing, there or here, and why not.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    (
        "LLM_BATCH_SIZE",
        "edition.batch_size (or TASK_BATCH_SIZE) sets how many stories are written at once",
    ),
    ("CACHE_ENABLED", "fetched pages are kept with their edition"),
    (
        "CACHE_TTL_MINUTES",
        "fetched pages are kept with their edition; edition.keep_days sets for how long",
    ),
];

settings! {
    /// The daily digest.
    struct Switch in "edition" + EditionKeys {
        /// Produce editions.
        /// 是否制作日报。
        enabled: bool = truth().default(false)
            .depends("on as soon as any key of [edition] is set") => is_meant;
    }
}

settings! {
    pub(crate) struct EditionKeys {
        /// Minutes between two ticks.
        /// 两次 tick 之间的分钟数。
        interval_minutes: u32 = count(1..=ticks::DAY_MINUTES).default(ticks::INTERVAL_MINUTES)
            .also(&["CRON_INTERVAL_MINUTES"]);
        /// Schedule expression of the ticks.
        /// tick 的调度表达式。
        schedule: String = text().default(ticks::expression_of(ticks::INTERVAL_MINUTES))
            .depends("every `interval_minutes`") => |_| ticks::expression_of(interval_minutes);
        /// Time zone of the schedule and of the days of editions.
        /// 调度和日报日期的时区。
        tz: String = text().default("UTC".to_owned());
        /// Title of editions.
        /// 日报的标题。
        title: String = text_as(content::title).default("HackerNews Daily".to_owned());
        /// Language that editions are written in, as a tag like `en` or `zh-CN`.
        /// 日报使用的语言标签，如 `en` 或 `zh-CN`。
        language: String = text_as(content::language).default("zh-CN".to_owned());
        /// Template file of editions.
        /// 日报的模板文件。
        template: Option<PathBuf> = path().unset("(the built-in one)").beside_file();
        /// Stories per edition.
        /// 每期日报的文章数。
        stories: usize =
            count(1..=STORIES_MAX).default(Rules::default().stories).also(&["HN_STORY_LIMIT"]);
        /// Stories per batch.
        /// 每批处理的文章数。
        batch_size: usize =
            count(1..=100_000).default(Rules::default().batch_size).also(&["TASK_BATCH_SIZE"]);
        /// Requests that one tick may spend.
        /// 一次 tick 可用的请求数。
        budget: u32 = count(1..=100_000).default(Rules::default().budget);
        /// How often people may retry a failed story.
        /// 人工重试失败文章的次数上限。
        retries: u32 =
            count(0..=10).default(Rules::default().retries_max).also(&["MAX_RETRY_COUNT"]);
        /// How often a failed story is retried automatically before the edition continues without it.
        /// 失败文章自动重试的次数；之后日报不再等待它。
        retries_by_itself: u32 = count(0..=10).default(Rules::default().retries_by_itself);
        /// Continue with the next step at once instead of at the next tick.
        /// 立即继续下一步，而不是等待下一次 tick。
        chain: bool = truth().default(Rules::default().chain);
        /// Alert when an edition is not published after this time.
        /// 日报超过此时间仍未发布时告警。
        overdue_after: SignedDuration =
            duration(minutes(1), days(7)).default(Rules::default().overdue_after);
        /// Days after which a published edition is archived.
        /// 已发布的日报归档前的天数。
        archive_after_days: u32 = count(1..=36_500).default(7);
        /// Days to keep the stories of archived editions; 0 keeps them forever.
        /// 已归档日报的文章保留天数；0 表示永久保留。
        keep_days: u32 = count(0..=36_500).default(30);
        /// Maximum length of a summary, in characters.
        /// 摘要的最大字符数。
        summary_length: usize = count(50..=1_000).default(300).also(&["SUMMARY_MAX_LENGTH"]);
        /// Content filter: `off`, `low`, `medium`, `high`, or `true` with the level in `filter_sensitivity`.
        /// 内容过滤：`off`、`low`、`medium`、`high`，或 `true` 并由 `filter_sensitivity` 决定级别。
        filter: Filter = content::filter_form().default(Filter::Off).also(&["ENABLE_CONTENT_FILTER"]);
        /// Level of the content filter when `filter` is `true`.
        /// `filter` 为 `true` 时的过滤级别。
        filter_sensitivity: Sensitivity =
            choice().default(Sensitivity::Medium).also(&["CONTENT_FILTER_SENSITIVITY"]);
        /// Print editions instead of publishing them.
        /// 打印日报而不发布。
        test_mode: bool = truth().default(false).also(&["LOCAL_TEST_MODE"]);
        /// Let anyone read published editions on this server without signing in.
        /// 允许任何人不登录即可在本服务器阅读已发布的日报。
        public: bool = truth().default(true);
    }
}

/// Whether there are editions.
#[derive(Debug, Clone)]
pub(crate) enum Editions {
    /// Editions are on.
    On(Box<Edition>),
    /// Editions are turned off.
    Off,
    /// Nothing is configured.
    Unset,
}

impl Editions {
    /// How they are made, if they are.
    pub(crate) fn on(&self) -> Option<&Edition> {
        match self {
            Self::On(edition) => Some(edition),
            Self::Off | Self::Unset => None,
        }
    }

    /// Reads `[edition]`, if there is anything to be read.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let is_set = reader.layer.contains_key(&switch());
        if Switch::read(reader).enabled {
            warn_without_effect(reader);
            return Self::On(Box::new(Edition::read(reader)));
        }
        reader.layer.retain(|path, given| {
            !(path.is_within("edition") && compat_variable(&given.place).is_some())
        });
        let other = |path: &KeyPath| *path != switch() && path.is_within("edition");
        if reader.layer.keys().any(other) {
            // Only to find what is wrong with it.
            Edition::read(reader);
        }
        if is_set { Self::Off } else { Self::Unset }
    }
}

fn switch() -> KeyPath {
    key("enabled")
}

/// Whether a setting of editions is given that no other program uses.
fn is_meant(reader: &Reader<'_>) -> bool {
    reader.layer.iter().any(|(path, given)| {
        path.is_within("edition") && *path != switch() && !is_shared_variable(&given.place)
    })
}

/// `[edition]` and the sections inside it.
#[derive(Debug, Clone)]
pub(crate) struct Edition {
    /// What is written in `[edition]`.
    pub(crate) keys: EditionKeys,
    /// How editions are made.
    pub(crate) rules: Rules,
    /// When ticks come, and the time zone of days.
    pub(crate) ticks: Ticks,
    /// How much the content filter lets through; none without one.
    pub(crate) filter: Option<Sensitivity>,
    /// Where stories come from.
    pub(crate) stories: Stories,
    /// What reads their pages.
    pub(crate) pages: Pages,
    /// The model that writes; none for extractive summaries.
    pub(crate) model: Option<Model>,
    /// Where editions go, besides this server's own pages.
    pub(crate) destinations: Destinations,
}

impl Edition {
    fn read(reader: &mut Reader<'_>) -> Self {
        let read = EditionKeys::read_in(reader, "edition");
        let ticks = Ticks::of(reader, &read);
        content::check_template(reader, read.template.as_deref());
        Self {
            rules: content::rules(reader, &read, ticks.interval),
            ticks,
            filter: content::filter(reader, &read),
            keys: read,
            stories: stories::read(reader),
            pages: pages::read(reader),
            model: model::read(reader),
            destinations: Destinations::read(reader),
        }
    }

    /// How long the stories of archived editions are kept; `None` keeps them.
    pub(crate) fn keep_for(&self) -> Option<SignedDuration> {
        keep_for(self.keys.keep_days)
    }
}

/// Warns of variables that have no effect. Only commands that produce editions warn.
fn warn_without_effect(reader: &mut Reader<'_>) {
    if reader.need != Need::Everything {
        return;
    }
    let environment = reader.environment;
    let is_set = |variable: &str| environment.get(variable).is_some_and(|it| !it.is_empty());
    for (variable, why) in WITHOUT_EFFECT.iter().filter(|(name, _)| is_set(name)) {
        let place = Place::Environment {
            variable: (*variable).to_owned(),
            shown: COVER.to_owned(),
        };
        let what = format!("variable `{variable}` has no effect on editions");
        reader.push(Severity::Warning, (what, Some(place)), *why);
    }
}

fn key(name: &'static str) -> KeyPath {
    KeyPath::plain("edition", name)
}

/// The variable of the original setup that holds a value, if one does.
fn compat_variable(place: &Place) -> Option<&str> {
    match place {
        Place::Environment { variable, .. } if !variable.starts_with(VARIABLE_PREFIX) => {
            Some(variable)
        }
        _ => None,
    }
}

fn is_shared_variable(place: &Place) -> bool {
    compat_variable(place).is_some_and(|variable| OTHERS_USE_TOO.contains(&variable))
}

/// A bot's token, if it looks like one.
pub(super) fn bot_token() -> Form<BotToken> {
    kept_as(
        BotToken::parse,
        "BotFather issues it: digits, a colon, letters",
    )
}
