//! Nodes: their heartbeats, their leases, and how punctual the work is.

mod pace;

use almanack_core::reserved::is_internal;
use almanack_core::store::{ClaimLine, Depth, Node};

use super::links::tasks_in;
use crate::ui::prelude::*;

/// A running node sends a heartbeat every few seconds. After this long without one it has most
/// likely lost its leases. In real time, because leases are chosen by it: a clock that runs faster
/// has longer leases.
const QUIET_AFTER: SignedDuration = SignedDuration::from_secs(60);
/// A larger clock skew is highlighted.
const SKEW_NOTABLE: SignedDuration = SignedDuration::from_millis(500);
/// Most leases on the page.
const LEASES: usize = 100;

/// The page of nodes.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new().route("/ui/nodes", get(show))
}

#[derive(Debug, Deserialize)]
struct Query {
    /// Whether queues of internal tasks are shown, too.
    internal: Option<String>,
}

async fn show(Sought(state, viewer, query): Sought<Query>) -> Page {
    let lang = viewer.lang;
    let nodes = state.store.load_nodes().await?;
    let claims = state.store.load_claims(LEASES + 1).await?;
    let pace = pace::Pace::load(&state, viewer.now).await?;
    let internal = query.internal.is_some();
    let mut depths = state.store.load_depths(viewer.now).await?;
    depths.retain(|depth| internal || !is_internal(&depth.kind));
    let turned = if internal {
        Place::Nodes.path()
    } else {
        "/ui/nodes?internal=1"
    };
    let body = html! {
        (live("nodes", &html! {
            (section! { lang; "nodes-title", "Nodes", "节点"; (table(&viewer, &nodes, &claims)) })
            (section! { lang; "leases-title", "Leases", "租约"; (leases(&viewer, &claims)) })
        }))
        (parts::live("pace", &html! {
            div class="columns" {
                (parts::section("pace-title", lang.pick("Throughput", "吞吐量"), &pace.throughput(&viewer)))
                (parts::section("late-title", lang.pick("Lateness", "延迟"), &pace.lateness(&viewer)))
            }
        }))
        (parts::live("queues", &section! { lang; "queues-title", "Queues", "队列";
            (queues(&viewer, &depths))
            p { (parts::internal(lang, internal, turned)) }
        }))
        (Equivalent::call("GET", "/api/v1/nodes").show(&viewer))
    };
    Ok(Place::Nodes.page(&viewer, &body))
}

fn table(viewer: &Viewer, nodes: &[Node], claims: &[ClaimLine]) -> Markup {
    let held = |node: &Node| -> usize {
        let own = claims.iter().filter(|claim| claim.session == node.session);
        own.map(|claim| claim.tasks).sum()
    };
    table! { viewer.lang; "Nodes", "节点"; or "No node has sent a heartbeat.", "尚未收到任何节点的心跳。";
        for (node in nodes) tr(id={ "n-" (node.session) } data-row)
        "Name", "名称" { th scope="row" { (node.name) " " span class="hint" { (node.session) } } }
        "State", "状态" { td { (state(viewer, node)) } }
        "Last heartbeat", "最近心跳" { td { (viewer.at(node.seen_at)) } }
        "Started", "启动于" [mid] { td { (viewer.at(node.started_at)) } }
        "Clock skew", "时钟偏差" { td { (skew(viewer, node.skew_us)) } }
        "Leased tasks", "租约内任务" { td { a href=(tasks_in(Status::Running)) { (held(node)) } } }
        "Version", "版本" [mid] { td { (node.version) } }
    }
}

fn state(viewer: &Viewer, node: &Node) -> Markup {
    let lang = viewer.lang;
    let quiet_after = quiet_after(viewer.speed);
    if viewer.now.duration_since(node.seen_at) <= quiet_after {
        return badge("done", lang.pick("running", "运行中"));
    }
    let span = length(lang, quiet_after);
    badge(
        "failed",
        &say!(lang, "no heartbeat for over {span}", "超过 {span}无心跳"),
    )
}

/// By a node's clock that runs so many times faster than real time.
fn quiet_after(speed: f64) -> SignedDuration {
    let quiet_s = QUIET_AFTER.as_secs_f64() * speed.max(1.0);
    SignedDuration::try_from_secs_f64(quiet_s).unwrap_or(SignedDuration::MAX)
}

/// The clock skew of a node and its direction.
fn skew(viewer: &Viewer, skew_us: i64) -> Markup {
    let lang = viewer.lang;
    let skew = SignedDuration::from_micros(skew_us);
    let text = length(lang, skew);
    let text = match skew_us {
        0 => lang.pick("none", "无").into(),
        // What is added to its clock to get the database's.
        1.. => say!(lang, "{text} behind", "慢 {text}"),
        _ => say!(lang, "{text} ahead", "快 {text}"),
    };
    html! {
        @if skew.abs() > SKEW_NOTABLE { (parts::badge("unknown", &text)) } @else { (text) }
    }
}

fn leases(viewer: &Viewer, claims: &[ClaimLine]) -> Markup {
    let lang = viewer.lang;
    let passed = badge("unknown", lang.pick("expired", "已过期"));
    let rows = table! { lang; "Leases, soonest to expire first", "租约，最早到期的在前";
        or "No leases: no task is running.", "没有租约：当前没有任务在运行。";
        for (claim in claims.iter().take(LEASES)) tr(data-row)
        "Node or worker", "节点或工作进程" { th scope="row" { (claim.node) } }
        "Claimed tasks", "领取的任务" {
            td { a href=(tasks_in(Status::Running)) data-open { (claim.tasks) } }
        }
        "Expires", "到期" {
            td { (viewer.at(claim.lease_until)) @if claim.lease_until < viewer.now { " " (passed) } }
        }
        "Claim", "领取编号" { td { code { (claim.claim_id.0) } } }
    };
    html! {
        (rows)
        @if claims.len() > LEASES {
            p class="hint" { (say!(lang, "Showing the first {LEASES}.", "只显示前 {LEASES} 个。")) }
        }
    }
}

/// Waiting tasks, by kind.
fn queues(viewer: &Viewer, depths: &[Depth]) -> Markup {
    let of_kind = |depth: &Depth| address(Place::Tasks.path(), [("kind", depth.kind.as_str())]);
    table! { viewer.lang; "Waiting tasks by kind", "各类型的等待任务";
        or "No tasks are waiting.", "没有等待的任务。";
        for (depth in depths) tr(data-row)
        "Kind", "类型" { th scope="row" { a href=(of_kind(depth)) data-open { (depth.kind) } } }
        "Waiting", "等待" { td { a href=(of_kind(depth)) { (depth.waiting) } } }
        "Due", "其中已到期" { td { a href=(of_kind(depth)) { (depth.due) } } }
        "First due", "最早到期" { td { (viewer.at_or_dash(depth.first_due_at)) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_quiet_after_a_minute_of_real_time_at_any_speed() {
        for (speed, expected) in [
            (0.5, SignedDuration::from_mins(1)),
            (1.0, SignedDuration::from_mins(1)),
            (60.0, SignedDuration::from_hours(1)),
            (f64::MAX, SignedDuration::MAX),
        ] {
            assert_eq!(quiet_after(speed), expected, "{speed}");
        }
    }
}
