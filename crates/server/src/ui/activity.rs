//! Activity: who decided what, newest first.
//!
//! Decisions about tasks and changes of schedules in one list. `people` leaves out firings that
//! schedules decide themselves. Like every list it searches only the newest rows, and says so.

use almanack_core::history::Decision;
use almanack_core::plan::{Edit, Edited};
use almanack_core::store::{Activity, ActivityCursor, ActivityFilter, Kinds};

use super::tasks::filter::text;
use super::tasks::{AMONG, words};
use crate::receipts::receipt_id;
use crate::ui::prelude::*;

/// Lines on a page.
const PAGE: usize = 50;

/// The page of activity.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new().route("/ui/activity", get(show))
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Query {
    by: Option<String>,
    kind: Option<String>,
    q: Option<String>,
    people: Option<String>,
    /// Whether internal tasks are shown, too. A filter by kind shows any kind.
    internal: Option<String>,
    /// Microseconds: the instant of the last line of the previous page.
    before: Option<i64>,
    /// How many lines of that instant were already shown.
    shown: Option<usize>,
}

impl Query {
    fn filter(&self) -> Result<ActivityFilter> {
        let kind = self.kind.as_deref().map(|kind| Kind::parse(kind.trim()));
        Ok(ActivityFilter {
            by: text(self.by.as_deref())?,
            kinds: if self.kind.is_some() || self.internal.is_some() {
                Kinds::All
            } else {
                Kinds::Business
            },
            kind: kind.transpose()?,
            containing: text(self.q.as_deref())?,
            by_people: self.people.is_some(),
            after: self.cursor()?,
            among: AMONG,
            limit: PAGE + 1,
        })
    }

    /// Where the previous page ended.
    fn cursor(&self) -> Result<Option<ActivityCursor>> {
        let Some(before) = self.before else {
            return Ok(None);
        };
        let shown = self.shown.unwrap_or(0);
        let at = Timestamp::from_microsecond(before).ok();
        let cursor = at
            .filter(|_| shown <= AMONG)
            .map(|at| ActivityCursor { at, listed: shown });
        let detail = both!(
            "before and shown are not a cursor of an earlier page",
            "before 和 shown 不是先前页面的游标"
        );
        let none = || Problem::new(Code::InvalidQuery, detail);
        cursor.ok_or_else(none).map(Some)
    }

    /// The same list with internal tasks, or without them.
    fn turned(&self) -> Self {
        let shown = self.internal.is_some();
        Self {
            internal: (!shown).then(|| "1".to_owned()),
            ..self.clone()
        }
    }

    fn address(&self, after: Option<ActivityCursor>) -> String {
        let mut query = self.clone();
        query.before = after.map(|cursor| cursor.at.as_microsecond());
        query.shown = after.map(|cursor| cursor.listed);
        address(Place::Activity.path(), query)
    }
}

async fn show(Sought(state, viewer, query): Sought<Query>) -> Answer {
    let lang = viewer.lang;
    let page = |list: &Markup| {
        let body = html! { (form(lang, &query)) (live("list", list)) };
        Place::Activity.page(&viewer, &body)
    };
    let filter = match query.filter() {
        Ok(filter) => filter,
        Err(problem) => return Ok(again(page(&refused(lang, &problem)))),
    };
    let mut lines = state.store.load_activity(&filter).await?;
    let more = paging::cut(&mut lines, PAGE);
    let end = ActivityCursor::end_of(&lines, filter.after);
    let first = query.before.map(|_| query.address(None));
    let next = end.filter(|_| more).map(|end| query.address(Some(end)));
    let list = html! {
        (table(&viewer, &query, &lines))
        (pager(lang, first.as_deref(), next.as_deref()))
    };
    Ok(page(&list).into_response())
}

fn form(lang: Lang, query: &Query) -> Markup {
    let here = Place::Activity.path();
    let sought = lang.pick("Subject or schedule contains", "主题或日程包含");
    html! {
        form method="get" action=(here) class="fields" role="search" data-try {
            (Field::search("q", sought, query.q.as_deref()))
            (Field::text("by", lang.pick("By", "操作者"), query.by.as_deref()))
            (Field::text("kind", lang.pick("Kind of task", "任务类型"), query.kind.as_deref()))
            label class="tick" {
                input type="checkbox" name="people" value="1" checked[query.people.is_some()];
                (lang.pick("People only", "只看人为操作"))
            }
            @if let Some(on) = &query.internal { input type="hidden" name="internal" value=(on); }
            button type="submit" { (lang.pick("Show", "查看")) }
            a class="button" href=(here) { (lang.pick("Show all", "查看全部")) }
        }
        p class="hint" { (pick!(lang; "Searches the newest 50,000 tasks, decisions and edits.",
            "只在最新的 50,000 个任务、决定和编辑中查找。"))
            @if query.kind.is_none() { " " (parts::internal(lang, query.internal.is_some(), &query.turned().address(None))) }
        }
    }
}

fn table(viewer: &Viewer, query: &Query, lines: &[Activity]) -> Markup {
    let of_them = |by: &str| {
        let mut query = query.clone();
        query.by = Some(by.to_owned());
        query.address(None)
    };
    table! { viewer.lang; "Activity, newest first", "动态，最新的在前";
        or "No activity matches.", "没有符合条件的操作。";
        for (line in lines) tr(data-row)
        "When", "时间" { td { (viewer.at(line.at())) } }
        "By", "操作者" { td { a href=(of_them(line.by())) { (line.by()) } } }
        "What", "操作" {
            @match line {
                Activity::Task { identity, decision } => (task(viewer, identity, decision)),
                Activity::Schedule { name, edit } => (schedule(viewer, name, edit)),
            }
        }
        "About", "对象" {}
        "Details", "详情" {}
    }
}

fn task(viewer: &Viewer, identity: &Identity, decision: &Decision) -> Markup {
    let lang = viewer.lang;
    let id = receipt_id(decision.id);
    let receipt = format!("{}?receipt={id}", links::task_path(identity));
    html! {
        td title=(words::rule(lang, decision.rule)) { (words::rule_name(lang, decision.rule)) }
        td { (links::task(identity)) }
        td {
            @if let Some(old) = decision.old_execute_at.filter(|old| *old != decision.execute_at) {
                (viewer.instant(old)) " → "
            }
            (viewer.instant(decision.execute_at)) " · "
            a href=(receipt) { (lang.pick("receipt", "回执")) " " (id) }
        }
    }
}

fn schedule(viewer: &Viewer, name: &ScheduleName, edit: &Edit) -> Markup {
    let lang = viewer.lang;
    html! {
        td { (edited(lang, edit.edited)) }
        td { a href=(links::schedule(name)) data-open { (name) } " " span class="hint" { (lang.pick("schedule", "日程")) } }
        td {
            @if let Some(note) = &edit.note { q { (note) } " · " }
            (lang.pick("revision", "修订")) " " (edit.revision)
        }
    }
}

fn edited(lang: Lang, edited: Edited) -> &'static str {
    words! { lang, edited;
        Edited::Created => "created", "新建";
        Edited::Changed => "changed", "更改";
        Edited::Paused => "paused", "暂停";
        Edited::Resumed => "resumed", "恢复";
        Edited::Parked => "parked: cannot be computed", "搁置：无法计算";
        Edited::Unparked => "can be computed again", "可再次计算";
        Edited::Rewound => "moved back to the present", "重置到当前时间";
        Edited::Removed => "removed", "移除";
        Edited::Done => "no time is left: schedule done", "已无后续时间：日程完成";
    }
}
