//! Actions on a source: check now, pause, resume, change, remove.

use almanack_core::source::State as SourceState;
use almanack_core::source::policy::cadence::Cadence;

use super::{called, entries, words};
use crate::sources::{Numbered, acts::PauseSourceBody, body::ChangesBody};
use crate::ui::prelude::*;

/// Entries are counted up to here before a removal; beyond, it is "more than".
const COUNTED: usize = 100;

/// A changed source. Empty fields are reset.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Change {
    name: Option<String>,
    category: Option<String>,
    policy: Option<String>,
    cadence: Option<String>,
}

impl Change {
    fn of(source: &Source) -> Self {
        let said = &source.definition;
        Self {
            name: Some(said.name.clone()),
            category: Some(said.category.clone()),
            policy: said.policy.clone(),
            cadence: said.cadence.map(|cadence| cadence.as_str().to_owned()),
        }
    }
}

/// All actions, with the input of a refused form.
pub(super) fn show(
    viewer: &Viewer,
    source: &Source,
    refused: Option<(&Change, &Problem)>,
) -> Markup {
    let (lang, here, id) = (viewer.lang, links::source(source.id), source.id);
    let is_active = source.state == SourceState::Active;
    let typed = refused.map_or_else(|| Change::of(source), |(typed, _)| typed.clone());
    section! { lang; "acts", "Actions", "操作"; div class="stack" {
        div class="acts" {
            (form::button(viewer, &format!("{here}/check"), lang.pick("Check now", "立即检查")))
            @if !is_active { (form::button(viewer, &format!("{here}/resume"), lang.pick("Resume", "恢复"))) }
            a class="button" href={ (here) "/remove" } { (lang.pick("Remove…", "移除…")) }
        }
        (Equivalent::act("POST", "source", id, if is_active { "check" } else { "resume" }).show(viewer))
        @if !matches!(source.state, SourceState::Paused { .. }) { (pausing(viewer, id)) }
        details open[refused.is_some()] {
            summary { (lang.pick("Change name, category, cadence or policy", "修改名称、分类、节奏或策略")) }
            @if let Some((_, problem)) = refused { (parts::refused(lang, problem)) }
            (form::form(viewer, &format!("{here}/change"), &fields(lang, &typed)))
            (changing(id).show(viewer))
        }
    } }
}

fn pausing(viewer: &Viewer, id: SourceId) -> Markup {
    let (lang, number) = (viewer.lang, id.to_string());
    let why = pick!(lang; "Reason for the pause, shown to others (optional)", "暂停原因，供他人查看（可选）");
    let fields = html! {
        div class="fields" {
            (Field::text("note", why, None).wide().most(500))
            button type="submit" { (lang.pick("Pause", "暂停")) }
        }
    };
    html! {
        div {
            (form::form(viewer, &format!("{}/pause", links::source(id)), &fields))
            (Equivalent::act("POST", "source", id, "pause").body(&json!({ "note": "…" }))
                .cli(["source", "pause", &number, "--note", "…"]).show(viewer))
        }
    }
}

fn fields(lang: Lang, change: &Change) -> Markup {
    let [name, category] = [
        pick!(lang; "Name (default: the feed's own title)", "名称（默认：订阅源自己的标题）"),
        pick!(lang; "Category, folders separated by /", "分类：以 / 分隔的文件夹"),
    ];
    let policy = pick!(lang; "Policy: adaptive, classic, fixed:30m or a schedule expression (default: the node's)",
        "策略：adaptive、classic、fixed:30m 或日程表达式（默认：节点的策略）");
    let learned = [("", lang.pick("learned", "自动学习").to_owned())];
    let cadences = Cadence::ALL.map(|one| (one.as_str(), words::cadence(lang, one)));
    html! {
        div class="fields" {
            (Field::text("name", name, change.name.as_deref()).wide().most(500))
            (Field::text("category", category, change.category.as_deref()).wide().most(500))
            (choice("cadence", lang.pick("Cadence", "节奏"), change.cadence.as_deref(), learned.into_iter().chain(cadences)))
            (Field::text("policy", policy, change.policy.as_deref()).wide().most(300))
            button type="submit" { (lang.pick("Save", "保存")) }
        }
    }
}

