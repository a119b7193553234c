//! Which sources a page lists, as its address says it.
//!
//! The rules are the API's own ([`ListQuery`]): what it refuses, the page refuses.

use almanack_core::source::{Attention, SourceType};
use almanack_core::{source::check::FailureClass, source::policy::cadence::Cadence};

use super::words;
use crate::ui::prelude::*;
use crate::{sources::STATES, sources::list::ListQuery};

/// What a page of sources is asked for.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Filter {
    #[serde(rename = "type")]
    source_type: Option<String>,
    state: Option<String>,
    cadence: Option<String>,
    attention: Option<String>,
    failure: Option<String>,
    q: Option<String>,
    cursor: Option<String>,
    /// Those whose time has come, instead of all; of the others only the type counts then.
    due: Option<String>,
    /// What has just been done.
    pub(super) did: Option<String>,
}

impl Filter {
    /// Only those whose last check failed like this.
    pub(super) fn failing(class: FailureClass) -> Self {
        Self {
            failure: Some(class.as_str().to_owned()),
            ..Self::default()
        }
    }

    /// With one thing more asked for.
    pub(super) fn only(name: &str, value: &str) -> Self {
        let value = Some(value.to_owned());
        let mut filter = Self::default();
        match name {
            "state" => filter.state = value,
            "attention" => filter.attention = value,
            "failure" => filter.failure = value,
            "cadence" => filter.cadence = value,
            _ => filter.due = value,
        }
        filter
    }

    /// Whether those are asked for whose time has come.
    pub(super) fn is_due(&self) -> bool {
        self.due.is_some()
    }

    /// The type that is asked for, if it is one.
    pub(super) fn source_type(&self) -> Option<SourceType> {
        self.source_type.as_deref().and_then(SourceType::parse)
    }

    /// Whether anything narrows the list.
    pub(super) fn is_narrow(&self) -> bool {
        !self.pairs().is_empty()
    }

    /// Whether this is a later page.
    pub(super) fn is_later(&self) -> bool {
        self.cursor.is_some()
    }

    /// As the API takes it.
    pub(super) fn query(&self) -> ListQuery {
        ListQuery {
            source_type: self.source_type.clone(),
            state: self.state.clone(),
            cadence: self.cadence.clone(),
            attention: self.attention.clone(),
            failure: self.failure.clone(),
            q: self.q.clone(),
            cursor: self.cursor.clone(),
            limit: None,
        }
    }

    /// The page's address, from its first row or from a cursor.
    pub(super) fn href(&self, cursor: Option<&str>) -> String {
        let cursor = cursor.map(|cursor| ("cursor", cursor));
        address(
            Place::Sources.path(),
            self.pairs().into_iter().chain(cursor),
        )
    }

    fn pairs(&self) -> Vec<(&'static str, &str)> {
        let fields = [
            ("type", &self.source_type),
            ("state", &self.state),
            ("cadence", &self.cadence),
            ("attention", &self.attention),
            ("failure", &self.failure),
            ("q", &self.q),
            ("due", &self.due),
        ];
        let filled = fields.into_iter();
        filled
            .filter_map(|(name, value)| Some((name, value.as_deref()?)))
            .collect()
    }

    /// The same list by command.
    pub(super) fn equivalent(&self) -> Equivalent {
        if self.is_due() {
            let call = Equivalent::call("GET", "/api/v1/sources/due");
            return call.cli(&["source", "list", "--due"]);
        }
        let call = Equivalent::call("GET", address("/api/v1/sources", self.pairs()));
        // The command line does not know failures by their class.
        if self.failure.is_some() {
            return call;
        }
        let flag = |name| if name == "q" { "containing" } else { name };
        call.listing(
            "source",
            self.pairs()
                .into_iter()
                .map(|(name, value)| (flag(name), Some(value))),
        )
    }

    /// The form that narrows the list.
    pub(super) fn form(&self, lang: Lang) -> Markup {
        let all = || [("", lang.pick("all", "全部").to_owned())].into_iter();
        let all_or_any = || all().chain([("any", lang.pick("any", "任意").to_owned())]);
        let states = STATES.map(|name| (name, words::state_name(lang, name).to_owned()));
        let cadences = Cadence::ALL.map(|one| (one.as_str(), words::cadence(lang, one)));
        let wanted =
            Attention::ALL.map(|one| (one.as_str(), words::attention(lang, one).to_owned()));
        let types =
            SourceType::ALL.map(|one| (one.as_str(), words::source_type(lang, one).to_owned()));
        let failures =
            FailureClass::ALL.map(|one| (one.as_str(), words::failure(lang, one).to_owned()));
        let (name, failed) = (
            lang.pick("Name or address contains", "名称或地址包含"),
            lang.pick("Last check failed", "上次检查失败"),
        );
        html! {
            form method="get" action=(Place::Sources.path()) role="search" {
                div class="fields" {
                    (Field::search("q", name, self.q.as_deref()).most(200))
                    (choice("state", lang.pick("State", "状态"), self.state.as_deref(), all().chain(states)))
                    (choice("cadence", lang.pick("Cadence", "节奏"), self.cadence.as_deref(), all().chain(cadences)))
                    (choice("attention", lang.pick("Needs attention", "需要关注"), self.attention.as_deref(), all_or_any().chain(wanted)))
                    (choice("failure", failed, self.failure.as_deref(), all_or_any().chain(failures)))
                    (choice("type", lang.pick("Type", "类型"), self.source_type.as_deref(), all().chain(types)))
                    button type="submit" { (lang.pick("Show", "筛选")) }
                    @if self.is_narrow() { a class="button" href=(Place::Sources.path()) { (lang.pick("Show all", "显示全部")) } }
                }
            }
        }
    }
}
