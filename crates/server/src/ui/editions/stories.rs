//! The stories of an edition: all of them at a glance, and each with what became of it.

use almanack_core::edition::story::{Status, Story};

use super::{frame, words};
use crate::picture::grid::{self, Square};
use crate::ui::prelude::*;

/// The grid and the table.
pub(super) fn show(viewer: &Viewer, stories: &[Story], are_pruned: bool) -> Markup {
    let lang = viewer.lang;
    if stories.is_empty() {
        return empty(if are_pruned {
            pick!(lang;
                "Its stories were deleted when they had been kept long enough; its document stays.",
                "文章已超过保留期限被删除，文档仍然保留。")
        } else {
            lang.pick("Its stories are not known yet.", "尚未获取文章列表。")
        });
    }
    let squares: Vec<Square> = stories.iter().map(square).collect();
    let head = [
        lang.pick("Rank", "排名"),
        lang.pick("Story", "文章"),
        lang.pick("Status", "状态"),
        lang.pick("Batch", "批次"),
        lang.pick("Note or error", "备注或错误"),
        lang.pick("Retries", "重试"),
    ];
    let rows = html! { @for story in stories { (row(viewer, story)) } };
    html! {
        (grid::draw(&squares, &frame(viewer, "grid", lang.pick("Stories by rank", "按排名的文章"))))
        (table(lang.pick("Stories by rank", "按排名的文章"), &head, &rows))
    }
}

fn square(story: &Story) -> Square {
    Square {
        name: format!("{}. {}", story.rank, title(story)),
        outcome: words::story_outcome(story.status),
        href: Some(format!("#story-{}", story.rank)),
    }
}

/// Its title in the edition's language, or else its own.
fn title(story: &Story) -> &str {
    let written = story.written.title.as_deref();
    written.unwrap_or(&story.listed.title)
}

fn row(viewer: &Viewer, story: &Story) -> Markup {
    let (lang, listed) = (viewer.lang, &story.listed);
    html! {
        tr data-row id={ "story-" (story.rank) } {
            td class="number" { (story.rank) }
            // Whichever language they are in, it is not the page's.
            th scope="row" class="name" lang="" {
                (outside(&listed.url, title(story)))
                @if title(story) != listed.title { br; span class="hint" { (listed.title) } }
                @if let Some(talk) = &listed.discussion_url {
                    br; span class="hint" lang=(lang.tag()) { (outside(talk, lang.pick("what is said about it", "相关讨论"))) }
                }
            }
            td { (words::story(lang, story.status)) }
            td class="number" {
                @if let Some(batch) = story.batch { a href={ "#batch-" (batch) } aria-label=(say!(lang, "batch {batch}", "批次 {batch}")) { (batch) } }
                @else { (or_dash(None)) }
            }
            td {
                @if let Some(note) = story.written.note { (words::note(lang, note)) }
                @if let Some(error) = &story.error_message { " " span class="bad" { (lang.english(error)) } }
                @if story.written.note.is_none() && story.error_message.is_none() { (or_dash(None)) }
            }
            td {
                (story.retry_count)
                @if let Some(at) = story.retry_at.filter(|_| story.status == Status::Failed) { " · " (viewer.at(at)) }
            }
        }
    }
}
