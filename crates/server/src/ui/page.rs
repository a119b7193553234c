//! The frame of every page.

use maud::DOCTYPE;

use super::viewer::{Keys, Theme};
use super::{assets, preferences};
use crate::ui::prelude::*;

/// The sections of the dashboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Today,
    Tasks,
    Schedules,
    Sources,
    Editions,
    Kinds,
    Nodes,
    Activity,
    Settings,
    /// None of them: sign-in, errors.
    Elsewhere,
}

impl Place {
    /// The sections in the navigation.
    pub(crate) const ALL: [Self; 9] = [
        Self::Today,
        Self::Tasks,
        Self::Schedules,
        Self::Sources,
        Self::Editions,
        Self::Kinds,
        Self::Nodes,
        Self::Activity,
        Self::Settings,
    ];

    pub(crate) fn path(self) -> &'static str {
        self.about().0
    }

    /// Its shortcut after `g`.
    pub(crate) fn key(self) -> Option<&'static str> {
        self.about().1
    }

    pub(crate) fn name(self, lang: Lang) -> &'static str {
        let [english, chinese] = self.about().2;
        lang.pick(english, chinese)
    }

    pub(crate) fn page(self, viewer: &Viewer, body: &Markup) -> Markup {
        page(viewer, self, self.name(viewer.lang), body)
    }

    /// Its path, its shortcut after `g`, and its name in both languages.
    fn about(self) -> (&'static str, Option<&'static str>, [&'static str; 2]) {
        match self {
            Self::Today => ("/ui", Some("h"), ["Today", "今日"]),
            Self::Tasks => ("/ui/tasks", Some("t"), ["Tasks", "任务"]),
            Self::Schedules => ("/ui/schedules", Some("s"), ["Schedules", "日程"]),
            Self::Sources => ("/ui/sources", Some("o"), ["Sources", "信源"]),
            Self::Editions => ("/ui/editions", Some("e"), ["Editions", "日报"]),
            Self::Kinds => ("/ui/kinds", Some("k"), ["Kinds", "类型"]),
            Self::Nodes => ("/ui/nodes", Some("n"), ["Nodes", "节点"]),
            Self::Activity => ("/ui/activity", Some("a"), ["Activity", "动态"]),
            Self::Settings => ("/ui/settings", Some("c"), ["Settings", "设置"]),
            Self::Elsewhere => ("/ui", None, ["Almanack", "Almanack"]),
        }
    }
}

/// The content security policy: our own style and script, and nothing else.
pub(crate) static POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// A complete page. `body` follows the heading.
pub(crate) fn page(viewer: &Viewer, place: Place, title: &str, body: &Markup) -> Markup {
    let lang = viewer.lang;
    html! {
        (DOCTYPE)
        html lang=(lang.tag()) data-theme=[theme(viewer.theme)] data-now=(viewer.now.as_millisecond()) data-speed=(viewer.speed)
          data-still[viewer.still] data-keys=[(viewer.keys == Keys::Off).then_some("off")] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { (title) " · Almanack" }
                link rel="icon" type="image/svg+xml" href=(*assets::ICON);
                link rel="stylesheet" href=(*assets::STYLE);
                script defer src=(*assets::SCRIPT) {}
            }
            body {
                a class="skip" href="#main" { (lang.pick("Skip to content", "跳到正文")) }
                (top(viewer, place))
                (stale(lang))
                main id="main" tabindex="-1" {
                    h1 { (title) }
                    (body)
                }
                (foot(viewer))
                @if viewer.requester.is_some() { (palette(lang)) }
                (keys(lang))
            }
        }
    }
}

fn theme(theme: Theme) -> Option<&'static str> {
    (theme != Theme::System).then(|| theme.as_str())
}

fn top(viewer: &Viewer, place: Place) -> Markup {
    let lang = viewer.lang;
    html! {
        header class="top" {
            a class="brand" href="/ui" { (assets::mark()) "Almanack" }
            @if viewer.requester.is_some() {
                nav aria-label=(lang.pick("Pages", "页面")) {
                    @for way in Place::ALL {
                        a href=(way.path()) aria-current=[(way == place).then_some("page")]
                          data-key=[way.key()] title=[way.key().map(|key| format!("g {key}"))] { (way.name(lang)) }
                    }
                }
            }
            div class="tools" {
                @if viewer.requester.is_some() {
                    (search(lang))
                    button type="button" id="live" hidden aria-pressed="false"
                        data-on=(lang.pick("Live", "实时"))
                        data-off=(lang.pick("Paused", "已暂停"))
                        data-lost=(lang.pick("Disconnected", "未连接")) {}
                }
                (preferences::menu(viewer))
                (whom(viewer))
            }
        }
    }
}

