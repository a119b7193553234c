//! Why a slot did or did not fire, in one sentence, from stored facts (DP-16).
//!
//! A slot without a ledger row is not simply undecided: retention may have forgotten the row, or
//! there was no schedule at the time. The cursor and the edits distinguish these, and where they do
//! not, the sentence says that it is not known.

mod pings;

use jiff::{SignedDuration, Timestamp};

use super::{AHEAD_MIN, Delay, Edit, Edited, Firing, Pause, Reason, Slot, State, Trigger, Verdict};
use crate::{
    follow::{Ended, Followed, Work},
    lang::{Lang, Say},
    say,
    task::{Status, Task},
};

/// Who cancelled a firing, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancelled {
    pub by: String,
    pub at: Timestamp,
}

/// Everything that is known about an instant of a schedule.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The instant asked about.
    pub at: Timestamp,
    /// The schedule's expression and zone at that time, in words for people.
    pub rule: &'a str,
    /// Whether the instant is a slot by that rule.
    pub is_slot: bool,
    /// Why a calendar or quiet hours leave it out, as they are now.
    pub excluded: Option<&'a str>,
    /// The slots before and after it.
    pub neighbours: (Option<Timestamp>, Option<Timestamp>),
    /// When the schedule was first written.
    pub created_at: Timestamp,
    /// What had last been done to it before the instant, if that is known.
    pub in_force: Option<&'a Edit>,
    /// What it is now.
    pub state: &'a State,
    /// The first slot that is undecided; `None` when there is none to come.
    pub next_at: Option<Timestamp>,
    /// Since when its next slot waits for the firing before it.
    pub waits_since: Option<Timestamp>,
    /// The ledger row that covers the slot.
    pub row: Option<&'a Slot>,
    /// Whether a row of an earlier slot is kept. The ledger is forgotten from its beginning, so
    /// then nothing after that row is forgotten.
    pub earlier_kept: bool,
    /// The slot's firing; of an instant that is no slot, the one that was requested at it.
    pub firing: Option<&'a Task>,
    /// What its firing handed over, where that is followed.
    pub followed: Option<&'a Followed>,
    /// Who cancelled the firing, and when, if that is known.
    pub cancelled: Option<&'a Cancelled>,
    /// How much later than the slot it fires.
    pub delay: Delay,
    /// Whether pings are expected, and nothing fires.
    pub is_monitor: bool,
    pub now: Timestamp,
}

/// The answer, as one sentence.
pub fn why(facts: &Facts<'_>, lang: Lang) -> String {
    let at = facts.at;
    if let Some(task) = facts.firing.filter(|_| !facts.is_slot) {
        let (by, ending) = (&task.origin, ending(facts, lang));
        return say!(lang; "{by} fired it by hand at {at}{ending}.", "{by} 于 {at} 手动触发{ending}。");
    }
    if !facts.is_slot {
        let (rule, near) = (facts.rule, near(facts, lang));
        return say!(
            lang,
            "{at} is not a slot of {rule}{near}.",
            "{at} 不是 {rule} 的时点{near}。"
        );
    }
    if let Some(row) = facts.row {
        return decided(facts, row, lang);
    }
    if facts.is_monitor && matches!(facts.state, State::Active) {
        return pings::expected(facts, lang);
    }
    if let Some(task) = facts.firing {
        return fired_without_row(facts, task, lang);
    }
    let created_at = facts.created_at;
    if at <= created_at {
        return say!(lang; "{at} did not fire: the schedule was first written at {created_at}.",
            "{at} 未触发：该日程创建于 {created_at}。");
    }
    if at <= facts.now && facts.next_at.is_none_or(|next| at < next) {
        return passed(facts, lang);
    }
    undecided(facts, lang)
}

