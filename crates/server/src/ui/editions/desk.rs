//! The desk of an edition: approve or reject it, correct it, take it back, and its history (ED-42).
//!
//! [`turn`] decides what is possible: a form is shown if the same function would not refuse. Every
//! form names the revision it was shown with, so nobody decides about what they have not seen.

use almanack_core::edition::document::{Document, Printed};
use almanack_core::edition::hold::{Decision, Hold, OnSilence, SILENCE, Verdict};
use almanack_core::edition::revision::{Correction, Revision, RevisionLine};
use almanack_core::edition::turn::{self, Meant};
use almanack_core::edition::{Account, Edition};

use crate::editions::{Dated, editions_of};
use crate::ui::prelude::*;
use crate::ui::undo;

/// What waits for a person or was decided, for the top of the page.
pub(super) fn standing(viewer: &Viewer, edition: &Edition) -> Markup {
    let lang = viewer.lang;
    html! {
        @if let Some(retraction) = &edition.retraction {
            p class="warning" {
                (lang.pick("Retracted by ", "撤回者：")) (retraction.by) " · " (viewer.at(retraction.at))
                @if let Some(note) = &retraction.note { ": " span lang="" { (note) } }
            }
        }
        @if let Some(hold) = &edition.hold {
            @match &hold.decision {
                None => p class="warning" {
                    strong { (lang.pick("Waits for approval. Nothing has been sent.", "等待批准，尚未发送。")) }
                    " " (then(viewer, hold))
                },
                Some(decision) => p class="hint" { (decided(viewer, decision)) },
            }
        }
    }
}

fn then(viewer: &Viewer, hold: &Hold) -> Markup {
    let lang = viewer.lang;
    let Some(until) = hold.until else {
        return html! { (lang.pick("It waits until somebody decides.", "在有人决定之前会一直等待。")) };
    };
    let what = match hold.on_silence {
        OnSilence::Publish => lang.pick(
            "Without an answer it is published: ",
            "如无人答复，自动发布：",
        ),
        OnSilence::Drop => lang.pick(
            "Without an answer it is dropped: ",
            "如无人答复，放弃发布：",
        ),
    };
    html! { (what) (viewer.at(until)) }
}

fn decided(viewer: &Viewer, decision: &Decision) -> Markup {
    let lang = viewer.lang;
    let what = words! { lang, (decision.verdict, decision.by == SILENCE);
        (Verdict::Approved, false) => "Approved", "已批准";
        (Verdict::Rejected, false) => "Rejected", "已驳回";
        (Verdict::Approved, true) => "Published because nobody answered in time", "到时无人答复，已自动发布";
        (Verdict::Rejected, true) => "Dropped because nobody answered in time", "到时无人答复，已放弃发布";
    };
    html! {
        (what)
        @if decision.by != SILENCE { " · " (decision.by) }
        " · " (viewer.at(decision.at))
    }
}

/// The forms that would not be refused; none without one.
pub(super) fn show(
    viewer: &Viewer,
    account: &Account,
    document: Option<&Document>,
) -> Option<Markup> {
    let (lang, edition) = (viewer.lang, &account.edition);
    let newest = Meant {
        revision: Some(edition.revision),
        since: None,
    };
    let approves = turn::approve(account, newest, "", turn::Day::Present, viewer.now);
    let approves = matches!(approves, Ok(Some(_)));
    let rejects = matches!(turn::reject(account, newest, "", viewer.now), Ok(Some(_)));
    let corrects = turn::check_correctable(account, viewer.now).is_ok();
    let retracts = turn::check_retractable(account, viewer.now).is_ok();
    let restores = edition.retraction.is_some();
    let stories = document
        .filter(|_| corrects)
        .map(|it| it.inputs.stories.as_slice());
    if !(approves || rejects || retracts || restores || stories.is_some()) {
        return None;
    }
    Some(
        section! { lang; "desk", "Review and correct", "审阅与更正"; div class="stack" {
            @if approves || rejects { (deciding(viewer, edition, rejects)) }
            @if let Some(stories) = stories.filter(|it| !it.is_empty()) { (correcting(viewer, edition, stories, &Correcting::default(), &Faults::default())) }
            @if retracts { (retracting(viewer, edition)) }
            @if restores {
                (button(viewer, &format!("{}/restore", links::edition(edition.id)), lang.pick("Restore the edition", "恢复本期日报")))
                (Equivalent::act("POST", "edition", edition.id, "restore").show(viewer))
            }
        } },
    )
}

