//! The list itself.

use super::{KINDS, Key};

/// All keys, in the order they are shown.
pub(crate) const KEYS: &[Key] = &[
    plain("database", "url"),
    secret("database", "password"),
    plain("database", "durability"),
    plain("server", "listen"),
    plain("server", "allowed_hosts"),
    plain("node", "name"),
    plain("node", "slots"),
    plain("node", "lease"),
    plain("node", "drain"),
    plain("retry", "base"),
    plain("retry", "cap"),
    plain("retry", "retry_after_cap"),
    plain("retention", "days"),
    plain("limits", "payload_bytes"),
    plain("limits", "batch_items"),
    plain("callback", "timeout"),
    secret("callback", "secret"),
    plain(KINDS, "url"),
    plain(KINDS, "slots"),
    plain(KINDS, "slots_in_all"),
    plain(KINDS, "timeout"),
    secret(KINDS, "secret"),
    plain(KINDS, "max_retry"),
    plain(KINDS, "already_done"),
    plain("outbound", "allow"),
    plain("outbound", "contact"),
    plain("sources", "allow"),
    plain("sources", "policy"),
    plain("sources", "checks_per_day"),
    plain("sources", "floor"),
    plain("sources", "ceiling"),
    plain("sources", "interval"),
    plain("sources", "keep_days"),
    plain("sources", "keep_per_source"),
    plain("sources", "timeout"),
    plain("sources", "body_bytes"),
    Key {
        // The name that the founding setup uses.
        aliases: &["HOTNEWS_RSS_HOST_CONCURRENCY"],
        ..plain("sources", "host_concurrency")
    },
    plain("sources", "host_pace"),
    plain("schedules", "dispatch"),
    plain("schedules", "reload"),
    plain("github", "api_url"),
    Key {
        // The names that the founding setup and GitHub's own tools use.
        aliases: &["PAT", "GH_TOKEN"],
        ..secret("github", "token")
    },
    plain("command", "enabled"),
    plain("command", "programs"),
    plain("command", "directory"),
    plain("command", "environment"),
    secret("tick", "secret"),
    plain("edition", "enabled"),
    plain("edition", "schedule"),
    named(
        &["CRON_INTERVAL_MINUTES"],
        plain("edition", "interval_minutes"),
    ),
    plain("edition", "tz"),
    plain("edition", "title"),
    plain("edition", "language"),
    plain("edition", "template"),
    named(&["HN_STORY_LIMIT"], plain("edition", "stories")),
    named(&["TASK_BATCH_SIZE"], plain("edition", "batch_size")),
    plain("edition", "budget"),
    named(&["MAX_RETRY_COUNT"], plain("edition", "retries")),
    plain("edition", "retries_by_itself"),
    plain("edition", "chain"),
    plain("edition", "overdue_after"),
    plain("edition", "archive_after_days"),
    plain("edition", "keep_days"),
    named(&["SUMMARY_MAX_LENGTH"], plain("edition", "summary_length")),
    named(&["ENABLE_CONTENT_FILTER"], plain("edition", "filter")),
    named(
        &["CONTENT_FILTER_SENSITIVITY"],
        plain("edition", "filter_sensitivity"),
    ),
    named(&["LOCAL_TEST_MODE"], plain("edition", "test_mode")),
    plain("edition", "public"),
    plain("edition.source", "from"),
    plain("edition.source", "list"),
    named(
        &["HN_TIME_WINDOW_HOURS"],
        plain("edition.source", "window_hours"),
    ),
    plain("edition.source", "firebase_url"),
    plain("edition.source", "algolia_url"),
    named(&["CRAWLER_PROVIDER"], plain("edition.reader", "provider")),
    named(&["CRAWLER_API_URL"], plain("edition.reader", "crawler_url")),
    named(
        &["CRAWLER_API_TOKEN"],
        secret("edition.reader", "crawler_token"),
    ),
    plain("edition.reader", "prefix"),
    named(&["JINA_API_KEY"], secret("edition.reader", "prefix_key")),
    named(
        &["JINA_USE_KEY_ROTATION"],
        plain("edition.reader", "rotate_key"),
    ),
    named(&["LLM_PROVIDER"], plain("edition.model", "provider")),
    plain("edition.model", "base_url"),
    plain("edition.model", "name"),
    secret("edition.model", "key"),
    plain("edition.model", "concurrency"),
    plain("edition.model", "timeout"),
    named(
        &["LLM_DEEPSEEK_MODEL"],
        plain("edition.model.deepseek", "name"),
    ),
    named(
        &["LLM_DEEPSEEK_API_KEY"],
        secret("edition.model.deepseek", "key"),
    ),
    named(
        &["LLM_OPENROUTER_MODEL"],
        plain("edition.model.openrouter", "name"),
    ),
    named(
        &["LLM_OPENROUTER_API_KEY"],
        secret("edition.model.openrouter", "key"),
    ),
    named(
        &["LLM_OPENROUTER_SITE_URL"],
        plain("edition.model.openrouter", "site_url"),
    ),
    named(
        &["LLM_OPENROUTER_SITE_NAME"],
        plain("edition.model.openrouter", "site_name"),
    ),
    named(&["LLM_ZHIPU_MODEL"], plain("edition.model.zhipu", "name")),
    named(&["LLM_ZHIPU_API_KEY"], secret("edition.model.zhipu", "key")),
    named(&["GITHUB_ENABLED"], plain("edition.github", "enabled")),
    named(&["GITHUB_TOKEN"], secret("edition.github", "token")),
    named(&["TARGET_REPO"], plain("edition.github", "repository")),
    named(&["TARGET_BRANCH"], plain("edition.github", "branch")),
    plain("edition.github", "path"),
    named(&["TELEGRAM_ENABLED"], plain("edition.telegram", "enabled")),
    named(&["TELEGRAM_BOT_TOKEN"], secret("edition.telegram", "token")),
    named(&["TELEGRAM_CHANNEL_ID"], plain("edition.telegram", "chat")),
    named(
        &["TELEGRAM_BATCH_SIZE"],
        plain("edition.telegram", "batch_size"),
    ),
    plain("edition.telegram", "on_unknown"),
    plain("edition.telegram", "on_revision"),
    plain("edition.telegram", "api_url"),
    plain("edition.directory", "path"),
    plain("edition.directory", "file"),
    plain("edition.webhook", "url"),
    secret("edition.webhook", "secret"),
    plain("alerts.webhook", "url"),
    secret("alerts.webhook", "secret"),
    secret("alerts.telegram", "token"),
    plain("alerts.telegram", "chat"),
    plain("alerts.telegram", "api_url"),
    plain("log", "format"),
    plain("log", "level"),
];

const fn plain(section: &'static str, name: &'static str) -> Key {
    Key {
        section,
        name,
        secret: false,
        aliases: &[],
    }
}

const fn secret(section: &'static str, name: &'static str) -> Key {
    Key {
        section,
        name,
        secret: true,
        aliases: &[],
    }
}

/// The same key, known by these variables of the founding documents too.
const fn named(aliases: &'static [&'static str], key: Key) -> Key {
    Key { aliases, ..key }
}
