//! Kinds: how much of each waits and runs, which are paused, and how fast they may start.

use almanack_core::pace::KindLine;
use almanack_core::plan::Pause;
use almanack_core::reserved::is_reserved;
use almanack_core::task::why::Why;
use almanack_core::work::Deliver;
use almanack_engine::kinds::{self, Pausing};

use super::undo::{self, Given, Undo, Undoing};
use crate::kinds::Of;
use crate::schedules::acts::check_until;
use crate::ui::prelude::*;

/// The page of kinds, and its actions.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/kinds", get(show))
        .route("/ui/kinds/{kind}/pause", get(ask_to_pause).post(pause))
        .route("/ui/kinds/{kind}/resume", post(resume))
        .route("/ui/kinds/{kind}/undo", post(undo))
}

#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    did: Option<String>,
    /// What it was done to.
    kind: Option<String>,
    #[serde(flatten)]
    undo: Given,
}

async fn show(Sought(state, viewer, query): Sought<Query>) -> Page {
    let known = state.rescheduler.kinds();
    let lines = kinds::list(&*state.store, &known, viewer.now).await?;
    let body = html! {
        @if let Some(text) = query.did.as_deref().and_then(|did| done(viewer.lang, did)) {
            (notice(&html! { (text)
                @if let Some(kind) = &query.kind { (undo::offer(&viewer, &query.undo, &path(kind))) }
            }))
        }
        @if lines.is_empty() { (first(&viewer)) }
        (live("kinds", &table(&viewer, &lines)))
        (Equivalent::call("GET", "/api/v1/kinds").cli(["kind", "list"]).show(&viewer))
    };
    Ok(Place::Kinds.page(&viewer, &body))
}

const SNIPPET: &str = "\
[kinds.MAIL_SEND]
url = \"https://mail.example.org/send\"   # what a node calls for each task
rate = \"100/min\"
";

fn first(viewer: &Viewer) -> Markup {
    let lang = viewer.lang;
    let task = "/api/v1/tasks/MAIL_SEND/welcome:1";
    let body =
        json!({ "execute_at": viewer.now, "callback": { "url": "https://mail.example.org/send" } });
    let words = "task put MAIL_SEND welcome:1 --at now";
    let begin = html! {
        pre tabindex="0" { code { (SNIPPET) } }
        @if viewer.may(Scope::Operate) {
            p { a class="button" href="/ui/tasks/new" { (lang.pick("New task", "新建任务")) } }
        }
        (Equivalent::call("PUT", task).body(&body).cli(words.split(' ')).show(viewer))
    };
    parts::first(
        viewer,
        pick!(lang;
        "A kind says what a task does, such as MAIL_SEND. Its tasks share a callback, limits and a rate from the configuration. A task that names its own callback needs none.",
        "类型说明任务做什么，例如 MAIL_SEND。同一类型的任务共用配置中的回调、限制和速率。自带回调的任务不需要配置。"),
        &begin,
    )
}

/// The result of an action, by its code in the address.
fn done(lang: Lang, did: &str) -> Option<&'static str> {
    words! { lang, did?;
        "paused" => "Kind paused: waiting tasks stay, running ones end.",
            "类型已暂停：等待的任务保留，运行中的任务会执行完毕。";
        "resumed" => "Kind resumed.", "类型已恢复。";
        "undone" => "Undone.", "已撤销。";
    }
}

fn table(viewer: &Viewer, lines: &[KindLine]) -> Markup {
    let lang = viewer.lang;
    let tasks = |line: &KindLine| address(Place::Tasks.path(), [("kind", line.kind.as_str())]);
    let acts = viewer.may(Scope::Operate);
    table! { lang; "Kinds", "类型";
        or "No kinds yet.", "还没有类型。";
        for (line in lines) tr(data-row)
        "Kind", "类型" { th scope="row" { a href=(tasks(line)) data-open { (line.kind) } } }
        "State", "状态" { td { (state_of(viewer, line)) } }
        "Delivery", "交付方式" { td { (deliver(lang, line.deliver)) } }
        "Waiting", "等待" { td { (line.waiting) } }
        "Due", "其中已到期" { td { (line.due) } }
        "Running", "运行中" { td { (line.running) } }
        "First due", "最早到期" { td { (viewer.at_or_dash(line.first_due_at)) } }
        "Rate", "速率" { td { (rate(lang, line)) } }
        "Actions", "操作" if (acts) { td { (offered(viewer, line)) } }
    }
}

