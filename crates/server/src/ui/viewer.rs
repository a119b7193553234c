//! The viewer of a page and their preferences.
//!
//! Language, time zone and theme are stored in three cookies, set by a form on every page. A
//! browser sends its language by itself; its zone is known only to the script, which then sets the
//! cookie.

use axum::{extract::FromRequestParts, http::request::Parts};
use cookie::Cookie;

use crate::access::{Requester, Visit};
use crate::language;
use crate::picture::figure::Frame;
use crate::ui::prelude::*;

/// Cookie with the language.
pub(crate) const LANG_COOKIE: &str = "almanack-lang";
/// Cookie with the zone, or the browser's own.
pub(crate) const ZONE_COOKIE: &str = "almanack-zone";
/// Cookie with the theme.
pub(crate) const THEME_COOKIE: &str = "almanack-theme";
/// Cookie that is `off` if keyboard shortcuts must not act.
pub(crate) const KEYS_COOKIE: &str = "almanack-keys";
/// Marks a request of the live script: parts that the script computes itself are left out.
pub(crate) const LIVE_HEADER: &str = "x-almanack-live";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theme {
    /// The browser's preference.
    System,
    Light,
    Dark,
}

impl Theme {
    pub(crate) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Its name in the cookie and in the markup.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.as_str() == text)
    }
}

/// Whether keyboard shortcuts act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    On,
    /// Off: with speech input, words are keys.
    Off,
}

/// The viewer, the page and the time.
#[derive(Debug, Clone)]
pub(crate) struct Viewer {
    /// The requester; none before sign-in.
    pub(crate) requester: Option<Requester>,
    /// Whether there is a session to end.
    pub(crate) signed_in: bool,
    /// The key that their forms must send back ([`super::form`]).
    pub(crate) form_key: String,
    pub(crate) lang: Lang,
    /// The zone of displayed times.
    pub(crate) zone: TimeZone,
    pub(crate) theme: Theme,
    /// The instant that the page shows.
    pub(crate) now: Timestamp,
    /// How many times faster than real time this node's clock runs.
    pub(crate) speed: f64,
    /// Path and query of the page.
    pub(crate) here: String,
    /// The address of this node, without a path: `http://host:port`.
    pub(crate) base: String,
    /// Whether the live script requests the page.
    pub(crate) live: bool,
    /// Whether the page answers a form, and so cannot be requested again.
    pub(crate) still: bool,
    /// Whether keyboard shortcuts are on.
    pub(crate) keys: Keys,
    /// The version to show.
    pub(crate) version: &'static str,
}

impl Viewer {
    /// A viewer before authentication.
    pub(crate) fn arriving(parts: &Parts, state: &AppState) -> Self {
        let headers = &parts.headers;
        let chosen = |name| cookie(headers, name);
        let lang = chosen(LANG_COOKIE).and_then(|tag| Lang::parse(&tag));
        let zone = chosen(ZONE_COOKIE).and_then(|name| parse_zone(&name));
        let theme = chosen(THEME_COOKIE).and_then(|name| Theme::parse(&name));
        let here = parts.uri.path_and_query();
        Self {
            requester: None,
            signed_in: false,
            form_key: String::new(),
            lang: lang.unwrap_or_else(|| language::accepted(headers)),
            zone: zone.unwrap_or(TimeZone::UTC),
            theme: theme.unwrap_or(Theme::System),
            now: state.clock.now(),
            speed: state.speed,
            here: here.map_or_else(|| "/ui".to_owned(), ToString::to_string),
            base: base(parts),
            live: headers.contains_key(LIVE_HEADER),
            still: !parts.method.is_safe(),
            keys: match chosen(KEYS_COOKIE).as_deref() {
                Some("off") => Keys::Off,
                _ => Keys::On,
            },
            version: state.version,
        }
    }

    /// The same after authentication.
    pub(crate) fn let_in(&mut self, visit: Visit) {
        self.requester = Some(visit.requester);
        self.form_key = visit.form_key;
        self.signed_in = visit.signed_in;
    }

    /// Whether they have this scope.
    pub(crate) fn may(&self, needed: Scope) -> bool {
        self.must(needed, "this").is_ok()
    }

    /// The requester, if they have this scope.
    pub(crate) fn must(&self, needed: Scope, what: &str) -> Result<&Requester> {
        let signed_out = || Problem::new(Code::Unauthenticated, both!("not signed in", "尚未登录"));
        let requester = self.requester.as_ref().ok_or_else(signed_out)?;
        requester.must(needed, what)?;
        Ok(requester)
    }

    /// The requester, for the history of a schedule.
    pub(crate) fn name(&self) -> &str {
        self.requester.as_ref().map_or("anonymous", Requester::name)
    }

    /// The origin that the history shows.
    pub(crate) fn origin(&self) -> String {
        format!("ui:{}", self.name())
    }

    pub(crate) fn zone_name(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// The frame of a picture, for this reader.
    pub(crate) fn frame<'a>(&'a self, id: &'a str, caption: &'a str) -> Frame<'a> {
        Frame {
            id,
            caption,
            lang: self.lang,
            zone: &self.zone,
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Viewer {
    type Rejection = Problem;

    /// Refuses if authentication was skipped.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let viewer = parts.extensions.get::<Self>().cloned();
        viewer.ok_or_else(|| {
            Problem::new(
                Code::Internal,
                both!(
                    "this page has no authentication layer",
                    "此页面没有身份验证层"
                ),
            )
        })
    }
}

/// The value of a cookie.
pub(crate) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).into_iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(Cookie::split_parse)
        .filter_map(Result::ok)
        .find(|cookie| cookie.name() == name)
        .map(|cookie| cookie.value().to_owned())
}

/// Zones are IANA names; a cookie may contain anything.
pub(crate) fn parse_zone(name: &str) -> Option<TimeZone> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/_+-".contains(c);
    let fits = name.len() <= 64 && name.chars().all(plain);
    fits.then(|| TimeZone::get(name).ok()).flatten()
}

/// Our address as the browser knows it. Shown in commands to copy, so it must work there.
fn base(parts: &Parts) -> String {
    let header = |name: &str| parts.headers.get(name)?.to_str().ok();
    let plain = |host: &&str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || ".:-[]_".contains(c);
        !host.is_empty() && host.len() <= 255 && host.chars().all(allowed)
    };
    let host = header("host").filter(plain).unwrap_or("127.0.0.1:8080");
    let secure = header("x-forwarded-proto") == Some("https");
    let scheme = if secure { "https" } else { "http" };
    format!("{scheme}://{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others_and_may_hold_anything() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, "a=1; almanack-theme=dark".parse().unwrap());
        headers.append(
            header::COOKIE,
            "almanack-zone=Asia/Shanghai".parse().unwrap(),
        );
        assert_eq!(cookie(&headers, THEME_COOKIE).as_deref(), Some("dark"));
        assert_eq!(
            cookie(&headers, ZONE_COOKIE).as_deref(),
            Some("Asia/Shanghai")
        );
        assert_eq!(cookie(&headers, LANG_COOKIE), None);
        for nonsense in [
            "",
            "../../etc/passwd",
            "Mars/Olympus",
            "<b>",
            "Europe/Berlin;",
        ] {
            assert!(parse_zone(nonsense).is_none(), "{nonsense}");
        }
        assert!(parse_zone("Europe/Berlin").is_some());
    }
}