fn deciding(viewer: &Viewer, edition: &Edition, rejects: bool) -> Markup {
    let (lang, revision) = (viewer.lang, edition.revision);
    let fields = html! {
        (hidden([("revision", revision)]))
        div class="acts" {
            button type="submit" name="act" value="approve" { (lang.pick("Approve and publish", "批准并发布")) }
            @if rejects { button type="submit" name="act" value="reject" { (lang.pick("Reject", "驳回")) } }
        }
    };
    let call = Equivalent::act("POST", "edition", edition.id, "approve");
    html! {
        div {
            (form(viewer, &format!("{}/decide", links::edition(edition.id)), &fields))
            p class="hint" { (say!(lang;
                "The decision is about revision {revision}, the document below.",
                "决定针对修订 {revision}，即下方的文档。")) }
            (call.body(&json!({ "revision": revision })).show(viewer))
        }
    }
}

fn correcting(
    viewer: &Viewer,
    edition: &Edition,
    stories: &[Printed],
    form: &Correcting,
    faults: &Faults,
) -> Markup {
    let (lang, id, revision) = (viewer.lang, edition.id, edition.revision);
    let (day, first) = (id.to_string(), &stories[0].key.0);
    let names = stories
        .iter()
        .map(|it| (&it.key.0, format!("{}. {}", it.rank, it.title)));
    let story = choice(
        "story",
        lang.pick("Story", "文章"),
        Some(&form.story),
        names,
    );
    let moving = form.moving(lang, &story, stories.len());
    let editing = form.editing(lang, &story);
    // What was sent is marked, and the other form is not.
    let none = Faults::default();
    let [of_moving, of_editing] = match form.act {
        Way::Edit => [&none, faults],
        Way::Drop | Way::Move => [faults, &none],
    };
    let action = format!("{}/correct", links::edition(id));
    let sent = |fields: &Markup| html! { (hidden([("revision", revision)])) (fields) };
    let call = Equivalent::act("POST", "edition", id, "correct");
    let body = json!({ "correction": { "type": "drop", "story": first } });
    html! {
        div {
            (self::form(viewer, &action, &sent(&of_moving.show(lang, &moving))))
            (self::form(viewer, &action, &sent(&of_editing.show(lang, &editing))))
            p class="hint" { (pick!(lang;
                "Each correction is a new revision with your name. It is sent to destinations that can replace what they have; readers of the others keep what they got.",
                "每次更正都会生成带有您名字的新修订，并发送到可替换内容的发布目的地；其他目的地的读者保留已收到的内容。")) }
            (call.body(&body).cli(["edition", "drop", first, &day]).show(viewer))
        }
    }
}

fn retracting(viewer: &Viewer, edition: &Edition) -> Markup {
    let (lang, id) = (viewer.lang, edition.id);
    let fields = html! {
        div class="fields" {
            label { (lang.pick("Note to readers (optional)", "给读者的说明（可选）")) input type="text" name="note" maxlength="500"; }
            button type="submit" { (lang.pick("Retract…", "撤回…")) }
        }
    };
    html! {
        div {
            form method="get" action={ (links::edition(id)) "/retract" } { (fields) }
            (Equivalent::act("POST", "edition", id, "retract").show(viewer))
        }
    }
}

/// What takes back what was just done: a moved story goes back, a retracted edition is restored.
/// Nothing brings back a dropped story or an old text.
pub(super) fn undo(
    viewer: &Viewer,
    did: Option<&str>,
    edition: &Edition,
    revisions: &[RevisionLine],
) -> Option<Markup> {
    let here = links::edition(edition.id);
    let newest = revisions
        .first()
        .filter(|it| it.revision == edition.revision)?;
    if newest.by.as_deref() != Some(viewer.origin().as_str()) || !viewer.may(Scope::Operate) {
        return None;
    }
    match (did?, newest.change.as_ref()?) {
        ("corrected", Revision::Moved { story, from, .. }) => {
            let fields = html! {
                (hidden([("revision", newest.revision), ("to", *from)]))
                (hidden([("story", story.0.as_str()), ("act", "move")]))
            };
            Some(undo::button(viewer, &format!("{here}/correct"), &fields))
        }
        ("retracted", Revision::Retracted { .. }) => {
            Some(undo::button(viewer, &format!("{here}/restore"), &html! {}))
        }
        _ => None,
    }
}

