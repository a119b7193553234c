//! Bulk actions: cancel, retry, reschedule.
//!
//! The tasks are the ticked ones, or all that match the list's filter. A page asks first, with the
//! exact counts of a dry run; agreeing begins a bulk change of exactly those rows, as command and
//! API do, and leads to its page. Rows that are written after the question are not changed.

mod shift;

use almanack_core::bulk::{Action, BulkRequest, DryRun};
use almanack_core::store::TaskFilter;

use super::{changes, filter::Filter, filter::words_of, link, list::PAGE};
use crate::bulk::bulks;
use crate::ui::prelude::*;

const HERE: &str = "/ui/tasks/bulk";
/// How many are listed by name.
const NAMED: usize = 10;

fn name(lang: Lang, action: Action) -> &'static str {
    words! { lang, action;
        Action::Cancel => "Cancel", "取消";
        Action::Retry => "Retry now", "立即重试";
        Action::Move => "Reschedule", "改期";
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    act: Action,
    #[serde(default)]
    id: Vec<i64>,
    all: Option<String>,
    #[serde(flatten)]
    filter: Filter,
    /// The newest row at the time of the question.
    through: Option<i64>,
    #[serde(flatten)]
    shift: shift::Fields,
}

impl Asked {
    /// The ticked rows, or what the list's filter finds.
    fn wanted(&self, viewer: &Viewer) -> Result<TaskFilter> {
        if self.all.is_some() {
            return self.filter.wanted(viewer.zone_name());
        }
        if self.id.len() > PAGE {
            return Err(unclear(both!(
                "more tasks were selected than a page holds",
                "所选任务超过一页的数量"
            )));
        }
        let ids = self.id.iter().copied().map(TaskId).collect();
        Ok(TaskFilter {
            ids,
            ..TaskFilter::default()
        })
    }

    /// The hidden fields that ask the same again.
    fn fields(&self) -> Vec<(String, String)> {
        let mut fields = pairs([("act", self.act.as_str())]);
        if self.all.is_some() {
            fields.extend(pairs([("all", "1")]));
            fields.extend(pairs(&self.filter));
        }
        let ids = self.id.iter().map(|id| ("id".to_owned(), id.to_string()));
        fields.extend(ids);
        fields
    }

    fn back(&self) -> String {
        self.filter.address(Place::Tasks.path(), &[])
    }
}

/// The action as a heading.
fn title(lang: Lang, action: Action, would: &DryRun) -> String {
    let n = would.would_change;
    let least = if would.exact {
        ""
    } else {
        lang.pick("at least ", "至少 ")
    };
    match (action, n) {
        (Action::Cancel, 1) => say!(lang, "Cancel 1 task", "取消 1 个任务"),
        (Action::Cancel, n) => say!(lang, "Cancel {least}{n} tasks", "取消{least} {n} 个任务"),
        (Action::Retry, 1) => say!(lang, "Retry 1 task now", "立即重试 1 个任务"),
        (Action::Retry, n) => say!(
            lang,
            "Retry {least}{n} tasks now",
            "立即重试{least} {n} 个任务"
        ),
        (Action::Move, 1) => say!(lang, "Reschedule 1 task", "为 1 个任务改期"),
        (Action::Move, n) => say!(
            lang,
            "Reschedule {least}{n} tasks",
            "为{least} {n} 个任务改期"
        ),
    }
}

/// What changes, and what does not.
fn rule(lang: Lang, action: Action) -> &'static str {
    words! { lang, action;
        Action::Cancel =>
            "Cancels tasks that wait or run; calls already sent are not recalled. Ended tasks are unchanged.",
            "将取消等待和运行中的任务；已经发出的调用不会撤回。已结束的不受影响。";
        Action::Retry =>
            "Runs failed tasks now with their current payload. Waiting, running, done and cancelled tasks are unchanged.",
            "将立即用现有载荷重试失败的任务。等待、运行中、已成功和已取消的不受影响。";
        Action::Move =>
            "Changes the time of waiting tasks. Running and ended tasks are unchanged, and so are those that would expire by then.",
            "将更改等待中任务的时间。运行中和已结束的不受影响，届时将过期的也不受影响。";
    }
}

/// How many change, and how many do not, by reason.
fn counts(lang: Lang, would: &DryRun) -> Markup {
    let (n, left) = (would.would_change, changes::skipped(lang, &would.skipped));
    html! {
        p {
            (say!(lang; "Will change: {n} of {}.", "将更改：{n} / {}。", would.matched))
            @if !left.is_empty() { " " (say!(lang; "Will not change: {left}.", "不会更改：{left}。")) }
            @if !would.exact {
                " " (lang.pick("There are more tasks than were counted; all that match will change.",
                    "任务过多，未全部计数；所有符合条件的都会更改。"))
            }
        }
    }
}

/// The newest of them by name, and how many more.
async fn first_few(state: &AppState, viewer: &Viewer, request: &BulkRequest, matched: u64) -> Page {
    let filter = TaskFilter {
        limit: NAMED,
        ..request.filter.clone()
    };
    let lines = state.store.search_tasks(&filter).await?;
    let shown = u64::try_from(lines.len()).unwrap_or(u64::MAX);
    let more = matched.saturating_sub(shown);
    Ok(html! {
        ul {
            @for line in &lines {
                li { (link(&line.identity)) " (" (line.identity.kind) "), "
                    (parts::status(viewer.lang, line.status, line.is_live())) ", " (viewer.at(line.execute_at)) }
            }
            @if more > 0 { li { (say!(viewer.lang, "and {more} more", "以及另外 {more} 个")) } }
        }
    })
}

