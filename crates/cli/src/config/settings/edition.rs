//! `[edition]`: the daily digest, from its stories to its destinations.
//!
//! Editions are on as soon as any of their settings is given, in the file or by the variables of
//! the original setup. Other programs use some of those variables as well (`GITHUB_TOKEN`): these
//! turn nothing on, and are not read while editions are off. So another program's variable never
//! keeps a node from starting.

mod approval;
mod caps;
mod content;
mod destination;
mod mail;
mod model;
mod named;
mod pages;
mod post;
mod prompts;
mod quality;
mod stories;
mod ticks;

use std::{collections::BTreeMap, sync::Arc};

use almanack_adapters::{publish::post::Service, telegram::BotToken};
use almanack_core::{
    edition::{
        EditionName,
        allowance::Caps,
        delivery::OnUnknown,
        hold::OnSilence,
        port::Sensitivity,
        prompts::Prompts,
        rules::{Rules, STORIES_MAX},
    },
    secret::COVER,
};

use almanack_adapters::model::Settings as Model;
use jiff::civil::Time;

use content::Filter;
pub(crate) use content::{read_page_template, read_template};
pub(crate) use destination::{Destinations, TIMEOUT, TelegramForm};
pub(crate) use mail::Newsletter;
pub(crate) use pages::Pages;
pub(crate) use stories::{Entries, Stories};
pub(crate) use ticks::{SCHEDULE, Ticks, schedule_of};

use super::{
    super::{
        Need,
        key::{EDITION, EDITIONS, VARIABLE_PREFIX},
    },
    node::keep_for,
    prelude::*,
};

sections! { Switch; stories; pages; model; prompts; caps; quality; destination }

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
        /// Time of day at which readers expect an edition, in `tz`; it begins in time for it.
        /// 读者期待日报的时刻（按 `tz`）；日报会据此提前开始。
        ready_by: Option<Time> = text_as(approval::time_of_day).unset("(whenever it is finished)");
        /// Title of editions.
        /// 日报的标题。
        title: String = text_as(content::title).default("HackerNews Daily".to_owned());
        /// Language that editions are written in, as a tag like `en` or `zh-CN`.
        /// 日报使用的语言标签，如 `en` 或 `zh-CN`。
        language: String = text_as(content::language).default("zh-CN".to_owned());
        /// Template file of editions.
        /// 日报的模板文件。
        template: Option<PathBuf> = path().unset("(the built-in one)").beside_file();
        /// Template file of readers' pages.
        /// 读者页面的模板文件。
        page_template: Option<PathBuf> = path().unset("(the built-in one)").beside_file();
        /// Show stories' pictures on readers' pages; readers' browsers fetch them from the stories' sites.
        /// 在读者页面显示文章的图片；读者的浏览器会从文章所在网站加载它们。
        images: bool = truth().default(false);
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
        /// Days within which no story is published again; 0 allows repeats.
        /// 同一文章在多少天内不重复发布；0 表示允许重复。
        repeat_after_days: u32 = count(0..=30).default(3);
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
        /// Hold every finished edition until a person approves it.
        /// 每期日报完成后，须有人批准才会发布。
        approve: bool = truth().default(false);
        /// Time of day, in `tz`, at which `on_silence` applies to an edition that nobody approved or rejected: the next such time after it is finished, like `07:00`.
        /// 无人批准或驳回时执行 `on_silence` 的时刻（按 `tz`），取完成之后的下一个，如 `07:00`。
        approve_by: Option<Time> = text_as(approval::time_of_day).unset("(it waits for a person)");
        /// How long a finished edition waits before `on_silence` applies; instead of `approve_by`.
        /// 完成的日报等待多久后执行 `on_silence`；与 `approve_by` 二选一。
        approve_within: Option<SignedDuration> =
            duration(minutes(1), days(7)).unset("(it waits for a person)");
        /// What happens to an edition that nobody approved or rejected in time: `publish` or `drop`.
        /// 到时仍无人批准或驳回的日报：`publish`（发布）或 `drop`（放弃）。
        on_silence: OnSilence = choice().default(OnSilence::Drop);
        /// Print editions instead of publishing them.
        /// 打印日报而不发布。
        test_mode: bool = truth().default(false).also(&["LOCAL_TEST_MODE"]);
        /// Let anyone read published editions on this server without signing in.
        /// 允许任何人不登录即可在本服务器阅读已发布的日报。
        public: bool = truth().default(true);
    }
}

/// The editions of a node.
#[derive(Debug, Clone)]
pub(crate) struct Editions {
    /// The one of `[edition]`.
    pub(crate) default: DefaultEdition,
    /// Those of `[editions.NAME]` that are on.
    pub(crate) named: BTreeMap<EditionName, Edition>,
}