/// The revisions and who made them.
pub(super) fn history(viewer: &Viewer, revisions: &[RevisionLine]) -> Markup {
    let lang = viewer.lang;
    table! { lang; "Revisions, newest first", "修订，最新在前"; or "No document was made yet.", "尚未生成文档。";
        for (line in revisions) tr(data-row id={ "revision-" (line.revision) })
        "Revision", "修订" { th scope="row" class="narrow" { (line.revision) } }
        "Made", "生成时间" { td { (viewer.at(line.made_at)) } }
        "By", "作者" { td { (or_dash(line.by.as_deref())) } }
        "Change", "更改" { td { (changed(lang, line.change.as_ref())) } }
    }
}

fn changed(lang: Lang, change: Option<&Revision>) -> String {
    let Some(change) = change else {
        return lang.pick("built from its stories", "由文章生成").to_owned();
    };
    if lang == Lang::English {
        return change.to_string();
    }
    match change {
        Revision::Dropped { title, .. } => format!("移除“{title}”"),
        Revision::Moved {
            title, from, to, ..
        } => format!("将“{title}”从第 {from} 位移到第 {to} 位"),
        Revision::Edited { title, fields, .. } => {
            let named = fields.iter().map(|field| match field.as_str() {
                "title" => "标题",
                "summary" => "摘要",
                _ => "评论要点",
            });
            let named: Vec<&str> = named.collect();
            format!("修改“{title}”的{}", named.join("、"))
        }
        Revision::Retracted { note, .. } => match note {
            Some(note) => format!("撤回：{note}"),
            None => "撤回".to_owned(),
        },
        Revision::Restored { revision } => format!("恢复修订 {revision}"),
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Deciding {
    revision: u32,
    act: Verb,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verb {
    Approve,
    Reject,
}

/// Approves or rejects.
pub(crate) async fn decide(Dated(id): Dated, filled: Filled<Deciding>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let meant = Meant {
        revision: Some(form.revision),
        since: None,
    };
    let (editions, by) = (editions_of(&state, id)?, viewer.origin());
    let (done, code) = match form.act {
        Verb::Approve => (editions.approve(id, meant, &by).await, "approved"),
        Verb::Reject => (editions.reject(id, meant, &by).await, "rejected"),
    };
    done?;
    Ok(see(&format!("{}?did={code}", links::edition(id))))
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Correcting {
    revision: u32,
    story: String,
    act: Way,
    to: Option<String>,
    title: Option<String>,
    summary: Option<String>,
    comments: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Way {
    #[default]
    Drop,
    Move,
    Edit,
}

impl Correcting {
    fn moving(&self, lang: Lang, story: &Markup, places: usize) -> Markup {
        html! {
            div class="fields" {
                (story)
                label { (lang.pick("Place", "位置"))
                    input type="number" name="to" min="1" max=(places) step="1" value=(self.to.as_deref().unwrap_or("1"));
                }
                button type="submit" name="act" value="move" { (lang.pick("Move", "移动")) }
                button type="submit" name="act" value="drop" { (lang.pick("Drop", "移除")) }
            }
        }
    }

    fn editing(&self, lang: Lang, story: &Markup) -> Markup {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        html! {
            div class="fields" {
                (story)
                (Field::text("title", lang.pick("New title (empty: unchanged)", "新标题（留空则不变）"), self.title.as_deref()).most(500))
                label { (lang.pick("New summary (empty: unchanged)", "新摘要（留空则不变）")) textarea name="summary" rows="4" maxlength="10000" { (text(&self.summary)) } }
                label { (lang.pick("New summary of the comments (empty: unchanged)", "新评论要点（留空则不变）")) textarea name="comments" rows="3" maxlength="10000" { (text(&self.comments)) } }
                button type="submit" name="act" value="edit" { (lang.pick("Save the text", "保存文字")) }
            }
        }
    }

    fn wanted(&self) -> Result<Correction, Fault> {
        // A browser sends every field of a form.
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let story = self.story.clone();
        Ok(match self.act {
            Way::Drop => Correction::Drop { story },
            Way::Move => {
                let to = self.to.as_deref().and_then(|to| to.trim().parse().ok());
                let number = both!("Enter the number of a place.", "请填写位置的编号。");
                let to = to.ok_or_else(|| Fault::at("to", number))?;
                Correction::Move { story, to }
            }
            Way::Edit => Correction::Edit {
                story,
                title: given(&self.title),
                summary: given(&self.summary),
                comments: given(&self.comments),
            },
        })
    }
}

/// Drops, moves or edits a story. What is refused is shown with what was typed.
pub(crate) async fn correct(Dated(id): Dated, filled: Filled<Correcting>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let (editions, by) = (editions_of(&state, id)?, viewer.origin());
    let faults = match form.wanted() {
        Ok(wanted) => match editions
            .correct(id, &wanted, Some(form.revision), &by)
            .await
        {
            Ok(_) => return Ok(see(&format!("{}?did=corrected", links::edition(id)))),
            Err(error) => match Problem::from(error) {
                // Another revision replaced the one that was read: no typing mends that.
                problem if problem.code.status() == StatusCode::CONFLICT => {
                    return Err(problem);
                }
                problem => Faults::from(problem),
            },
        },
        Err(fault) => fault.into(),
    };
    let faults = faults.mendable()?;
    let account = editions.account(id).await?;
    let document = super::document::newest(editions, &account).await?;
    let stories = document.map_or_else(Vec::new, |it| it.inputs.stories);
    let body = html! {
        @if stories.is_empty() { (faults.show(viewer.lang, &html! {})) }
        @else { (correcting(&viewer, &account.edition, &stories, &form, &faults)) }
        p { a href=(links::edition(id)) { (say!(viewer.lang, "Edition of {id}", "{id} 的日报")) } }
    };
    let title = viewer.lang.pick("Review and correct", "审阅与更正");
    Ok(again(page(&viewer, Place::Editions, title, &body)))
}

#[derive(Debug, Deserialize)]
pub(crate) struct Retracting {
    note: Option<String>,
}

/// Asks before an edition is taken back.
pub(crate) async fn ask_retracting(Dated(id): Dated, sought: Sought<Retracting>) -> Page {
    let Sought(state, viewer, query) = sought;
    let lang = viewer.lang;
    let account = editions_of(&state, id)?.account(id).await?;
    turn::check_retractable(&account, viewer.now)
        .map_err(almanack_engine::editions::Error::from)?;
    let note = query.note.unwrap_or_default();
    let question = Question {
        title: &say!(lang; "Retract the edition of {id}?", "撤回 {id} 的日报？"),
        sentence: html! { (pick!(lang;
        "Its page says that it was retracted, and feeds leave it out. Destinations that can replace what they have get a note; messages that were sent cannot be recalled. You can restore it later.",
        "其页面将显示已撤回，订阅源不再包含它。可替换内容的发布目的地会收到说明；已发出的消息无法收回。之后可以恢复。")) },
        fields: html! {
            label { (lang.pick("Note to readers (optional)", "给读者的说明（可选）")) input type="text" name="note" maxlength="500" value=(note); }
        },
        button: lang.pick("Retract", "撤回"),
        back: &links::edition(id),
        equivalent: Equivalent::act("POST", "edition", id, "retract"),
    };
    Ok(ask(&viewer, Place::Editions, &question))
}

pub(crate) async fn retract(Dated(id): Dated, filled: Filled<Retracting>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let (editions, by) = (editions_of(&state, id)?, viewer.origin());
    editions.retract(id, form.note.as_deref(), &by).await?;
    Ok(see(&format!("{}?did=retracted", links::edition(id))))
}

pub(crate) async fn restore(Dated(id): Dated, Filled(state, viewer, _): Filled) -> Answer {
    editions_of(&state, id)?
        .restore(id, &viewer.origin())
        .await?;
    Ok(see(&format!("{}?did=restored", links::edition(id))))
}