/// The list, with its bulk actions.
pub(crate) fn offer(viewer: &Viewer, filter: &Filter, table: &Markup) -> Markup {
    let lang = viewer.lang;
    let all = lang.pick("All matching tasks:", "全部符合条件的任务：");
    html! {
        form method="get" action=(HERE) class="stack" {
            (hidden(pairs(filter)))
            (table)
            p class="acts bar" {
                span { (lang.pick("Selected tasks:", "所选任务：")) }
                @for act in Action::ALL {
                    button type="submit" name="act" value=(act.as_str()) { (name(lang, act)) "…" }
                }
            }
        }
        p class="acts" {
            @if filter.is_empty() {
                span class="hint" { (lang.pick("To change all matching tasks, set a filter first.",
                    "如需更改全部符合条件的任务，请先设置筛选条件。")) }
            } @else {
                span { (all) }
                @for act in Action::ALL {
                    a class="button" href=(filter.address(HERE, &[("act", act.as_str()), ("all", "1")]))
                        aria-label={ (name(lang, act)) ": " (all) } { (name(lang, act)) "…" }
                }
            }
            a href=(changes::PATH) { (lang.pick("Bulk changes so far", "已有的批量更改")) }
        }
    }
}

pub(crate) async fn ask(Sought(state, viewer, asked): Sought<Asked>) -> Answer {
    viewer.must(Scope::Operate, "changing tasks")?;
    if asked.all.is_none() && asked.id.is_empty() {
        return Ok(nothing_chosen(&viewer, &asked.back()).into_response());
    }
    let filter = asked.wanted(&viewer)?;
    if asked.act == Action::Move {
        return Ok(shift::ask(&state, &viewer, &asked, filter)
            .await?
            .into_response());
    }
    let request = request(asked.act, filter);
    let would = bulks(&state).dry_run(&request).await?;
    let body = html! {
        p { (rule(viewer.lang, asked.act)) }
        (counts(viewer.lang, &would))
        (first_few(&state, &viewer, &request, would.matched).await?)
        (agree(&viewer, &asked, &request, &would))
    };
    let title = title(viewer.lang, asked.act, &would);
    Ok(page(&viewer, Place::Tasks, &title, &body).into_response())
}

/// The button that begins the change, if it changes something, and the way back.
fn agree(viewer: &Viewer, asked: &Asked, request: &BulkRequest, would: &DryRun) -> Markup {
    let title = title(viewer.lang, asked.act, would);
    let fields = html! {
        (hidden(asked.fields()))
        (hidden([("through", would.through_task_id.to_string())]))
        (hidden(shift::fields(request)))
        p class="acts" {
            @if would.would_change > 0 {
                button type="submit" class=(if asked.act == Action::Cancel { "danger" } else { "primary" }) { (title) }
            }
            a class="button" href=(asked.back()) { (viewer.lang.pick("Keep them", "返回")) }
        }
    };
    html! { (form(viewer, HERE, &fields)) (equivalent(request).show(viewer)) }
}

fn equivalent(request: &BulkRequest) -> Equivalent {
    let (words, filter) = words_of(&request.filter);
    let mut body = json!({ "action": request.action, "filter": filter });
    let act = request.action.as_str();
    let mut command: Vec<String> = ["task", "bulk", act].map(str::to_owned).into();
    command.extend(words);
    if let Some(by) = request.by_s {
        body["by_s"] = json!(by);
        command.extend(["--by".to_owned(), format!("{by}s")]);
    }
    if let Some(to) = request.to {
        body["to"] = json!(to);
        command.extend(["--to".to_owned(), to.to_string()]);
    }
    Equivalent::call("POST", "/api/v1/tasks/bulk")
        .body(&body)
        .cli(command)
}

fn nothing_chosen(viewer: &Viewer, back: &str) -> Markup {
    let lang = viewer.lang;
    let body = html! {
        p { (lang.pick("No task selected: tick some, or change the filter.", "没有选择任务：请勾选任务，或更改筛选条件。")) }
        p { a class="button" href=(back) { (lang.pick("Back to the list", "返回列表")) } }
    };
    let title = lang.pick("No task selected", "未选择任务");
    page(viewer, Place::Tasks, title, &body)
}

pub(crate) async fn act(Filled(state, viewer, asked): Filled<Asked>) -> Answer {
    let request = BulkRequest {
        by_s: asked.shift.by_s()?,
        to: asked.shift.to()?,
        ..request(asked.act, asked.wanted(&viewer)?)
    };
    let through = asked.through.map(TaskId);
    let (bulks, by) = (bulks(&state), viewer.origin());
    let begun = bulks.start(request, through, &by).await?;
    Ok(see(&changes::path(begun.id)))
}

fn request(action: Action, filter: TaskFilter) -> BulkRequest {
    BulkRequest {
        action,
        by_s: None,
        to: None,
        filter,
    }
}

fn unclear(detail: Sentence) -> Problem {
    Problem::new(Code::InvalidValue, detail)
}
