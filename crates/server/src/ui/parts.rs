//! Parts that many pages share.

use almanack_core::store::StatusCount;
use almanack_core::task::MAX_RETRY_MAX;

use crate::editions::pages::is_web;
use crate::ui::prelude::*;

/// A status, by word, shape and colour.
pub(crate) fn status(lang: Lang, status: Status, live: bool) -> Markup {
    badges! { lang, status;
        Status::Init => "planned", "Waiting", "等待";
        Status::Running => "running", "Running", "运行中";
        Status::Success => "done", "Done", "成功";
        Status::Fail if live => "retrying", "Failed, will retry", "失败，将重试";
        Status::Fail => "failed", "Failed", "失败";
        Status::Cancelled => "cancelled", "Cancelled", "已取消";
    }
}

/// A word with a shape before it; the class names the shape and the colour.
pub(crate) fn badge(class: &str, word: &str) -> Markup {
    html! { span class={ "badge " (class) } { (word) } }
}

/// The number of the attempt, and the limit if there is one. The engine's own tasks have the
/// highest limit there is, which means none, firings are limited by their window, and attempts on
/// lost nodes do not count.
pub(crate) fn attempts(attempt: u32, max_retry: u32) -> Markup {
    html! {
        (attempt)
        @if max_retry < MAX_RETRY_MAX && attempt <= max_retry + 1 { " / " (max_retry + 1) }
    }
}

/// A link that shows internal tasks in a list, or leaves them out again.
pub(crate) fn internal(lang: Lang, shown: bool, href: &str) -> Markup {
    let words = if shown {
        lang.pick("Hide internal tasks", "隐藏内部任务")
    } else {
        lang.pick("Show internal tasks", "显示内部任务")
    };
    html! { a class="internal" href=(href) { (words) } }
}

/// How many tasks have this status.
pub(crate) fn count(statuses: &[StatusCount], status: Status) -> u64 {
    let found = statuses.iter().find(|count| count.status == status);
    found.map_or(0, |count| count.tasks)
}

/// A part of a page that the script keeps live. Form fields stay outside.
pub(crate) fn live(id: &str, body: &Markup) -> Markup {
    html! { div id=(id) data-live { (body) } }
}

/// A section with a heading, and an optional count beside it.
pub(crate) fn section(id: &str, title: &str, body: &Markup) -> Markup {
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (title) }
            (body)
        }
    }
}

/// Shown for an empty list.
pub(crate) fn empty(sentence: &str) -> Markup {
    html! { p class="empty" { (sentence) } }
}

/// In place of an empty list: what it is for, and how to begin. The live script does not replace it,
/// so a page that it asks for is without: a form names the present, which is always another.
pub(crate) fn first(viewer: &Viewer, sentence: &str, begin: &Markup) -> Markup {
    if viewer.live {
        return html! {};
    }
    let title = viewer.lang.pick("Begin here", "从这里开始");
    section(
        "first",
        title,
        &html! { div class="stack" { p { (sentence) } (begin) } },
    )
}

/// Pagination of a newest-first list.
pub(crate) fn pager(lang: Lang, first: Option<&str>, next: Option<&str>) -> Markup {
    turn(lang, first, next, [("Newest", "最新"), ("Older", "更早")])
}

/// Pagination of a list with its own order.
pub(crate) fn pages(lang: Lang, first: Option<&str>, next: Option<&str>) -> Markup {
    let names = [("First page", "第一页"), ("Next page", "下一页")];
    turn(lang, first, next, names)
}

fn turn(lang: Lang, first: Option<&str>, next: Option<&str>, names: [(&str, &str); 2]) -> Markup {
    let [begin, more] = names.map(|(english, chinese)| lang.pick(english, chinese));
    html! {
        @if first.is_some() || next.is_some() {
            nav class="pager" aria-label=(lang.pick("More", "翻页")) {
                @if let Some(href) = first { a href=(href) { (begin) } }
                @if let Some(href) = next { a href=(href) rel="next" { (more) } }
            }
        }
    }
}

/// The result of an action.
pub(crate) fn notice(body: &Markup) -> Markup {
    html! { div class="notice" role="status" { (body) } }
}

/// A link to another site if the address is a web address; plain text otherwise.
pub(crate) fn outside(address: &str, words: &str) -> Markup {
    let words = if words.trim().is_empty() {
        address
    } else {
        words
    };
    html! {
        @if is_web(address) { a href=(address) rel="noopener noreferrer" { (words) } } @else { (words) }
    }
}

/// A value that may be unknown.
pub(crate) fn or_dash(value: Option<impl Render>) -> Markup {
    html! { @if let Some(value) = value { (value) } @else { (dash()) } }
}

