//! The document of an edition: its content, its revision, and its Markdown.
//!
//! Rendered from its stored inputs, as readers see it; all texts were written by others and are
//! escaped.

use almanack_core::edition::Account;
use almanack_core::edition::document::{Document, Printed};
use almanack_engine::editions::{Editions, Error};

use crate::editions::{Dated, editions_of};
use crate::ui::prelude::*;

#[derive(Debug, Deserialize)]
pub(crate) struct Query {
    revision: Option<u32>,
}

pub(crate) async fn show(Dated(id): Dated, Sought(state, viewer, query): Sought<Query>) -> Page {
    let lang = viewer.lang;
    let document = editions_of(&state, id)?
        .document(id, query.revision)
        .await?;
    let revision = document.inputs.revision;
    let (number, day) = (revision.to_string(), id.to_string());
    let call = format!("/api/v1/editions/{id}/document?revision={revision}");
    let call = Equivalent::call("GET", call);
    let body = html! {
        p { a href=(links::edition(id)) { (say!(lang, "Edition of {id}", "{id} 的日报")) } }
        (section("made", lang.pick("Revision details", "修订信息"), &made(&viewer, &document)))
        (section("printed", lang.pick("Content", "内容"), &printed(&viewer, &document)))
        (section("markdown", lang.pick("Markdown", "Markdown"), &markdown(&document)))
        (call.cli(["edition", "show", &day, "--revision", &number]).show(&viewer))
    };
    let title = say!(lang; "Document of {id}, revision {revision}",
        "{id} 的文档，修订 {revision}");
    Ok(page(&viewer, Place::Editions, &title, &body))
}

/// The latest document, or a preview; none if there is no content.
pub(super) async fn newest(editions: &Editions, account: &Account) -> Result<Option<Document>> {
    let id = account.edition.id;
    let found = if account.edition.revision > 0 {
        editions.show(id, None).await
    } else if account.counts().completed > 0 {
        editions.preview(id).await
    } else {
        return Ok(None);
    };
    match found {
        Ok(document) => Ok(Some(document)),
        // The page of an edition must open even if its document cannot be rendered.
        Err(Error::Template(_) | Error::NoDocument(..)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The revisions, and the latest of them.
pub(super) fn preview(viewer: &Viewer, account: &Account, document: Option<&Document>) -> Markup {
    let edition = &account.edition;
    let is_published = edition.is_published() || account.was_published();
    let (lang, id, revision) = (viewer.lang, edition.id, edition.revision);
    html! {
        @if is_published { p { a href={ "/editions/" (id) } { (lang.pick("Public page", "读者页面")) } } }
        @if revision > 0 {
            p { (lang.pick("Revisions: ", "修订："))
                // Newest first.
                @for number in (1..=revision).rev().take(20) {
                    a href={ (links::edition(id)) "/document?revision=" (number) } { (say!(lang, "revision {number}", "修订 {number}")) } " "
                }
            }
        } @else if document.is_some() {
            p class="hint" { (pick!(lang;
                "No document has been rendered yet. This is a preview of the current content; it is not stored.",
                "尚未生成文档。以下是按当前内容生成的预览，不会保存。")) }
        } @else {
            (empty(lang.pick("There is no content to render yet.", "尚无可生成的内容。")))
        }
        @if let Some(document) = document {
            details { summary { (lang.pick("Preview", "预览")) } (printed(viewer, document)) }
            details { summary { (lang.pick("Markdown", "Markdown")) } (markdown(document)) }
        }
    }
}

fn made(viewer: &Viewer, document: &Document) -> Markup {
    let inputs = &document.inputs;
    facts! { viewer.lang;
        "Title", "标题" { span lang="" { (inputs.title) } }
        "Language", "语言" { (inputs.language) }
        "Rendered", "生成于" { (viewer.at(document.made_at)) }
        "Stories", "文章" { (inputs.stories.len()) }
        "Left out", "未收录" { (inputs.left_out) }
        "SHA-256 of the Markdown", "Markdown 的 SHA-256" { code { (document.body_digest) } }
        "SHA-256 of stories, texts and template", "文章、文字与模板的 SHA-256" { code { (document.inputs_digest) } }
    }
}

fn markdown(document: &Document) -> Markup {
    html! { pre tabindex="0" lang=(document.inputs.language) { (document.body) } }
}

fn printed(viewer: &Viewer, document: &Document) -> Markup {
    html! {
        div class="document" lang=(document.inputs.language) {
            @for story in &document.inputs.stories { (story_printed(viewer, story)) }
        }
    }
}

fn story_printed(viewer: &Viewer, story: &Printed) -> Markup {
    let lang = viewer.lang;
    let (page, readers) = (
        lang.pick("Article", "正文摘要"),
        lang.pick("Comments", "读者评论"),
    );
    let said = [
        (page, &story.content_summary),
        (readers, &story.comment_summary),
    ];
    html! {
        article {
            h3 { (story.rank) ". " (outside(&story.url, &story.title)) }
            @if story.original_title != story.title { p class="hint" lang="" { (story.original_title) } }
            @for (label, text) in said {
                @if let Some(text) = text {
                    p class="hint" lang=(lang.tag()) { (label) }
                    @for paragraph in text.split('\n').map(str::trim).filter(|part| !part.is_empty()) { p { (paragraph) } }
                }
            }
        }
    }
}