fn near(facts: &Facts<'_>, lang: Lang) -> String {
    match facts.neighbours {
        (Some(before), Some(after)) => say!(lang; "; the nearest are {before} and {after}",
            "；前后最近的时点是 {before} 和 {after}"),
        (Some(only), None) | (None, Some(only)) => {
            say!(lang, "; the nearest is {only}", "；最近的时点是 {only}")
        }
        (None, None) => String::new(),
    }
}

fn decided(facts: &Facts<'_>, row: &Slot, lang: Lang) -> String {
    let at = facts.at;
    let late = lateness(row.decided_at.duration_since(at), lang);
    if row.decided_at.duration_since(facts.now) > AHEAD_MIN {
        return decided_ahead(facts, row, lang);
    }
    match row.verdict {
        Verdict::Fired => {
            let (delay, ending) = (by_delay(facts, lang), ending(facts, lang));
            say!(lang; "{at} fired {late} after its time{delay}{ending}.",
                "{at} 已触发，比预定时间晚 {late}{delay}{ending}。")
        }
        Verdict::CaughtUp => {
            let (delay, ending) = (by_delay(facts, lang), ending(facts, lang));
            say!(lang; "{at} was missed and caught up {late} after its time{delay}{ending}.",
                "{at} 曾错过，比预定时间晚 {late} 补触发{delay}{ending}。")
        }
        Verdict::Pinged => pings::pinged(facts, row, lang),
        Verdict::Skipped(reason @ (Reason::NoPing | Reason::NeverPinged)) => {
            pings::unpinged(facts, reason, row, lang)
        }
        Verdict::Skipped(reason) => {
            let because = because(reason, row, &late, lang);
            let later = match reason {
                // What is there is what kept it from firing.
                Reason::Cancelled => by_whom(facts, lang),
                _ => backfilled(facts, lang),
            };
            say!(
                lang,
                "{at} was skipped: {because}{later}.",
                "{at} 被跳过：{because}{later}。"
            )
        }
    }
}

/// The ledger says what a wrong clock made of it.
fn decided_ahead(facts: &Facts<'_>, row: &Slot, lang: Lang) -> String {
    let at = facts.at;
    let ahead = lateness(row.decided_at.duration_since(facts.now), lang);
    let what = if row.verdict.is_fired() {
        let ending = ending(facts, lang);
        say!(lang, "fired{ending}", "已触发{ending}")
    } else {
        lang.pick("was skipped", "被跳过").to_owned()
    };
    let rewind = rewind(lang);
    say!(lang; "{at} {what}: a clock that was {ahead} ahead of now decided it. {rewind}.",
        "{at} {what}：作出决定的时钟比现在快 {ahead}。{rewind}。")
}

/// What to do about a schedule that a wrong clock planned.
fn rewind(lang: Lang) -> &'static str {
    lang.pick(
        "`almanack schedule rewind` takes the schedule back to the present",
        "运行 `almanack schedule rewind` 可将日程重置到当前时间",
    )
}

