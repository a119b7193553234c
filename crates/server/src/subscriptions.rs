//! Event subscriptions and their deliveries.
//!
//! Subscriptions are configured; their deliveries are tasks. No index leads from a subscription to
//! its tasks, because it would cost every task: only the newest rows are searched, and the answer
//! says so where it may matter.

use std::collections::BTreeMap;

use almanack_core::event::outgoing::{KIND, count_of, subscriber};
use almanack_core::store::TaskFilter;
use almanack_core::task::{Kind, Status};

use crate::prelude::*;

/// How many of the newest tasks are searched.
const AMONG: usize = 100_000;
/// How many of those are counted.
const COUNTED_MAX: usize = 10_000;

/// A configured subscription for display: never a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Subscription {
    /// What it is called.
    pub name: String,
    /// Its destination; null for one that has deliveries but is not configured on this node.
    pub to: Option<String>,
    /// Event types; empty: all.
    pub events: Vec<String>,
    /// Task kinds; empty: all.
    pub kinds: Vec<String>,
    /// Categories of sources, with all below them; empty: all.
    pub categories: Vec<String>,
    /// Only subjects with this prefix.
    pub subject_prefix: Option<String>,
}

/// A subscription and its deliveries.
#[derive(Serialize, ToSchema)]
pub(crate) struct SubscriptionView {
    #[serde(flatten)]
    about: Subscription,
    /// Events that are waiting or being delivered.
    waiting: u64,
    /// Events that could not be delivered.
    failed: u64,
}

/// All subscriptions, by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct SubscriptionsView {
    subscriptions: Vec<SubscriptionView>,
    /// Whether there are more deliveries than were counted.
    counted_some: bool,
}

/// List event subscriptions with their waiting and failed deliveries.
#[utoipa::path(
    get, path = "/api/v1/subscriptions", tag = "events",
    responses((status = 200, description = "The subscriptions, by name", body = SubscriptionsView)),
)]
pub(crate) async fn list_subscriptions(State(state): App) -> Result<Json<SubscriptionsView>> {
    let view = |about: Subscription| SubscriptionView {
        about,
        waiting: 0,
        failed: 0,
    };
    let configured = state.subscriptions.get();
    let mut views: BTreeMap<String, SubscriptionView> = configured
        .iter()
        .map(|it| (it.name.clone(), view(it.clone())))
        .collect();
    let mut counted_some = false;
    for status in [Status::Init, Status::Running, Status::Fail] {
        let filter = TaskFilter {
            kind: Kind::parse(KIND).ok(),
            status: Some(status),
            among: Some(AMONG),
            limit: COUNTED_MAX,
            ..TaskFilter::default()
        };
        let found = state.store.search_tasks(&filter).await?;
        for task in &found {
            let Some(name) = subscriber(&task.identity) else {
                continue;
            };
            let forgotten = || Subscription {
                name: name.to_owned(),
                ..Subscription::default()
            };
            let line = views
                .entry(name.to_owned())
                .or_insert_with(|| view(forgotten()));
            if task.is_live() {
                line.waiting += count_of(&task.identity);
            } else {
                line.failed += count_of(&task.identity);
            }
        }
        counted_some |= found.len() == COUNTED_MAX;
    }
    Ok(Json(SubscriptionsView {
        subscriptions: views.into_values().collect(),
        counted_some,
    }))
}
