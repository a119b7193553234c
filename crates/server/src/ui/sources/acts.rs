//! Actions on a source: check now, pause, resume, edit, remove.

use almanack_core::plan::Pause;
use almanack_core::source::State as SourceState;

use super::{called, edit, entries};
use crate::sources::{Numbered, acts::PauseSourceBody};
use crate::ui::prelude::*;
use crate::ui::undo::{Undo, Undoing};

/// Entries are counted up to here before a removal; beyond, it is "more than".
const COUNTED: usize = 100;

/// All actions.
pub(super) fn show(viewer: &Viewer, source: &Source) -> Markup {
    let (lang, here, id) = (viewer.lang, links::source(source.id), source.id);
    let is_active = source.state == SourceState::Active;
    let is_managed = source.definition.options.from_file;
    section! { lang; "acts", "Actions", "操作"; div class="stack" {
        div class="acts" {
            @if is_active { (form::button(viewer, &format!("{here}/check"), lang.pick("Check now", "立即检查"))) }
            @else { (form::button(viewer, &format!("{here}/resume"), lang.pick("Resume", "恢复"))) }
            @if !is_managed { a class="button" href={ (here) "/remove" } { (lang.pick("Remove…", "移除…")) } }
        }
        (Equivalent::act("POST", "source", id, if is_active { "check" } else { "resume" }).show(viewer))
        @if !matches!(source.state, SourceState::Paused { .. }) { (pausing(viewer, id)) }
        (edit::show(viewer, source))
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

/// Checks a source as soon as a node has capacity.
pub(crate) async fn check(Numbered(id): Numbered, Filled(state, viewer, _): Filled) -> Answer {
    state.sources.check_now(id, &viewer.origin()).await?;
    Ok(see(&format!("{}?did=check", links::source(id))))
}

/// Pauses a source.
pub(crate) async fn pause(Numbered(id): Numbered, filled: Filled<PauseSourceBody>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let before = state.sources.load(id).await?;
    let after = state.sources.pause(id, form.note, &viewer.origin()).await?;
    Ok(confirm(&viewer, &before, &after, "paused"))
}

pub(crate) async fn resume(Numbered(id): Numbered, Filled(state, viewer, _): Filled) -> Answer {
    let before = state.sources.load(id).await?;
    let after = state.sources.resume(id, &viewer.origin()).await?;
    Ok(confirm(&viewer, &before, &after, "resumed"))
}

/// Takes a pause or a resume back.
pub(crate) async fn undo(Numbered(id): Numbered, filled: Filled<Undoing>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let (source, by) = (state.sources.load(id).await?, viewer.origin());
    match form.back_from(rest(&source).as_ref())? {
        Some(pause) => state.sources.pause(id, pause.note, &by).await?,
        None => state.sources.resume(id, &by).await?,
    };
    Ok(see(&format!("{}?did=undone", links::source(id))))
}

fn confirm(viewer: &Viewer, before: &Source, after: &Source, did: &str) -> Response {
    let (before, after, here) = (rest(before), rest(after), links::source(after.id));
    Undo { before, after }.see(viewer, &here, &format!("{here}?did={did}"))
}

/// Its pause, without who paused it: that is not kept.
fn rest(source: &Source) -> Option<Pause> {
    match &source.state {
        SourceState::Paused { since, note } => Some(Pause {
            since: *since,
            until: None,
            note: note.clone(),
            by: String::new(),
        }),
        SourceState::Active | SourceState::Ended { .. } => None,
    }
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