fn deliver(lang: Lang, deliver: Deliver) -> &'static str {
    match deliver {
        Deliver::Push => lang.pick("called by nodes", "由节点调用"),
        Deliver::Pull => lang.pick("taken by workers", "由工作进程领取"),
    }
}

fn state_of(viewer: &Viewer, line: &KindLine) -> Markup {
    match &line.paused {
        Some(pause) => paused(viewer, pause),
        None => badge("active", viewer.lang.pick("active", "正常")),
    }
}

/// Since when a kind is paused, until when, by whom and why.
pub(crate) fn paused(viewer: &Viewer, pause: &Pause) -> Markup {
    let lang = viewer.lang;
    html! {
        (badge("paused", lang.pick("Paused", "已暂停"))) " "
        @match pause.until {
            Some(until) => { (lang.pick("until ", "直到 ")) (viewer.instant(until)) }
            None => { (lang.pick("until resumed", "直到恢复")) }
        }
        (lang.pick(", since ", "，自 ")) (viewer.instant(pause.since))
        (say!(lang, ", by {}", "，由 {} 暂停", pause.by))
        @if let Some(note) = &pause.note { (lang.pick(": ", "：")) (note) }
    }
}

fn rate(lang: Lang, line: &KindLine) -> Markup {
    if line.rate.is_none() && line.share_by.is_none() {
        return dash();
    }
    html! {
        @if let Some(rate) = line.rate { (rate) }
        @if let Some(by) = &line.rate_by { (lang.pick(" for each ", "，按 ")) code { (by) } }
        @if let Some(burst) = line.burst { " " span class="hint" { (say!(lang, "burst {burst}", "突发 {burst}")) } }
        @if let Some(by) = &line.share_by { " " span class="hint" { (lang.pick("turns by ", "轮流依据 ")) code { (by) } } }
    }
}

/// What a user who may can do with a kind; the engine's own are left alone.
fn offered(viewer: &Viewer, line: &KindLine) -> Markup {
    let (lang, kind) = (viewer.lang, line.kind.as_str());
    html! {
        @if is_reserved(&line.kind) {
            (dash())
        } @else if line.paused.is_some() {
            (button(viewer, &format!("/ui/kinds/{kind}/resume"), lang.pick("Resume", "恢复")))
        } @else {
            a class="button" href={ "/ui/kinds/" (kind) "/pause" } { (lang.pick("Pause…", "暂停…")) }
        }
    }
}

/// Asks for the reason and the end of a pause.
async fn ask_to_pause(State(state): App, Of(kind): Of, viewer: Viewer) -> Page {
    question(
        &state,
        &viewer,
        &kind,
        &Filling::default(),
        &Faults::default(),
    )
    .await
}

async fn question(
    state: &AppState,
    viewer: &Viewer,
    kind: &Kind,
    filled: &Filling,
    faults: &Faults,
) -> Page {
    let lang = viewer.lang;
    let known = state.rescheduler.kinds();
    let lines = kinds::list(&*state.store, &known, viewer.now).await?;
    let line = lines.into_iter().find(|line| line.kind == *kind);
    let (waiting, running) = line.map_or((0, 0), |line| (line.waiting, line.running));
    let why = lang.pick("why", "原因");
    let question = Question {
        title: &say!(lang, "Pause {kind}?", "暂停 {kind}？"),
        sentence: html! {
            (say!(lang, "No node starts tasks of this kind until it is resumed. Waiting tasks stay ({waiting}), running ones end ({running}).",
                "恢复之前，任何节点都不会开始此类任务。等待的任务保留（{waiting}），运行中的任务会执行完毕（{running}）。"))
        },
        fields: faults.show(lang, &filled.fields(viewer)),
        button: lang.pick("Pause kind", "暂停此类型"),
        back: Place::Kinds.path(),
        equivalent: Equivalent::act("POST", "kind", kind, "pause")
            .body(&json!({ "note": why }))
            .cli(["kind", "pause", kind.as_str(), "--note", why]),
    };
    Ok(ask(viewer, Place::Kinds, &question))
}

/// How long to pause, and why: of a kind, or of a schedule.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Filling {
    note: Option<String>,
    until: Option<String>,
    zone: Option<String>,
}

impl Filling {
    pub(crate) fn fields(&self, viewer: &Viewer) -> Markup {
        let (lang, zone) = (viewer.lang, self.zone.as_deref());
        html! {
            div class="fields" {
                (Field::text("note", lang.pick("Reason (shown to others)", "原因（给其他人看）"), self.note.as_deref()).wide().most(500))
                (Field::clock("until", lang.pick("Until (optional)", "直到（可选）"), self.until.as_deref()))
                (Field::zone("zone", lang.pick("Time zone", "时区"), zone.unwrap_or(viewer.zone_name())))
            }
        }
    }