/// Shown for an unknown value.
pub(crate) fn dash() -> Markup {
    html! { span class="none" { "–" } }
}

/// An error, announced by screen readers at once.
pub(crate) fn wrong(sentence: impl Render) -> Markup {
    html! { p class="wrong" role="alert" { (sentence) } }
}

/// Why something was refused, in its own words.
pub(crate) fn refused(lang: Lang, problem: &Problem) -> Markup {
    wrong(said(lang, &problem.detail))
}

/// A sentence; one without a text in the reader's language is marked for screen readers.
pub(crate) fn said(lang: Lang, sentence: &Sentence) -> Markup {
    let (text, written) = sentence.for_reader(lang);
    let other = (written != lang).then(|| written.tag());
    html! { @if other.is_some() { span lang=[other] { (marked(text)) } } @else { (marked(text)) } }
}

/// What is kept in English only, or was written by others.
pub(crate) fn english(lang: Lang, text: &str) -> Markup {
    said(lang, &Sentence::from(text.to_owned()))
}

/// A text with code between backticks.
pub(crate) fn marked(text: &str) -> Markup {
    let parts = text.split('`').enumerate();
    html! { @for (place, part) in parts { @if place % 2 == 1 { code { (part) } } @else { (part) } } }
}

/// A field of a form under its label.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Field<'a> {
    name: &'a str,
    label: &'a str,
    value: Option<&'a str>,
    kind: &'a str,
    class: Option<&'a str>,
    list: Option<&'a str>,
    example: Option<&'a str>,
    most: Option<usize>,
    required: bool,
}

impl<'a> Field<'a> {
    /// A line of text.
    pub(crate) fn text(name: &'a str, label: &'a str, value: Option<&'a str>) -> Self {
        let field = Self {
            name,
            label,
            value,
            ..Self::default()
        };
        field.of_kind("text")
    }

    /// The field that filters a list; the key `f` leads here.
    pub(crate) fn search(name: &'a str, label: &'a str, value: Option<&'a str>) -> Self {
        Self::text(name, label, value).of_kind("search").wide()
    }

    /// A wall-clock date and time.
    pub(crate) fn clock(name: &'a str, label: &'a str, value: Option<&'a str>) -> Self {
        Self::text(name, label, value).of_kind("datetime-local")
    }

    fn of_kind(self, kind: &'a str) -> Self {
        Self { kind, ..self }
    }

    /// A time zone, with common suggestions.
    pub(crate) fn zone(name: &'a str, label: &'a str, value: &'a str) -> Self {
        Self::text(name, label, Some(value)).list("zones")
    }

    pub(crate) fn wide(self) -> Self {
        let class = Some("wide");
        Self { class, ..self }
    }

    pub(crate) fn list(self, list: &'a str) -> Self {
        let list = Some(list);
        Self { list, ..self }
    }

    pub(crate) fn example(self, example: &'a str) -> Self {
        let example = Some(example);
        Self { example, ..self }
    }

    pub(crate) fn most(self, most: usize) -> Self {
        let most = Some(most);
        Self { most, ..self }
    }

    pub(crate) fn required(self) -> Self {
        let required = true;
        Self { required, ..self }
    }
}

impl Render for Field<'_> {
    fn render(&self) -> Markup {
        let step = (self.kind == "datetime-local").then_some("1");
        html! {
            label class=[self.class] { (self.label)
                input type=(self.kind) name=(self.name) value=[self.value] list=[self.list] step=[step]
                    placeholder=[self.example] maxlength=[self.most] required[self.required]
                    data-search[self.kind == "search"] autocomplete="off" spellcheck="false";
            }
        }
    }
}

/// A selection; default: the first option.
pub(crate) fn choice<V: AsRef<str>, W: Render>(
    name: &str,
    label: &str,
    chosen: Option<&str>,
    options: impl IntoIterator<Item = (V, W)>,
) -> Markup {
    html! {
        label { (label)
            select name=(name) {
                @for (value, words) in options {
                    @let value = value.as_ref();
                    option value=(value) selected[!value.is_empty() && chosen == Some(value)] { (words) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_counted_against_a_limit_that_is_one() {
        for (attempt, max_retry, expected) in [
            (0, 3, "0 / 4"),
            (4, 3, "4 / 4"),
            (5, 3, "5"),
            (0, MAX_RETRY_MAX, "0"),
            (1, 1_000_000, "1"),
        ] {
            let shown = attempts(attempt, max_retry).into_string();
            assert_eq!(
                shown, expected,
                "attempt {attempt} with {max_retry} retries"
            );
        }
    }
}