fn because(reason: Reason, row: &Slot, late: &str, lang: Lang) -> String {
    let detail = row.detail.as_deref();
    let (at, from, to) = (row.decided_at, row.slot_at, row.last_at);
    let together = match row.slots {
        1 => String::new(),
        slots => say!(lang; " (one of {slots} in a row, {from} to {to})",
            "（{from} 至 {to} 连续 {slots} 个时点之一）"),
    };
    let because = match reason {
        Reason::Paused => {
            let by = detail.unwrap_or("");
            say!(lang, "the schedule was paused {by}", "日程处于暂停 {by}")
        }
        Reason::TooLate => say!(lang;
            "no node planned it until {at}, {late} late, which is more than its grace",
            "直到 {at} 才有节点排程，已晚 {late}，超过宽限时间"),
        Reason::NotCaughtUp => say!(lang;
            "no node planned it until {at}, and its catch-up policy skips it",
            "直到 {at} 才有节点排程，按补触发策略跳过"),
        Reason::OverCap => say!(lang; "more slots were missed until {at} than max_catch_up allows",
            "到 {at} 为止错过的时点多于 max_catch_up 的上限"),
        Reason::Overlap => match detail {
            Some(running) => say!(
                lang,
                "{running} had not ended at {at}",
                "{running} 到 {at} 尚未结束"
            ),
            None => {
                say!(lang; "the slot before it fired in the same moment", "前一个时点在同一时刻触发")
            }
        },
        Reason::Changed => {
            let before = detail.unwrap_or(lang.pick("the slot before it", "前一个时点"));
            say!(lang; "it was waiting for {before} when the schedule was changed at {at}",
                "日程于 {at} 被修改时，它正在等待{before}")
        }
        Reason::NoPing => {
            let heard = detail.map(|heard| say!(lang, " ({heard})", "（{heard}）"));
            let heard = heard.unwrap_or_default();
            say!(
                lang,
                "no ping came within its grace{heard}",
                "宽限时间内没有收到通知{heard}"
            )
        }
        Reason::NeverPinged => {
            say!(lang; "no ping had ever come until {at}", "到 {at} 为止从未收到过通知")
        }
        Reason::Cancelled => {
            say!(
                lang,
                "its firing had been cancelled before {at}",
                "其触发在 {at} 之前已被取消"
            )
        }
        Reason::Excluded => detail
            .unwrap_or(lang.pick("a calendar leaves it out", "被日历排除"))
            .to_owned(),
    };
    because + &together
}

/// The state of the slot's firing.
fn ending(facts: &Facts<'_>, lang: Lang) -> String {
    let Some(task) = facts.firing else {
        return lang
            .pick("; its firing is no longer kept", "；其触发记录已不再保留")
            .to_owned();
    };
    let tries = match task.attempt {
        0 | 1 => String::new(),
        attempts => say!(
            lang,
            " after {attempts} attempts",
            "（共 {attempts} 次尝试）"
        ),
    };
    if let Some(followed) = facts.followed.filter(|_| task.status != Status::Cancelled) {
        return work(facts, followed, lang);
    }
    let detail = task
        .detail
        .as_deref()
        .map(|text| say!(lang, " ({text})", "（{text}）"));
    let (id, detail) = (task.id, detail.unwrap_or_default());
    match task.status {
        Status::Success => say!(
            lang,
            ", and task {id} succeeded{tries}",
            "，任务 {id} 成功{tries}"
        ),
        Status::Cancelled => {
            let by = by_whom(facts, lang);
            say!(
                lang,
                ", and task {id} was cancelled{by}",
                "，任务 {id} 已被取消{by}"
            )
        }
        Status::Running => say!(lang, ", and task {id} is running", "，任务 {id} 正在运行"),
        Status::Init => say!(lang, ", and task {id} is waiting", "，任务 {id} 在等待"),
        Status::Fail if task.due_at.is_some() => say!(lang;
            ", and task {id} will be tried again{tries}{detail}",
            "，任务 {id} 将重试{tries}{detail}"),
        Status::Fail => {
            say!(lang; ", but task {id} failed{tries}{detail}", "，但任务 {id} 失败{tries}{detail}")
        }
    }
}

/// What became of the work that the slot's firing handed over.
fn work(facts: &Facts<'_>, followed: &Followed, lang: Lang) -> String {
    let began = followed.started_at.unwrap_or(followed.handed_over_at);
    let Some(ending) = &followed.ending else {
        let what = match &followed.work {
            Work::Task { task_id } => say!(lang, "task {task_id}", "任务 {task_id}"),
            Work::Run { run: Some(run), .. } => {
                say!(lang, "the workflow's run {run}", "工作流运行 {run}")
            }
            Work::Run { run: None, .. } => say!(lang;
                "the workflow's run, which has not shown yet", "工作流运行（尚未出现）"),
            Work::Report { .. } => say!(lang;
                "the service, which will report its end", "由服务执行，结束时会报告"),
        };
        let lasts = lateness(facts.now.duration_since(began), lang);
        return say!(lang; ", and its work has been running for {lasts}: {what}",
            "，其工作已运行 {lasts}：{what}");
    };
    let took = lateness(ending.ended_at.duration_since(began), lang);
    let detail = &ending.detail;
    match ending.ended {
        Ended::Done => say!(lang; ", and its work succeeded after {took} ({detail})",
            "，其工作用时 {took} 后成功（{detail}）"),
        Ended::Failed | Ended::Cancelled => say!(lang;
            ", but its work failed after {took} ({detail})",
            "，但其工作用时 {took} 后失败（{detail}）"),
    }
}