fn changing(id: SourceId) -> Equivalent {
    let words = format!("source set {id} --category news --cadence P2");
    let call = Equivalent::call("PATCH", format!("/api/v1/sources/{id}"));
    call.body(&json!({ "category": "news", "cadence": "P2" }))
        .cli(words.split(' '))
}

/// Checks a source as soon as a node has capacity.
pub(crate) async fn check(Numbered(id): Numbered, Filled(state, viewer, _): Filled) -> Answer {
    state.sources.check_now(id, &viewer.origin()).await?;
    Ok(see(&format!("{}?did=check", links::source(id))))
}

/// Pauses a source.
pub(crate) async fn pause(Numbered(id): Numbered, filled: Filled<PauseSourceBody>) -> Answer {
    let Filled(state, viewer, form) = filled;
    state.sources.pause(id, form.note, &viewer.origin()).await?;
    Ok(see(&format!("{}?did=paused", links::source(id))))
}

pub(crate) async fn resume(Numbered(id): Numbered, Filled(state, viewer, _): Filled) -> Answer {
    state.sources.resume(id, &viewer.origin()).await?;
    Ok(see(&format!("{}?did=resumed", links::source(id))))
}

/// Changes a source; errors are shown beside the input.
pub(crate) async fn change(Numbered(id): Numbered, filled: Filled<Change>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let source = state.sources.load(id).await?;
    match changed(&state, id, form.clone(), &viewer.origin()).await {
        Ok(()) => Ok(see(&format!("{}?did=changed", links::source(id)))),
        Err(problem) if problem.code.status() == StatusCode::UNPROCESSABLE_ENTITY => {
            let body = show(&viewer, &source, Some((&form, &problem)));
            Ok(again(page(&viewer, Place::Sources, called(&source), &body)))
        }
        Err(problem) => Err(problem),
    }
}

async fn changed(state: &AppState, id: SourceId, change: Change, by: &str) -> Result<()> {
    let body = ChangesBody {
        name: Some(change.name),
        category: Some(change.category),
        policy: Some(change.policy),
        cadence: Some(change.cadence),
    };
    state.sources.change(id, &body.into_changes()?, by).await?;
    Ok(())
}

/// Asks before a source is removed.
pub(crate) async fn ask_removal(State(state): App, Numbered(id): Numbered, viewer: Viewer) -> Page {
    let lang = viewer.lang;
    let source = state.sources.load(id).await?;
    let name = called(&source);
    let entries = match entries::newest(&state, id, COUNTED + 1).await?.len() {
        1 => say!(lang, "1 entry", "1 个条目"),
        count if count <= COUNTED => say!(lang, "{count} entries", "{count} 个条目"),
        _ => say!(lang, "more than {COUNTED} entries", "超过 {COUNTED} 个条目"),
    };
    let sentence = say!(lang;
        "Deletes the source, {entries} and everything learned about its rhythm. You cannot undo this; if you add it again, learning starts over.",
        "将删除该信源、它的 {entries}以及学到的全部更新规律。此操作无法撤销；重新添加后需要从头学习。");
    let (here, number) = (links::source(id), id.to_string());
    let call = Equivalent::call("DELETE", format!("/api/v1/sources/{id}"));
    let question = Question {
        title: &say!(lang, "Remove {name}?", "移除 {name}？"),
        sentence: html! { (sentence) },
        fields: html! {},
        button: lang.pick("Remove", "移除"),
        back: &here,
        equivalent: call.cli(["source", "remove", &number]),
    };
    Ok(ask(&viewer, Place::Sources, &question))
}

/// Removes a source.
pub(crate) async fn remove(Numbered(id): Numbered, Filled(state, viewer, _): Filled) -> Answer {
    state.sources.remove(id, &viewer.origin()).await?;
    Ok(see(&format!("{}?did=removed", Place::Sources.path())))
}
