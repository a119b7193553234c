//! The filter of a source list, in its address.
//!
//! The rules are the API's own ([`ListQuery`]): the page refuses what the API refuses.

use almanack_core::source::{Attention, SourceType};
use almanack_core::{source::check::FailureClass, source::policy::cadence::Cadence};

use super::words;
use crate::ui::prelude::*;
use crate::{sources::STATES, sources::list::ListQuery};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Filter {
    #[serde(flatten)]
    pub(super) asked: ListQuery,
    /// Only due sources; then only the type filter applies.
    pub(super) due: Option<String>,
    /// Code of the last action.
    #[serde(skip_serializing)]
    pub(super) did: Option<String>,
}

impl Filter {
    /// Whether any filter is set.
    pub(super) fn is_narrow(&self) -> bool {
        self.from(None) != Self::default()
    }

    /// The page's address, from its first row or from a cursor.
    pub(super) fn href(&self, cursor: Option<&str>) -> String {
        address(Place::Sources.path(), self.from(cursor))
    }

    /// The same list from its first row or from a cursor.
    fn from(&self, cursor: Option<&str>) -> Self {
        let mut filter = self.clone();
        filter.did = None;
        filter.asked.cursor = cursor.map(str::to_owned);
        filter
    }

    /// The equivalent command.
    pub(super) fn equivalent(&self) -> Equivalent {
        if self.due.is_some() {
            let call = Equivalent::call("GET", "/api/v1/sources/due");
            return call.cli(["source", "list", "--due"]);
        }
        let own = self.from(None).asked;
        let call = Equivalent::call("GET", address("/api/v1/sources", &own));
        // The command line has no filter by failure class.
        if own.failure.is_some() {
            return call;
        }
        let flags = pairs(&own).into_iter().map(|(name, value)| match &*name {
            "q" => ("containing".to_owned(), value),
            _ => (name, value),
        });
        call.listing("source", flags)
    }

    /// The filter form.
    pub(super) fn form(&self, lang: Lang) -> Markup {
        let all = || [("", lang.pick("all", "全部").to_owned())].into_iter();
        let all_or_any = || all().chain([("any", lang.pick("any", "任意").to_owned())]);
        let states = STATES.map(|name| (name, words::state_name(lang, name).to_owned()));
        let cadences = Cadence::ALL.map(|one| (one.as_str(), words::cadence(lang, one)));
        let wanted = Attention::ALL.map(|one| (one.as_str(), words::attention(lang, one).into()));
        let types = SourceType::ALL.map(|one| (one.as_str(), words::source_type(lang, one).into()));
        let failures =
            FailureClass::ALL.map(|one| (one.as_str(), words::failure(lang, one).into()));
        let asked = &self.asked;
        let name = lang.pick("Name or address contains", "名称或地址包含");
        let failed = lang.pick("Last check failed", "上次检查失败");
        html! {
            form method="get" action=(Place::Sources.path()) role="search" {
                div class="fields" {
                    (Field::search("q", name, asked.q.as_deref()).most(200))
                    (Field::text("category", lang.pick("Category", "分类"), asked.category.as_deref()).most(200))
                    (choice("state", lang.pick("State", "状态"), asked.state.as_deref(), all().chain(states)))
                    (choice("cadence", lang.pick("Cadence", "节奏"), asked.cadence.as_deref(), all().chain(cadences)))
                    (choice("attention", lang.pick("Needs attention", "需要关注"), asked.attention.as_deref(), all_or_any().chain(wanted)))
                    (choice("failure", failed, asked.failure.as_deref(), all_or_any().chain(failures)))
                    (choice("type", lang.pick("Type", "类型"), asked.source_type.as_deref(), all().chain(types)))
                    button type="submit" { (lang.pick("Show", "筛选")) }
                    @if self.is_narrow() { a class="button" href=(Place::Sources.path()) { (lang.pick("Show all", "显示全部")) } }
                }
            }
        }
    }
}