/// The way to the search over everything; the script opens the palette instead.
fn search(lang: Lang) -> Markup {
    let name = lang.pick("Search", "搜索");
    html! {
        form id="find" action=(super::search::PATH) role="search" aria-label=(lang.pick("Everything", "全部内容")) {
            input type="search" name="q" aria-label=(name) placeholder=(name) autocomplete="off" spellcheck="false";
            button type="submit" title={ (name) " (Ctrl K)" } aria-label=(name) { "⌕" }
        }
    }
}

/// The search over everything under keys; the script fills it from the page of the search.
fn palette(lang: Lang) -> Markup {
    let name = lang.pick("Search everything", "搜索全部内容");
    html! {
        dialog id="palette" aria-label=(name) {
            input type="text" role="combobox" aria-label=(name) aria-controls="hits" aria-expanded="false" aria-autocomplete="list"
                autocomplete="off" spellcheck="false" maxlength="200"
                placeholder=(lang.pick("Task, schedule, source, setting, action…", "任务、日程、信源、设置、操作……"));
            p role="status" class="empty" {}
            div id="hits" role="listbox" aria-label=(lang.pick("Results", "结果")) hidden {}
        }
    }
}

/// What the script shows while the page is not kept up to date.
fn stale(lang: Lang) -> Markup {
    let text = lang.pick(
        "Disconnected: this page may be out of date. Last updated:",
        "连接已断开：本页内容可能已过时。最近更新：",
    );
    html! { p id="stale" class="warning" hidden data-text=(text) { span aria-live="polite" {} " " span class="age" {} } }
}

fn whom(viewer: &Viewer) -> Markup {
    html! {
        @if let Some(requester) = viewer.requester.as_ref().filter(|_| viewer.signed_in) {
            (super::form::form(viewer, "/ui/sign-out", &html! {
                span class="who" { (requester.name()) " (" (requester.scope()) ")" }
                button type="submit" class="quiet" { (viewer.lang.pick("Sign out", "退出")) }
            }))
        }
    }
}

fn foot(viewer: &Viewer) -> Markup {
    let (lang, zone) = (viewer.lang, viewer.zone_name());
    // Unknown clients need not know which version it is.
    let version = viewer.requester.as_ref().map(|_| viewer.version);
    html! {
        footer {
            p {
                "Almanack" @if let Some(version) = version { " " (version) } " · "
                (say!(lang, "times in {zone}", "时间按 {zone} 显示"))
                " · " a href="/ui/api" { "API" }
                " · " button type="button" class="quiet" id="show-keys" hidden { (lang.pick("Shortcuts", "快捷键")) " " kbd { "?" } }
            }
        }
    }
}

/// The keyboard shortcuts; the script shows them at `?`.
fn keys(lang: Lang) -> Markup {
    let others = options! { lang;
        "Ctrl+K /" => "search everything", "搜索全部内容";
        "f" => "filter this list", "筛选本列表";
        "j k ↓ ↑" => "next or previous row", "下一行或上一行";
        "o Enter" => "open the row", "打开该行";
        "x" => "select the row", "选择该行";
        "p" => "pause or resume live updates", "暂停或继续实时更新";
        "?" => "this list", "显示本列表";
        "Esc" => "close", "关闭";
    };
    html! {
        dialog id="keys" aria-labelledby="keys-title" {
            h2 id="keys-title" { (lang.pick("Shortcuts", "快捷键")) }
            dl {
                @for place in Place::ALL {
                    @if let Some(key) = place.key() {
                        div { dt { kbd { "g" } " " kbd { (key) } } dd { (place.name(lang)) } }
                    }
                }
                @for (key, what) in others {
                    div { dt { @for key in key.split(' ') { kbd { (key) } " " } } dd { (what) } }
                }
            }
            form method="dialog" { button { (lang.pick("Close", "关闭")) } }
        }
    }
}
