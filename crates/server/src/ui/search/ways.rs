//! Pages and actions: what can be found on every node, whatever is stored.

use super::find::{Hit, HitType};
use crate::ui::prelude::*;

/// A page or an action: its type, its titles, where it is, what it needs, and other words for it.
#[derive(Clone, Copy)]
struct Way(
    HitType,
    [&'static str; 2],
    &'static str,
    Scope,
    &'static str,
);

macro_rules! ways {
    ($($of:ident $needs:ident $page:literal $english:literal, $chinese:literal, $others:literal;)*) => {
        &[$(Way(HitType::$of, [$english, $chinese], $page, Scope::$needs, $others)),*]
    };
}

const WAYS: &[Way] = ways! {
    Action Operate "/ui/tasks/new" "New task", "新建任务", "create put add";
    Action Operate "/ui/schedules/new" "New schedule", "新建日程", "create put add cron";
    Action Operate "/ui/schedules/new?target=ping" "New monitor", "新建监控", "create put add ping";
    Action Operate "/ui/sources/add" "Add a source", "添加信源", "new create feed rss";
    Action Operate "/ui/sources/opml" "Import sources (OPML)", "导入信源（OPML）", "add list";
    Action Operate "/ui/kinds" "Pause or resume a kind", "暂停或恢复某个类型", "hold stop";
    Action Admin "/ui/settings#tokens-title" "New token", "新建令牌", "create api";
    Page Read "/ui/schedules/try" "Try an expression", "试写表达式", "cron next explain";
    Page Read "/ui/monitors" "Monitors", "监控", "ping healthchecks";
    Page Read "/ui/radar" "Radar", "负载雷达", "load herd spread";
    Page Read "/ui/tasks/changes" "Bulk changes", "批量更改", "cancel retry move";
    Page Read "/ui/entries" "Entries", "条目", "articles items";
    Page Read "/ui/sources/courtesy" "Courtesy report", "礼貌报告", "hosts requests";
    Page Read "/ui/editions/subscribers" "Newsletter", "邮件订阅", "mail subscribers";
    Page Read "/api/docs" "API reference", "API 参考", "http openapi";
};

/// Those that contain all words of a text, in either language, and that this scope may use.
pub(super) fn find(lang: Lang, scope: Scope, text: &str) -> Vec<Hit> {
    let places = Place::ALL.map(|place| {
        let titles = Lang::ALL.map(|lang| place.name(lang));
        Way(HitType::Page, titles, place.path(), Scope::Read, "")
    });
    let fits = |Way(_, titles, _, needs, others): &Way| {
        scope >= *needs && holds(&[titles[0], titles[1], others], text)
    };
    let all = places.into_iter().chain(WAYS.iter().copied());
    let mut found: Vec<Way> = all.filter(fits).collect();
    // Pages first, as they are listed in the navigation.
    found.sort_by_key(|Way(of, ..)| *of == HitType::Action);
    let hit = |Way(of, titles, page, ..): Way| Hit::new(of, lang.pick(titles[0], titles[1]), page);
    found.into_iter().map(hit).collect()
}

/// Whether texts contain all words of another one between them, ignoring ASCII case.
pub(super) fn holds(texts: &[&str], words: &str) -> bool {
    let lower = words.to_ascii_lowercase();
    let has = |word: &str| {
        texts
            .iter()
            .any(|text| text.to_ascii_lowercase().contains(word))
    };
    lower.split_whitespace().all(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(scope: Scope, text: &str) -> Vec<String> {
        let found = find(Lang::English, scope, text);
        found.into_iter().map(|hit| hit.title).collect()
    }

    #[test]
    fn ways_are_found_in_either_language_and_only_by_those_who_may() {
        for (scope, text, expected) in [
            (Scope::Read, "sched", &["Schedules"][..]),
            (Scope::Operate, "sched", &["Schedules", "New schedule"]),
            (Scope::Operate, "schedule new", &["New schedule"]),
            (Scope::Operate, "日程", &["Schedules", "New schedule"]),
            (
                Scope::Operate,
                "cron",
                &["Try an expression", "New schedule"],
            ),
            (Scope::Operate, "new token", &[]),
            (Scope::Admin, "new token", &["New token"]),
            (Scope::Admin, "nothing like it", &[]),
        ] {
            assert_eq!(titles(scope, text), expected, "{text} as {scope}");
        }
        assert_eq!(
            titles(Scope::Admin, "").len(),
            Place::ALL.len() + WAYS.len()
        );
    }
}
