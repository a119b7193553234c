//! Whether a hub pushes a source, in both languages.

use almanack_core::source::hub::{Hub, HubState, Reach};

use crate::ui::prelude::*;

/// How far the subscription at its hub is.
pub(super) fn standing(viewer: &Viewer, source: &Source) -> Markup {
    let Some(hub) = &source.memory.publisher.hub else {
        return dash();
    };
    html! {
        (state(viewer.lang, hub.state(viewer.now)))
        @if let Some(until) = hub.leased_until { ", " (viewer.lang.pick("lease until", "租期至")) " " (viewer.at(until)) }
        @if let Some(at) = hub.pushed_at { "; " (viewer.lang.pick("last push", "上次推送")) " " (viewer.at(at)) }
    }
}

fn state(lang: Lang, state: HubState) -> &'static str {
    words! { lang, state;
        HubState::Named => "not subscribed", "未订阅";
        HubState::Requested => "requested", "已请求";
        HubState::Subscribed => "subscribed", "已订阅";
        HubState::Lapsed => "lapsed", "已过期";
        HubState::Refused => "refused", "被拒绝";
    }
}

/// Whether its hub pushes it, and if not, why.
pub(super) fn sentence(viewer: &Viewer, source: &Source, reach: Reach) -> Option<Markup> {
    let hub = source.memory.publisher.hub.as_ref()?;
    let text = match reach {
        Reach::Off => viewer.lang.pick(
            "Its hub could push it, but push is off (sources.push).",
            "其 hub 可以推送，但推送已关闭（sources.push）。",
        ),
        Reach::NoAddress => viewer.lang.pick(
            "Its hub could push it, but this node has no public address. Set server.public_url.",
            "其 hub 可以推送，但本节点没有公网地址。请设置 server.public_url。",
        ),
        Reach::Open => subscription(viewer, hub),
    };
    Some(html! {
        (text)
        " " code { (hub.hub) }
        @if let Some(why) = &hub.refused { ": " q lang="" { (why) } }
    })
}

fn subscription(viewer: &Viewer, hub: &Hub) -> &'static str {
    let (lang, now) = (viewer.lang, viewer.now);
    match hub.state(now) {
        HubState::Named => lang.pick(
            "It names a hub, which is asked to push at the next check.",
            "它声明了 hub，下次检查时将请求其推送。",
        ),
        HubState::Requested => lang.pick(
            "Its hub was asked to push and has not confirmed it yet.",
            "已请求其 hub 推送，尚未得到确认。",
        ),
        HubState::Lapsed => lang.pick(
            "The subscription at its hub has ended and is renewed by a check.",
            "在其 hub 的订阅已到期，检查时会续订。",
        ),
        HubState::Refused => lang.pick(
            "Its hub refuses to push. It is asked again once a day.",
            "其 hub 拒绝推送，每天会再请求一次。",
        ),
        HubState::Subscribed if hub.is_relied_on(now) => lang.pick(
            "Its hub pushes new entries. Checks are only for safety.",
            "其 hub 会推送新条目，检查仅作保险。",
        ),
        HubState::Subscribed if hub.pushes_wanted > 0 => lang.pick(
            "Its hub missed entries, so it is checked as usual.",
            "其 hub 漏推过条目，因此照常检查。",
        ),
        HubState::Subscribed => lang.pick(
            "Its hub has not pushed lately, so it is checked as usual.",
            "其 hub 近期没有推送，因此照常检查。",
        ),
    }
}
