//! Nodes: who shares the work, which leases they hold, and how well the work keeps its times.

mod pace;

use std::sync::Arc;

use almanack_core::{
    store::{ClaimLine, Depth, Node},
    task::Status,
};
use axum::{Router, extract::State, routing::get};
use jiff::SignedDuration;
use maud::{Markup, html};

use super::{
    equivalent::Equivalent,
    lang::say,
    links::tasks_in,
    page::{Place, page},
    parts,
    query::address,
    viewer::Viewer,
    when::length,
};
use crate::{AppState, problem::Problem};

/// A node that runs is heard of every few seconds. One that was quiet for this long has most likely lost its leases.
const QUIET_AFTER: SignedDuration = SignedDuration::from_secs(60);
/// A clock that is further off than this deserves a look.
const SKEW_NOTABLE: SignedDuration = SignedDuration::from_millis(500);
/// Most leases on the page.
const LEASES: usize = 100;

/// The page of nodes.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new().route("/ui/nodes", get(show))
}

async fn show(State(state): State<Arc<AppState>>, viewer: Viewer) -> Result<Markup, Problem> {
    let lang = viewer.lang;
    let nodes = state.store.load_nodes().await?;
    let claims = state.store.load_claims(LEASES + 1).await?;
    let pace = pace::Pace::load(&state, viewer.now).await?;
    let depths = state.store.load_depths(viewer.now).await?;
    let body = html! {
        (parts::live("nodes", &html! {
            (parts::section("nodes-title", lang.pick("Nodes", "节点"), &table(&viewer, &nodes, &claims)))
            (parts::section("leases-title", lang.pick("Leases", "租约"), &leases(&viewer, &claims)))
        }))
        (parts::live("pace", &html! {
            (parts::section("pace-title", lang.pick("Throughput", "吞吐量"), &pace.throughput(&viewer)))
            (parts::section("late-title", lang.pick("Lateness", "延迟"), &pace.lateness(&viewer)))
        }))
        (parts::live("queues", &parts::section("queues-title", lang.pick("Queues", "队列"), &queues(&viewer, &depths))))
        (Equivalent::call("GET", "/api/v1/nodes").show(&viewer))
    };
    Ok(page(&viewer, Place::Nodes, Place::Nodes.name(lang), &body))
}

fn table(viewer: &Viewer, nodes: &[Node], claims: &[ClaimLine]) -> Markup {
    let lang = viewer.lang;
    if nodes.is_empty() {
        return parts::empty(lang.pick("No node was heard of.", "没有任何节点的消息。"));
    }
    let head = [
        lang.pick("Name", "名称"),
        lang.pick("State", "状态"),
        lang.pick("Last heard of", "最近心跳"),
        lang.pick("Started", "启动于"),
        lang.pick("Clock off by", "时钟偏差"),
        lang.pick("Tasks under lease", "租约内任务"),
        lang.pick("Version", "版本"),
    ];
    let rows = html! { @for node in nodes { (row(viewer, node, claims)) } };
    parts::table(lang.pick("Nodes", "节点"), &head, &rows)
}

fn row(viewer: &Viewer, node: &Node, claims: &[ClaimLine]) -> Markup {
    let lang = viewer.lang;
    let quiet = viewer.now.duration_since(node.seen_at) > QUIET_AFTER;
    let held: usize = claims
        .iter()
        .filter(|claim| claim.session == node.session)
        .map(|claim| claim.tasks)
        .sum();
    let state = if quiet {
        parts::badge(
            "failed",
            lang.pick("quiet, looks dead", "无心跳，可能已停止"),
        )
    } else {
        parts::badge("done", lang.pick("runs", "运行中"))
    };
    html! {
        tr id={ "n-" (node.session) } data-row {
            th scope="row" { (node.name) " " span class="hint" { (node.session) } }
            td { (state) }
            td { (viewer.at(node.seen_at)) }
            td { (viewer.at(node.started_at)) }
            td { (skew(viewer, node.skew_us)) }
            td { a href=(tasks_in(Status::Running)) { (held) } }
            td { (node.version) }
        }
    }
}

/// How far a node's clock is off, and in which direction.
fn skew(viewer: &Viewer, skew_us: i64) -> Markup {
    let lang = viewer.lang;
    let skew = SignedDuration::from_micros(skew_us);
    let told = length(lang, skew);
    let told = match skew_us {
        0 => lang.pick("not at all", "无").into(),
        // What is added to its clock to get the database's.
        1.. => say!(lang, "{told} behind", "慢 {told}"),
        _ => say!(lang, "{told} ahead", "快 {told}"),
    };
    html! {
        @if skew.abs() > SKEW_NOTABLE { (parts::badge("unknown", &told)) } @else { (told) }
    }
}

fn leases(viewer: &Viewer, claims: &[ClaimLine]) -> Markup {
    let lang = viewer.lang;
    if claims.is_empty() {
        return parts::empty(lang.pick(
            "Nobody holds a lease: nothing runs.",
            "没有租约：当前没有任务在运行。",
        ));
    }
    let head = [
        lang.pick("Node", "节点"),
        lang.pick("Tasks taken", "领取的任务"),
        lang.pick("Holds until", "有效至"),
        lang.pick("Claim", "领取编号"),
    ];
    let rows = html! {
        @for claim in claims.iter().take(LEASES) {
            tr data-row {
                th scope="row" { (claim.node) }
                td { a href=(tasks_in(Status::Running)) data-open { (claim.tasks) } }
                td { (viewer.at(claim.lease_until))
                    @if claim.lease_until < viewer.now { " " (parts::badge("unknown", lang.pick("has passed", "已过期"))) }
                }
                td { code { (claim.claim_id.0) } }
            }
        }
    };
    html! {
        (parts::table(lang.pick("Leases, the first to end first", "租约，最早到期的在前"), &head, &rows))
        @if claims.len() > LEASES {
            p class="hint" { (say!(lang, "The first {LEASES} are shown.", "只显示前 {LEASES} 个。")) }
        }
    }
}

/// What waits, by kind.
fn queues(viewer: &Viewer, depths: &[Depth]) -> Markup {
    let lang = viewer.lang;
    if depths.is_empty() {
        return parts::empty(lang.pick("Nothing waits.", "没有等待的任务。"));
    }
    let head = [
        lang.pick("Kind", "类型"),
        lang.pick("Waiting", "等待"),
        lang.pick("Of these due", "其中已到期"),
        lang.pick("First due", "最早到期"),
    ];
    let rows = html! {
        @for depth in depths {
            @let of_kind = address(Place::Tasks.path(), [("kind", depth.kind.as_str())]);
            tr data-row {
                th scope="row" { a href=(of_kind) data-open { (depth.kind) } }
                td { a href=(of_kind) { (depth.waiting) } }
                td { a href=(of_kind) { (depth.due) } }
                td { (viewer.at_or_dash(depth.first_due_at)) }
            }
        }
    };
    parts::table(
        lang.pick("What waits, by kind", "各类型的等待任务"),
        &head,
        &rows,
    )
}