/// The part of the delay that the schedule itself asks for.
fn by_delay(facts: &Facts<'_>, lang: Lang) -> String {
    let Delay { splay, jitter } = facts.delay;
    let parts = [
        (("its splay", "错峰"), splay),
        (("its jitter", "抖动"), jitter),
    ];
    let parts = parts.into_iter().filter(|(_, part)| !part.is_zero());
    let parts = parts.map(|(name, part)| {
        let (name, part) = (name.say(lang), lateness(part, lang));
        say!(lang, ", {part} of it by {name}", "（其中{name} {part}）")
    });
    parts.collect()
}

fn by_whom(facts: &Facts<'_>, lang: Lang) -> String {
    let by = |Cancelled { by, at }: &Cancelled| {
        say!(lang, " (by {by} at {at})", "（{by} 于 {at} 取消）")
    };
    facts.cancelled.map(by).unwrap_or_default()
}

fn backfilled(facts: &Facts<'_>, lang: Lang) -> String {
    match facts.firing {
        Some(task) => {
            let (by, at) = (&task.origin, task.created_at);
            say!(lang; "; it was fired by hand later, by {by} at {at}", "；后由 {by} 于 {at} 手动触发")
        }
        None => String::new(),
    }
}

/// A firing without a ledger row: a person's, or one whose row is forgotten before its task is.
fn fired_without_row(facts: &Facts<'_>, task: &Task, lang: Lang) -> String {
    let (at, ending) = (facts.at, ending(facts, lang));
    if let Ok(Trigger::Schedule) = Firing::read(&task.payload).map(|firing| firing.trigger) {
        return say!(lang; "{at} fired{ending}; how late is no longer kept.",
            "{at} 已触发{ending}；延迟的记录已不再保留。");
    }
    let (by, when) = (&task.origin, task.created_at);
    say!(lang; "{at} was fired by hand by {by} at {when}{ending}.",
        "{at} 由 {by} 于 {when} 手动触发{ending}。")
}

/// The cursor has passed the slot, and there is no record of it.
fn passed(facts: &Facts<'_>, lang: Lang) -> String {
    let at = facts.at;
    match facts.in_force {
        Some(Edit {
            edited: Edited::Removed,
            at: since,
            ..
        }) => say!(lang;
            "{at} did not fire: the schedule had been removed at {since}.",
            "{at} 未触发：日程已于 {since} 移除。"),
        Some(Edit {
            edited: Edited::Done,
            at: since,
            note,
            ..
        }) => {
            let note = note
                .as_deref()
                .map(|note| say!(lang, " ({note})", "（{note}）"));
            let note = note.unwrap_or_default();
            say!(lang; "{at} did not fire: the schedule was done at {since}{note}.",
                "{at} 未触发：日程已于 {since} 完成{note}。")
        }
        Some(Edit {
            edited: Edited::Parked,
            at: since,
            ..
        }) if facts.earlier_kept => say!(lang;
            "{at} did not fire: the schedule had been parked at {since}.",
            "{at} 未触发：日程已于 {since} 搁置。"),
        _ if facts.earlier_kept => say!(lang;
            "{at} did not fire: the schedule was changed before a node planned it.",
            "{at} 未触发：在节点排程之前，日程已被修改。"),
        _ => say!(lang; "{at} was decided, but its outcome is no longer kept.",
            "{at} 已有决定，但结果已不再保留。"),
    }
}

