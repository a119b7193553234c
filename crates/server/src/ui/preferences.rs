//! Language, zone and theme, as the reader chooses.

use cookie::{Cookie, SameSite, time::Duration};

use super::viewer::{KEYS_COOKIE, Keys, LANG_COOKIE, THEME_COOKIE, Theme, ZONE_COOKIE, parse_zone};
use crate::ui::prelude::*;

/// Suggested zones; any other can be typed.
const ZONES: [&str; 12] = [
    "UTC",
    "Asia/Shanghai",
    "Asia/Tokyo",
    "Asia/Singapore",
    "Asia/Kolkata",
    "Europe/London",
    "Europe/Berlin",
    "America/New_York",
    "America/Chicago",
    "America/Los_Angeles",
    "America/Sao_Paulo",
    "Australia/Sydney",
];

#[derive(Debug, Deserialize)]
pub(crate) struct Choice {
    lang: Option<String>,
    zone: Option<String>,
    theme: Option<String>,
    keys: Option<String>,
    back: Option<String>,
}

/// The menu on every page.
pub(crate) fn menu(viewer: &Viewer) -> Markup {
    let lang = viewer.lang;
    let themes = Theme::ALL.map(|theme| (theme.as_str(), theme_name(theme, lang)));
    let keys = [
        ("on", lang.pick("On", "开")),
        ("off", lang.pick("Off", "关")),
    ];
    let chosen = if viewer.keys == Keys::Off {
        "off"
    } else {
        "on"
    };
    let fields = html! {
        input type="hidden" name="back" value=(viewer.here);
        label { (lang.pick("Language", "语言"))
            select name="lang" {
                @for choice in Lang::ALL {
                    option value=(choice.tag()) lang=(choice.tag()) selected[choice == lang] { (choice.own_name()) }
                }
            }
        }
        (Field::zone("zone", lang.pick("Time zone", "时区"), viewer.zone_name()))
        datalist id="zones" { @for zone in ZONES { option value=(zone) {} } }
        (choice("theme", lang.pick("Theme", "主题"), Some(viewer.theme.as_str()), themes))
        (choice("keys", lang.pick("Keyboard shortcuts", "快捷键"), Some(chosen), keys))
        button type="submit" { (lang.pick("Apply", "应用")) }
    };
    html! {
        details class="menu" {
            summary { (lang.pick("View", "显示")) }
            (form(viewer, "/ui/preferences", &fields))
        }
    }
}

fn theme_name(theme: Theme, lang: Lang) -> &'static str {
    words! { lang, theme;
        Theme::System => "System", "跟随系统";
        Theme::Light => "Light", "浅色";
        Theme::Dark => "Dark", "深色";
    }
}

/// Stores the choices in cookies and goes back.
pub(crate) async fn choose(Filled(_, _, form): Filled<Choice>) -> Answer {
    let back = form.back.as_deref().filter(|path| is_ours(path));
    let mut response = see(back.unwrap_or("/ui"));
    let mut keep = |name: &'static str, value: String| {
        let line = Cookie::build((name, value))
            .path("/")
            .same_site(SameSite::Lax)
            .max_age(Duration::days(365))
            .to_string();
        let line = HeaderValue::try_from(line).ok();
        let headers = response.headers_mut();
        line.map(|line| headers.append(header::SET_COOKIE, line));
    };
    if let Some(lang) = form.lang.as_deref().and_then(Lang::parse) {
        keep(LANG_COOKIE, lang.tag().to_owned());
    }
    if let Some(theme) = form.theme.as_deref().and_then(Theme::parse) {
        keep(THEME_COOKIE, theme.as_str().to_owned());
    }
    if let Some(keys) = form
        .keys
        .filter(|keys| ["on", "off"].contains(&keys.as_str()))
    {
        keep(KEYS_COOKIE, keys);
    }
    if let Some(zone) = form.zone {
        parse_zone(&zone).ok_or_else(|| unknown_zone(&zone))?;
        keep(ZONE_COOKIE, zone);
    }
    Ok(response)
}

/// The error for an unknown zone.
pub(crate) fn unknown_zone(zone: &str) -> Problem {
    let shown: String = zone.chars().take(64).collect();
    let detail = both!(
        "unknown time zone `{shown}`; use an IANA name such as Europe/Berlin or UTC",
        "未知的时区 `{shown}`；请使用 IANA 名称，如 Europe/Berlin 或 UTC"
    );
    Problem::new(Code::InvalidValue, detail)
}

/// Whether a path leads to our own page, and not by `//` to another host.
pub(crate) fn is_ours(path: &str) -> bool {
    path == "/ui" || path.starts_with("/ui/") || path.starts_with("/ui?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn going_back_leads_to_our_own_pages_only() {
        for (path, ours) in [
            ("/ui", true),
            ("/ui/tasks?status=FAIL", true),
            ("/ui?x", true),
            ("//evil.example", false),
            ("https://evil.example/ui", false),
            ("/uievil", false),
            ("/editions", false),
            ("", false),
        ] {
            assert_eq!(is_ours(path), ours, "{path}");
        }
    }
}
