//! Repairing a source in place: one form for everything that was set about it.
//!
//! The form has two buttons: preview what would be read with it, or save it. A preview stores
//! nothing and shows the form again below its result. Both work without scripts. A source of the
//! configuration file has no form: the file would win again.

mod fields;
mod typed;

use self::typed::Edit;
use super::called;
use crate::sources::Numbered;
use crate::sources::body::check_form;
use crate::sources::preview::{PreviewView, preview_of};
use crate::ui::prelude::*;

/// Entries shown of a preview.
const SHOWN: usize = 50;

/// The form of a source, folded away.
pub(super) fn show(viewer: &Viewer, source: &Source) -> Markup {
    let lang = viewer.lang;
    if source.definition.options.from_file {
        return html! { p class="hint" { (pick!(lang;
        "The configuration file defines this source ([[source]]). Change or remove it there; you can check, pause and resume it here.",
        "该信源由配置文件（[[source]]）定义，请在文件中修改或移除；可在此检查、暂停和恢复。")) } };
    }
    html! {
        details {
            summary { (lang.pick("Edit this source", "编辑该信源")) }
            (form_of(viewer, source.id, &Edit::of(source), &Faults::default()))
        }
    }
}

fn form_of(viewer: &Viewer, id: SourceId, edit: &Edit, faults: &Faults) -> Markup {
    let (lang, here, number) = (viewer.lang, links::source(id), id.to_string());
    let inside = html! {
        (faults.show(lang, &fields::show(lang, edit)))
        (form::checked(lang, lang.pick("Save", "保存")))
    };
    let set = Equivalent::call("PATCH", format!("/api/v1/sources/{id}"))
        .body(&json!({ "address": "https://example.org/feed.xml", "category": "news" }));
    let address = ["--address", "https://example.org/feed.xml"];
    let words = ["source", "set", &number].into_iter().chain(address);
    let try_it =
        Equivalent::call("POST", "/api/v1/sources/preview").body(&json!({ "source_id": id.0 }));
    html! {
        (form::form(viewer, &format!("{here}/change"), &inside))
        (set.cli(words.chain(["--category", "news"])).show(viewer))
        (try_it.cli(["source", "try", &number]).show(viewer))
    }
}

/// Valid values of the fields that must not be empty.
const STAND_INS: &[(&str, &str)] = &[
    ("address", "https://example.org/"),
    ("item", "a"),
    ("title", "a"),
];

/// Changes a source, or shows what would be read with the form as it is. A refused form shows
/// everything that is wrong.
pub(crate) async fn change(Numbered(id): Numbered, filled: Filled<Edit>) -> Answer {
    let Filled(state, viewer, form) = filled;
    let (lang, source) = (viewer.lang, state.sources.load(id).await?);
    let read = Faults::read(&form, STAND_INS, |form| {
        let changes = form.clone().changes()?;
        let definition = changes.apply(&source.definition).map_err(Problem::from)?;
        check_form(&definition)?;
        state.sources.check(&definition).map_err(Problem::from)?;
        Ok((changes, definition))
    });
    let is_checked = form.act.as_deref() == Some("check");
    let faults = match read {
        Err(faults) => faults,
        Ok((_, definition)) if is_checked => match preview_of(&state, &definition).await {
            Err(problem) => problem.into(),
            Ok(shown) => {
                let edit = form_of(&viewer, id, &form, &Faults::default());
                let body = html! {
                    (section("preview", lang.pick("What would be read", "将读取的内容"), &result(&viewer, &shown)))
                    (section("edit", lang.pick("Edit this source", "编辑该信源"), &edit))
                };
                let page = page(&viewer, Place::Sources, called(&source), &body);
                return Ok(with_status(StatusCode::OK, page));
            }
        },
        Ok((changes, _)) => match state.sources.change(id, &changes, &viewer.origin()).await {
            Ok(_) => return Ok(see(&format!("{}?did=changed", links::source(id)))),
            Err(error) => Problem::from(error).into(),
        },
    };
    let body = form_of(&viewer, id, &form, &faults.mendable()?);
    Ok(again(page(&viewer, Place::Sources, called(&source), &body)))
}

/// What would be read, as it was read just now.
pub(super) fn result(viewer: &Viewer, shown: &PreviewView) -> Markup {
    let (lang, count) = (viewer.lang, shown.entries.len());
    let first = shown.entries.get(..SHOWN).unwrap_or(&shown.entries);
    let more = count - first.len() + shown.left_out;
    let entries = table! { lang; "Entries, as in the document", "条目，按文档顺序"; or "No entries.", "没有条目。";
        for (entry in first) tr()
        "Entry", "条目" { th scope="row" class="name" lang="" { (outside(entry.found.link.as_deref().unwrap_or_default(), &entry.found.title)) } }
        "Published", "发布时间" { td { (viewer.at_or_dash(entry.found.published_at)) } }
        "Link", "链接" { td { (or_dash(entry.found.link.as_deref())) } }
        "Dropped by", "被丢弃于规则" { td { (or_dash(entry.dropped_by.as_deref())) } }
    };
    html! {
        p role="status" { (say!(lang; "Entries found: {count}. Nothing has been stored.", "找到 {count} 个条目，尚未存储任何内容。")) }
        @if let Some(title) = &shown.title { p { (lang.pick("Its own title: ", "自身标题：")) q lang="" { (title) } } }
        @if !shown.warnings.is_empty() {
            ul class="warning" { @for warning in &shown.warnings { li { (english(lang, warning)) } } }
        }
        (entries)
        @if more > 0 { p class="hint" { (say!(lang, "Not shown: {more} more.", "另有 {more} 个条目未显示。")) } }
    }
}