/// Whether there is a default edition.
#[derive(Debug, Clone)]
pub(crate) enum DefaultEdition {
    /// It is on.
    On(Box<Edition>),
    /// It is turned off.
    Off,
    /// Nothing is configured.
    Unset,
}

impl Editions {
    /// How the default one is made, if it is.
    pub(crate) fn on(&self) -> Option<&Edition> {
        match &self.default {
            DefaultEdition::On(edition) => Some(edition),
            DefaultEdition::Off | DefaultEdition::Unset => None,
        }
    }

    /// All that are made: the default one first.
    pub(crate) fn all(&self) -> impl Iterator<Item = (EditionName, &Edition)> {
        let default = self.on().map(|edition| (EditionName::default(), edition));
        let named = self.named.iter().map(|(name, edition)| (*name, edition));
        default.into_iter().chain(named)
    }

    /// Any that is made, for what is alike for all.
    pub(crate) fn any(&self) -> Option<&Edition> {
        self.all().next().map(|(_, edition)| edition)
    }

    /// Whether readers may see published editions without signing in.
    pub(crate) fn are_public(&self) -> bool {
        self.any().is_some_and(|edition| edition.keys.public)
    }

    /// Reads `[edition]` and `[editions.NAME]`.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        // What is not read while the default one is off is still inherited.
        let whole = reader.layer.clone();
        let default = DefaultEdition::read(reader);
        let layer = std::mem::replace(&mut reader.layer, whole);
        let named = named::read(reader);
        reader.layer = layer;
        let editions = Self { default, named };
        named::refuse_shared_files(reader, editions.all());
        editions
    }
}

impl DefaultEdition {
    /// Reads `[edition]`, if there is anything to be read.
    fn read(reader: &mut Reader<'_>) -> Self {
        let is_set = reader.layer.contains_key(&switch());
        if Switch::read(reader).enabled {
            warn_without_effect(reader);
            return Self::On(Box::new(Edition::read(reader, EditionName::default())));
        }
        reader.layer.retain(|path, given| {
            !(path.kind.is_none()
                && path.is_within("edition")
                && compat_variable(&given.place).is_some())
        });
        let other = |path: &KeyPath| *path != switch() && is_default(path);
        if reader.layer.keys().any(other) {
            // Only to find what is wrong with it.
            Edition::read(reader, EditionName::default());
        }
        if is_set { Self::Off } else { Self::Unset }
    }
}

/// The table of the configuration that an edition is written in.
pub(crate) fn table_of(name: EditionName) -> String {
    if name.is_default() {
        EDITION.to_owned()
    } else {
        format!("{EDITIONS}.{name}")
    }
}

/// Whether a key is one of `[edition]` itself.
fn is_default(path: &KeyPath) -> bool {
    path.kind.is_none() && path.is_within("edition")
}

fn switch() -> KeyPath {
    key("enabled")
}

/// Whether a setting of editions is given that no other program uses.
fn is_meant(reader: &Reader<'_>) -> bool {
    reader.layer.iter().any(|(path, given)| {
        is_default(path) && *path != switch() && !is_shared_variable(&given.place)
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
    /// Models that stand in for it, in this order.
    pub(crate) fallback: Vec<Model>,
    /// The prompts that they get.
    pub(crate) prompts: Arc<Prompts>,
    /// How much it may cost.
    pub(crate) caps: Caps,
    /// Where editions go, besides this server's own pages.
    pub(crate) destinations: Destinations,
    /// Services that get one post with a link, and what to do with one that may have arrived.
    pub(crate) posts: Vec<(Service, OnUnknown)>,
    /// How editions are mailed to subscribers, if they are.
    pub(crate) newsletter: Option<Newsletter>,
}

impl Edition {
    fn read(reader: &mut Reader<'_>, name: EditionName) -> Self {
        let read = EditionKeys::read_in(reader, "edition");
        let ticks = Ticks::of(reader, &read, name);
        content::check_template(reader, read.template.as_deref());
        content::check_page_template(reader, read.page_template.as_deref());
        let public = read.public;
        let (model, fallback) = model::read(reader);
        let models: Vec<Model> = model.iter().chain(&fallback).cloned().collect();
        Self {
            rules: Rules {
                approval: approval::of(reader, &read),
                quality: quality::read(reader, &read),
                ..content::rules(reader, &read, ticks.interval)
            },
            ticks,
            filter: content::filter(reader, &read),
            keys: read,
            stories: stories::read(reader),
            pages: pages::read(reader),
            caps: caps::read(reader, &models),
            prompts: Arc::new(prompts::read(reader, !models.is_empty())),
            model,
            fallback,
            destinations: Destinations::read(reader, public),
            posts: post::read_all(reader, public),
            newsletter: mail::read(reader, name),
        }
    }

    /// All models, in the order in which they are asked.
    pub(crate) fn models(&self) -> impl Iterator<Item = &Model> {
        self.model.iter().chain(&self.fallback)
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
