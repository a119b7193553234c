//! The ledger of an edition's deliveries, and what people should have heard about it.

use std::collections::BTreeSet;

use almanack_core::edition::alert::Alert;
use almanack_core::edition::delivery::{Delivery, State};

use super::words;
use crate::ui::prelude::*;

/// The ledger of the newest document.
pub(super) fn show(viewer: &Viewer, deliveries: &[Delivery]) -> Markup {
    let lang = viewer.lang;
    if deliveries.is_empty() {
        return empty(pick!(lang;
            "Nothing is to be delivered yet; or no destination is configured, and the edition is on this server's own pages only.",
            "尚无投递；或未配置发布目的地，日报仅在本服务器的页面上。"));
    }
    let head = [
        lang.pick("Destination", "发布目的地"),
        lang.pick("Part", "部分"),
        lang.pick("State", "状态"),
        lang.pick("Attempts", "尝试"),
        lang.pick("Receipt", "回执"),
        lang.pick("Detail", "说明"),
        lang.pick("Requests", "请求"),
        lang.pick("Changed", "变更时间"),
    ];
    let rows = html! { @for delivery in deliveries { (row(viewer, delivery)) } };
    let present: BTreeSet<State> = deliveries.iter().map(|delivery| delivery.state).collect();
    html! {
        (table(lang.pick("Deliveries by destination and part", "按目的地与部分的投递"), &head, &rows))
        @for state in present {
            @if let Some(told) = words::delivery_told(lang, state) {
                p class={ @if state == State::Unknown { "warning" } @else { "hint" } } { (words::delivery(lang, state)) ": " (told) }
            }
        }
    }
}

fn row(viewer: &Viewer, delivery: &Delivery) -> Markup {
    let lang = viewer.lang;
    html! {
        tr data-row id={ "delivery-" (delivery.destination) "-" (delivery.part) } {
            th scope="row" { (delivery.destination) }
            td class="number" { (delivery.part) }
            td { (words::of_delivery(lang, delivery)) }
            td class="number" { (delivery.attempts) }
            td { @if let Some(receipt) = &delivery.receipt { (outside(receipt, receipt)) } @else { (or_dash(None)) } }
            td {
                @if let Some(detail) = &delivery.detail { (lang.english(detail)) } @else { (or_dash(None)) }
                @if let Some(at) = delivery.retry_at.filter(|_| !delivery.state.is_settled()) {
                    br; (lang.pick("tried again ", "重试 ")) (viewer.at(at))
                }
            }
            td class="number" { (delivery.requests) }
            td { (viewer.at(delivery.updated_at)) }
        }
    }
}

/// Every destination with the state that wants a person most.
pub(super) fn summary(viewer: &Viewer, deliveries: &[Delivery]) -> Markup {
    let mut names: Vec<&str> = deliveries
        .iter()
        .map(|one| one.destination.as_str())
        .collect();
    names.dedup();
    let urgency = |state: State| match state {
        State::Confirmed => 0,
        State::Skipped => 1,
        State::Intended => 2,
        State::Sent => 3,
        State::Failed => 4,
        State::Unknown => 5,
    };
    html! {
        @if names.is_empty() { (or_dash(None)) }
        @else {
            ul class="tags" {
                @for name in names {
                    @let states = deliveries.iter().filter(|one| one.destination == name).map(|one| one.state);
                    @if let Some(state) = states.max_by_key(|state| urgency(*state)) {
                        li { (name) " " (words::delivery(viewer.lang, state)) }
                    }
                }
            }
        }
    }
}

/// Alerts, those that last first.
pub(super) fn alerts(viewer: &Viewer, alerts: &[Alert]) -> Markup {
    let lang = viewer.lang;
    if alerts.is_empty() {
        return empty(lang.pick("Nobody needed to be told anything.", "没有需要告知的事项。"));
    }
    let mut sorted: Vec<&Alert> = alerts.iter().collect();
    sorted.sort_by_key(|alert| (alert.closed_at.is_some(), alert.opened_at));
    let head = [
        lang.pick("Alert", "告警"),
        lang.pick("What", "内容"),
        lang.pick("Since", "开始"),
        lang.pick("Until", "结束"),
    ];
    let rows = html! {
        @for alert in sorted {
            tr {
                th scope="row" {
                    (badge(if alert.closed_at.is_some() { "done" } else { "unknown" }, &words::alert(lang, &alert.rule)))
                }
                td { (lang.english(&alert.detail)) }
                td { (viewer.at(alert.opened_at)) }
                td { @if let Some(at) = alert.closed_at { (viewer.at(at)) } @else { (lang.pick("it lasts", "持续中")) } }
            }
        }
    };
    table(lang.pick("Alerts", "告警"), &head, &rows)
}
