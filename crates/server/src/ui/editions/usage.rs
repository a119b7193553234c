//! What models cost an edition, on its page (ED-44).

use almanack_core::edition::allowance::{Money, Usage};
use almanack_engine::editions::{Editions, Status};

use crate::ui::prelude::*;

/// What models cost on the edition's day and in its month, beside the caps; nothing where none was
/// asked and nothing is limited.
pub(super) fn show(viewer: &Viewer, editions: &Editions, status: &Status) -> Option<Markup> {
    let (lang, caps) = (viewer.lang, editions.settings.caps);
    let spending = &status.spending;
    if spending.month.requests == 0 && caps.is_none() {
        return None;
    }
    let date = status.account.edition.id.date;
    let day = (caps.tokens_per_day, caps.money_per_day);
    let month = (caps.tokens_per_month, caps.money_per_month);
    let facts = facts! { lang;
        "This day", "当日" { (line(lang, &spending.day(date), day)) }
        "This month", "当月" { (line(lang, &spending.month, month)) }
    };
    let hint = lang.pick(
        "Of all editions of this name. A request under way, or one whose answer never came, counts with the most it can cost.",
        "包括同名的所有日报。进行中或未收到答复的请求按最高可能费用计。",
    );
    Some(html! { (facts) p class="hint" { (hint) } })
}

fn line(lang: Lang, usage: &Usage, (tokens, money): (Option<u64>, Option<Money>)) -> Markup {
    let (requests, used, cost) = (usage.requests, usage.tokens(), usage.cost);
    html! {
        (say!(lang, "{used} tokens in {requests} requests", "{requests} 次请求，{used} 个令牌"))
        @if cost > Money::default() || money.is_some() {
            (say!(lang, ", cost {cost}", "，费用 {cost}"))
        }
        @if let Some(cap) = tokens { (say!(lang, "; cap: {cap} tokens", "；令牌上限 {cap}")) }
        @if let Some(cap) = money { (say!(lang, "; cap: {cap}", "；费用上限 {cap}")) }
    }
}
