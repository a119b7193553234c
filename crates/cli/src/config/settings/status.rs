//! `[status_page]`: what everybody may see.

use almanack_core::{
    edition::EditionName,
    plan::{ScheduleName, is_tag},
};

use super::prelude::*;

sections! { StatusPage }

settings! {
    /// A public page with the uptime of chosen schedules, monitors and editions.
    pub(crate) struct StatusPage in "status_page" {
        /// Whether `/status`, `/status.json` and `/status/badge/` answer, to everybody, without sign-in.
        /// 是否让任何人无需登录即可访问 `/status`、`/status.json` 和 `/status/badge/`。
        enabled: bool = truth().default(false);
        /// Heading of the page.
        /// 页面标题。
        title: Option<String> = text_as(title).unset("(Status)");
        /// Schedules and monitors to show, by name; at most 50 are shown.
        /// 按名称列出要显示的日程和监控；最多显示 50 个。
        schedules: Vec<ScheduleName> = texts(schedule).default(Vec::new());
        /// Show all schedules and monitors that have one of these tags.
        /// 显示带有其中任一标签的所有日程和监控。
        tags: Vec<String> = texts(tag).default(Vec::new());
        /// Editions to show, by name; `default` is the one without a name.
        /// 按名称列出要显示的日报；`default` 表示未命名的日报。
        editions: Vec<EditionName> = texts(edition).default(Vec::new());
    }
}

/// The page as it is configured. A page that nobody may see, or that shows nothing, is a mistake.
pub(super) fn status_page(reader: &mut Reader<'_>) -> StatusPage {
    let read = StatusPage::read(reader);
    let shown = ["schedules", "tags", "editions"];
    if !read.enabled {
        let names = ["title", "schedules", "tags", "editions"];
        let hint = "write enabled = true to show the page to everybody";
        reader.without_effect(
            Severity::Warning,
            StatusPage::NAME,
            (&names, "enabled"),
            hint,
        );
    } else if !reader.is_given(StatusPage::NAME, &shown) {
        let place = reader.place(&KeyPath::plain(StatusPage::NAME, "enabled"));
        let hint = "name schedules, tags or editions";
        let what = "the status page shows nothing";
        reader.push(Severity::Warning, (what, place), hint);
    }
    read
}

fn title(text: &str) -> Read<String> {
    let fits = text.len() <= 100 && !text.chars().any(char::is_control);
    let what = "a title is one line of at most 100 bytes";
    fitting(text, fits, what, "for example \"Example's services\"")
}

fn schedule(text: &str) -> Read<ScheduleName> {
    let hint = "write the schedule's name, for example \"backup\"";
    ScheduleName::parse(text).map_err(|error| Problem::new(error.to_string(), hint))
}

fn tag(text: &str) -> Read<String> {
    let what = format!("no schedule can have the tag `{text}`");
    let hint = "tags are words of lower-case letters, digits, `.`, `_`, `:`, `/` and `-`";
    fitting(text, is_tag(text), what, hint)
}

fn edition(text: &str) -> Read<EditionName> {
    let hint = "write the name in [editions.NAME], or \"default\" for [edition]";
    EditionName::parse(text).map_err(|error| Problem::new(error.to_string(), hint))
}