    /// Until when and why; what is wrong with each.
    pub(crate) fn read(&self, viewer: &Viewer) -> Result<Pausing, Faults> {
        Faults::read(self, &[], |form| {
            let zone = form.zone.as_deref().unwrap_or("UTC");
            let until = form.until.as_deref();
            let until = until.map(|clock| moment::one("until", clock, zone));
            let until = until.transpose()?;
            check_until(until, viewer.now)?;
            Ok(Pausing {
                until,
                note: form.note.as_deref().map(|note| note.trim().to_owned()),
                by: viewer.name().to_owned(),
            })
        })
    }
}

async fn pause(Of(kind): Of, filled: Filled<Filling>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let before = pause_of(&state, &kind).await?;
    let done = match form.read(&viewer) {
        Ok(pausing) => turn(&state, &viewer, &kind, Some(pausing))
            .await
            .map_err(Faults::from),
        Err(faults) => Err(faults),
    };
    match done {
        Ok(()) => confirm(&state, &viewer, &kind, before, "paused").await,
        Err(faults) => {
            let faults = faults.mendable()?;
            Ok(again(
                question(&state, &viewer, &kind, &form, &faults).await?,
            ))
        }
    }
}

async fn resume(Of(kind): Of, Filled(state, viewer, _): Filled) -> Answer {
    let before = pause_of(&state, &kind).await?;
    turn(&state, &viewer, &kind, None).await?;
    confirm(&state, &viewer, &kind, before, "resumed").await
}

/// Takes a pause or a resume back.
async fn undo(Of(kind): Of, filled: Filled<Undoing>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let before = form.back_from(pause_of(&state, &kind).await?.as_ref())?;
    let pausing = before.map(|pause| Pausing {
        until: pause.until,
        note: pause.note,
        by: viewer.name().to_owned(),
    });
    turn(&state, &viewer, &kind, pausing).await?;
    Ok(see("/ui/kinds?did=undone"))
}

/// Pauses a kind, or resumes it.
async fn turn(
    state: &AppState,
    viewer: &Viewer,
    kind: &Kind,
    pausing: Option<Pausing>,
) -> Result<()> {
    let (known, now) = (state.rescheduler.kinds(), state.clock.now());
    let store = &*state.changes;
    match pausing {
        Some(pausing) => kinds::pause(store, &known, kind, pausing, now).await?,
        None => _ = kinds::resume(store, &known, kind, viewer.name(), now).await?,
    }
    Ok(())
}

async fn pause_of(state: &AppState, kind: &Kind) -> Result<Option<Pause>> {
    Ok(kinds::pause_of(&*state.changes, kind, state.clock.now()).await?)
}

async fn confirm(
    state: &AppState,
    viewer: &Viewer,
    kind: &Kind,
    before: Option<Pause>,
    did: &str,
) -> Answer {
    let after = pause_of(state, kind).await?;
    let page = address(Place::Kinds.path(), [("did", did), ("kind", kind.as_str())]);
    Ok(Undo { before, after }.see(viewer, &path(kind.as_str()), &page))
}

/// Where the actions on a kind are.
fn path(kind: &str) -> String {
    format!("/ui/kinds/{}", percent::encode(kind))
}

/// Why a task does not start although nothing else would keep it: its kind is paused, it waits for
/// its turn, or nobody has taken it. Whatever else it is, its page says already.
pub(crate) fn held_up(viewer: &Viewer, why: &Why) -> Option<Markup> {
    let lang = viewer.lang;
    match why {
        Why::Paused { pause, .. } => Some(html! {
            (paused(viewer, pause)) " "
            a href=(Place::Kinds.path()) { (lang.pick("Kinds", "类型")) }
        }),
        Why::RateLimited { rate, .. } => Some(html! {
            (say!(lang, "Waiting for its turn: at most {rate} may start.", "正在排队：每单位时间最多开始 {rate}。"))
        }),
        Why::Due { deliver, rate, .. } if *deliver == Deliver::Pull || rate.is_some() => {
            Some(html! {
                @match deliver {
                    Deliver::Push => { (lang.pick("Due; no node has started it yet.", "已到期，尚无节点启动。")) }
                    Deliver::Pull => { (lang.pick("Due; no worker has taken it yet.", "已到期，尚无工作进程领取。")) }
                }
                @if let Some(rate) = rate {
                    " " (say!(lang, "At most {rate} of its kind may start.", "该类型每单位时间最多开始 {rate}。"))
                }
            })
        }
        _ => None,
    }
}