fn undecided(facts: &Facts<'_>, lang: Lang) -> String {
    let at = facts.at;
    match facts.state {
        State::Removed { since } => {
            say!(lang; "{at} does not fire: the schedule was removed at {since}.",
            "{at} 不会触发：日程已于 {since} 移除。")
        }
        State::Done { since } => {
            say!(lang; "{at} does not fire: the schedule has been done since {since}.",
            "{at} 不会触发：日程已于 {since} 完成。")
        }
        State::Parked { since, reason } => {
            let reason = reason.say(lang);
            say!(lang;
                "{at} is undecided: the schedule has been parked since {since} ({reason}); it is planned again once that is corrected.",
                "{at} 尚未决定：日程自 {since} 起被搁置（{reason}）；更正后会重新排程。")
        }
        State::Paused(pause) if covers(pause, at) => {
            let (by, since) = (super::paused_by(pause), pause.since);
            say!(lang; "{at} does not fire: the schedule is paused {by}, since {since}.",
                "{at} 不会触发：日程自 {since} 起暂停（{by}）。")
        }
        State::Active if at > facts.now && facts.next_at.is_some_and(|next| at < next) => {
            let rewind = rewind(lang);
            say!(lang; "{at} will not fire: a clock that was ahead planned this schedule. {rewind}.",
                "{at} 不会触发：该日程曾由偏快的时钟排程。{rewind}。")
        }
        _ if let Some(why) = facts.excluded => {
            say!(lang, "{at} does not fire: {why}.", "{at} 不会触发：{why}。")
        }
        _ if at > facts.now => {
            let due_at = at.saturating_add(facts.delay.whole()).unwrap_or(at);
            let wait = lateness(due_at.duration_since(facts.now), lang);
            let delay = by_delay(facts, lang);
            say!(lang; "{at} is still to come: it will fire in {wait}{delay}.",
                "{at} 尚未到来：将在 {wait}后触发{delay}。")
        }
        State::Active if facts.now.duration_since(at) < facts.delay.whole() => {
            let whole = facts.delay.whole();
            let left = lateness(whole - facts.now.duration_since(at), lang);
            let (name, whole) = (facts.delay.name().say(lang), lateness(whole, lang));
            say!(lang; "{at} waits for {name} of {whole}: it will fire in {left}.",
                "{at} 正在等待{name}（{whole}）：将在 {left}后触发。")
        }
        _ => match facts.waits_since {
            Some(since) => say!(lang; "{at} waits for the firing before it, since {since}.",
                "{at} 自 {since} 起等待上一次触发结束。"),
            None => say!(lang; "{at} is undecided: no node has planned it yet.",
                "{at} 尚未决定：还没有节点排程。"),
        },
    }
}

fn covers(pause: &Pause, at: Timestamp) -> bool {
    pause.since <= at && pause.until.is_none_or(|until| at < until)
}

/// A distance, as coarse as people say it.
fn lateness(distance: SignedDuration, lang: Lang) -> String {
    let whole = distance.max(SignedDuration::ZERO);
    if whole < SignedDuration::from_secs(10) {
        let ms = whole.as_millis();
        return say!(lang, "{ms} ms", "{ms} 毫秒");
    }
    let seconds = whole.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        0..120 => say!(lang, "{seconds} s", "{seconds} 秒"),
        120..7_200 => say!(lang, "{minutes} min", "{minutes} 分钟"),
        7_200..172_800 => {
            let minutes = minutes % 60;
            say!(
                lang,
                "{hours} h {minutes} min",
                "{hours} 小时 {minutes} 分钟"
            )
        }
        _ => say!(lang, "{days} days", "{days} 天"),
    }
}
