//! Whether a hub pushes a source, in both languages.

use almanack_core::source::hub::HubState;

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
