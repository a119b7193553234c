//! What is wrong now, by the facts.
//!
//! Causes, not symptoms: tasks of one kind that hang are one finding about the kind, failed firings
//! one about their schedule. A finding says the same as long as the cause is the same, so it can be
//! found again in every round.

pub mod edition;
mod mailing;
mod schedule;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::{
    About, Key, Rule, Severity,
    facts::{Bounds, Facts, KindFacts, Run, Spending},
};
use crate::{
    both,
    calendar::CalendarVersion,
    clock::{Doubt, Standing},
    lang::{Lang, Say, Sentence},
    plan::{DISPATCH, ScheduleName, State as ScheduleState, shareable_detail},
    source::{Attention, Source, State as SourceState},
    store::{Depth, NODE_FORGOTTEN_AFTER, TaskLine},
    task::{Identity, Kind},
};

/// Checks must have been counted for so long before they say anything.
const COUNTED_MIN: SignedDuration = SignedDuration::from_mins(5);
/// And so many of them.
const CHECKS_MIN: u64 = 20;
/// Longest detail, in characters: a sentence for a message, not a log.
const DETAIL_CHARS_MAX: usize = 300;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The alert's key.
    pub key: Key,
    /// The severity.
    pub severity: Severity,
    /// The facts, for people.
    pub detail: Sentence,
}

impl Finding {
    pub(super) fn new(
        rule: Rule,
        about: About,
        severity: Severity,
        detail: impl Into<Sentence>,
    ) -> Self {
        Self {
            key: Key { rule, about },
            severity,
            detail: detail.into().shortened(DETAIL_CHARS_MAX),
        }
    }
}

/// All that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findings {
    pub findings: Vec<Finding>,
    /// Rules of which there may be more.
    pub unsure: BTreeSet<Rule>,
}

/// Finds what is wrong.
pub fn find(facts: &Facts, bounds: &Bounds, now: Timestamp) -> Findings {
    let mut all: Vec<Finding> = Vec::new();
    for of_schedule in &facts.schedules {
        all.extend(schedule::find(of_schedule, bounds, now));
    }
    all.extend(facts.kinds.iter().filter_map(|kind| failing(kind, bounds)));
    all.extend(running(&facts.running, bounds, now));
    all.extend(
        facts
            .depths
            .iter()
            .filter(|depth| !facts.paused.iter().any(|paused| paused.kind == depth.kind))
            .filter_map(|depth| unclaimed(depth, bounds, now)),
    );
    all.extend(left_behind(facts, bounds, now));
    all.extend(gone(facts, bounds, now));
    all.extend(own_troubles(facts, bounds, now));
    all.extend(parked(facts));
    let calendars = facts.calendars.iter();
    all.extend(calendars.filter_map(|it| unread(it, bounds)));
    all.extend(facts.sources.iter().filter_map(attention));
    for account in &facts.editions {
        all.extend(edition::find(
            account,
            &facts.found_before,
            bounds.overdue,
            now,
        ));
    }
    let mailings = facts.mailings.iter();
    all.extend(mailings.filter_map(|it| mailing::find(it, now)));
    all.extend(clock(facts.clock));
    let mut unsure = facts.unsure.clone();
    match &facts.spending {
        Some(spending) if is_notifying(spending, now) => {
            all.extend(overspent(spending, bounds, now));
        }
        Some(_) => _ = unsure.insert(Rule::Budget),
        None => {}
    }
    if bounds.overdue.is_none() {
        unsure.insert(Rule::Overdue);
    }
    // The first of several that say the same says it.
    let mut seen = BTreeSet::new();
    all.retain(|finding| seen.insert(finding.key.clone()));
    Findings {
        findings: all,
        unsure,
    }
}

/// The schedule whose firing this is.
pub fn schedule_of(identity: &Identity) -> Option<ScheduleName> {
    if identity.kind.as_str() != DISPATCH {
        return None;
    }
    let fired = identity.subject.as_str().strip_prefix("schedule:")?;
    let (name, _) = fired.split_once('@')?;
    ScheduleName::parse(name).ok()
}

/// How many of the newest failed for good in a row, and what the newest of them said. Tasks that
/// are still live, or were never tried, do not count.
pub(super) fn streak(runs: &[Run]) -> (u32, Option<&Run>) {
    let ended = runs.iter().filter(|run| !run.is_live);
    let ended = ended.filter(|run| run.finished_at.is_some() && run.was_tried());
    let failed: Vec<&Run> = ended.take_while(|run| run.failed_for_good()).collect();
    let count = u32::try_from(failed.len()).unwrap_or(u32::MAX);
    (count, failed.first().copied())
}

/// An alert goes to the log and to channels: it repeats only what may be shared.
pub(super) fn said<'a>(kind: &str, run: Option<&'a Run>) -> &'a str {
    let detail = run.and_then(|run| run.detail.as_deref());
    detail.map_or("no error message", |detail| shareable_detail(kind, detail))
}

fn failing(facts: &KindFacts, bounds: &Bounds) -> Option<Finding> {
    let (count, newest) = streak(&facts.runs);
    let about = About::Kind(facts.kind.clone());
    let newest = said(facts.kind.as_str(), newest);
    let detail = both!(
        "the last {count} tasks failed for good; the newest: {newest}",
        "最近 {count} 个任务均已失败；最新一个：{newest}"
    );
    (count >= bounds.failing)
        .then(|| Finding::new(Rule::Failing, about, Severity::Critical, detail))
}

/// Attempts that run for too long: firings by their schedule, others by their kind.
fn running(lines: &[TaskLine], bounds: &Bounds, now: Timestamp) -> Vec<Finding> {
    let mut stuck: BTreeMap<About, Vec<(&TaskLine, Timestamp)>> = BTreeMap::new();
    for line in lines {
        let Some(since) = line.started_at else {
            continue;
        };
        if now.duration_since(since) < bounds.stuck {
            continue;
        }
        let kind = || About::Kind(line.identity.kind.clone());
        let about = schedule_of(&line.identity).map_or_else(kind, About::Schedule);
        stuck.entry(about).or_default().push((line, since));
    }
    let findings = stuck.into_iter().filter_map(|(about, lines)| {
        let (line, since) = lines.iter().min_by_key(|(_, since)| *since)?;
        let (subject, more) = (&line.identity.subject, lines.len() - 1);
        let detail = both!(
            "{subject} has been running since {since}",
            "{subject} 自 {since} 起一直在运行"
        );
        let detail = match more {
            0 => detail,
            _ => detail.joined(&both!(", and {more} more", "，另有 {more} 个")),
        };
        Some(Finding::new(Rule::Stuck, about, Severity::Critical, detail))
    });
    findings.collect()
}

/// Due work that no node starts.
fn unclaimed(depth: &Depth, bounds: &Bounds, now: Timestamp) -> Option<Finding> {
    let first = depth.first_due_at?;
    let waits = depth.due > 0 && now.duration_since(first) >= bounds.unclaimed;
    let detail = both!(
        "due since {first}, but no node has started it",
        "自 {first} 起到期，但没有节点启动"
    );
    let about = About::Kind(depth.kind.clone());
    waits.then(|| Finding::new(Rule::Stuck, about, Severity::Critical, detail))
}

/// Claims of dead nodes that no other node has taken back.
fn left_behind(facts: &Facts, bounds: &Bounds, now: Timestamp) -> Vec<Finding> {
    let passed = |until: Timestamp| now.duration_since(until) >= bounds.gone;
    let left = facts
        .claims
        .iter()
        .filter(|claim| passed(claim.lease_until));
    left.map(|claim| {
        let until = claim.lease_until;
        let detail = both!(
            "its lease expired at {until}, but no node has taken its work back",
            "其租约已于 {until} 到期，但没有节点收回其工作"
        );
        let about = About::Node(claim.node.clone());
        Finding::new(Rule::Stuck, about, Severity::Critical, detail)
    })
    .collect()
}

/// Node names without a recent heartbeat. A node restarted under its name is back.
fn gone(facts: &Facts, bounds: &Bounds, now: Timestamp) -> Vec<Finding> {
    let mut seen: BTreeMap<&str, Timestamp> = BTreeMap::new();
    for node in &facts.nodes {
        let at = seen.entry(node.name.as_str()).or_insert(node.seen_at);
        *at = node.seen_at.max(*at);
    }
    let silent = |at: Timestamp| {
        let silence = now.duration_since(at);
        silence >= bounds.gone && silence < NODE_FORGOTTEN_AFTER
    };
    let gone = seen.into_iter().filter(|(_, at)| silent(*at));
    gone.map(|(name, at)| {
        let detail = both!(
            "last heartbeat at {at}; it did not shut down cleanly",
            "最后一次心跳在 {at}；它没有正常停止"
        );
        let about = About::Node(name.to_owned());
        Finding::new(Rule::Gone, about, Severity::Critical, detail)
    })
    .collect()
}

/// What nodes report about themselves. For a node that is gone, the alert `gone` is enough.
fn own_troubles(facts: &Facts, bounds: &Bounds, now: Timestamp) -> Vec<Finding> {
    let lives = |seen_at: Timestamp| now.duration_since(seen_at) < bounds.gone;
    let nodes = facts.troubles.iter().filter(|it| lives(it.seen_at));
    let findings = nodes.flat_map(|of_node| {
        let lasting = of_node.troubles.iter().filter(|trouble| {
            let wait_max = match trouble.rule {
                Rule::Disconnected => bounds.disconnected,
                _ => SignedDuration::ZERO,
            };
            now.duration_since(trouble.since) >= wait_max
        });
        lasting.map(|trouble| {
            let severity = match trouble.rule {
                Rule::Backup => Severity::Warning,
                _ => Severity::Critical,
            };
            let about = About::Node(of_node.node.clone());
            Finding::new(trouble.rule, about, severity, trouble.detail.clone())
        })
    });
    findings.collect()
}

fn clock(standing: Standing) -> Option<Finding> {
    let Standing::InDoubt(doubt) = standing else {
        return None;
    };
    let (english, chinese) = (doubt.say(Lang::English), doubt.say(Lang::Chinese));
    let (hint, hint_chinese) = Doubt::HINT;
    let detail = both!(
        "{english}. To do: {hint}",
        "{chinese}。处理办法：{hint_chinese}"
    );
    let (rule, severity) = (Rule::Clock, Severity::Critical);
    Some(Finding::new(rule, About::Clock, severity, detail))
}

fn parked(facts: &Facts) -> Vec<Finding> {
    let parked = facts.parked.iter().filter_map(|schedule| {
        let ScheduleState::Parked { reason, .. } = &schedule.state else {
            return None;
        };
        let about = About::Schedule(schedule.name.clone());
        Some(Finding::new(
            Rule::Parked,
            about,
            Severity::Warning,
            reason.clone(),
        ))
    });
    parked.collect()
}

/// A calendar whose address cannot be read. Its last copy is used meanwhile; a schedule that never
/// had one is parked, which is an alert of its own.
fn unread(calendar: &CalendarVersion, bounds: &Bounds) -> Option<Finding> {
    let reading = &calendar.reading;
    let error = reading.error.as_deref().unwrap_or("no error message");
    let detail = match reading.read_at {
        Some(at) => both!(
            "last read at {at}, and that copy is used; the newest error: {error}",
            "最近一次读取在 {at}，目前使用该副本；最新的错误：{error}"
        ),
        None => both!(
            "never read; the newest error: {error}",
            "从未成功读取；最新的错误：{error}"
        ),
    };
    let about = About::Calendar(calendar.name.clone());
    (reading.failures >= bounds.failing)
        .then(|| Finding::new(Rule::Failing, about, Severity::Warning, detail))
}

/// What sources report about themselves. What costs no entries is no emergency: it is in the list
/// of sources.
fn attention(source: &Source) -> Option<Finding> {
    let rule = match (source.attention?, &source.state) {
        (Attention::Silent, SourceState::Active) => Rule::Silent,
        // One that has ended failed for good, and is not looked at any more.
        (Attention::Failing, SourceState::Active)
        | (Attention::Gone, SourceState::Ended { .. }) => Rule::Failing,
        (Attention::Credentials, SourceState::Active) => Rule::Credentials,
        _ => return None,
    };
    let name = source.definition.name.as_str();
    let name = if name.is_empty() { "unnamed" } else { name };
    let detail = match (rule, source.stats.last_article_at, &source.stats.last_error) {
        (Rule::Silent, Some(at), _) => {
            both!("{name}: last entry at {at}", "{name}：最后一个条目在 {at}")
        }
        (Rule::Failing | Rule::Credentials, _, Some(error)) => {
            both!("{name}: {error}", "{name}：{error}")
        }
        _ => name.to_owned().into(),
    };
    let about = About::Source(source.id);
    Some(Finding::new(rule, about, Severity::Warning, detail))
}

/// Whether enough was counted to say anything.
fn is_notifying(spending: &Spending, now: Timestamp) -> bool {
    now.duration_since(spending.since) >= COUNTED_MIN && spending.checks >= CHECKS_MIN
}

/// Whether the fleet spends too much.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn overspent(spending: &Spending, bounds: &Bounds, now: Timestamp) -> Option<Finding> {
    let counted = now.duration_since(spending.since);
    let days = counted.as_secs_f64() / SignedDuration::from_hours(24).as_secs_f64();
    let pace = spending.checks as f64 / days;
    let allowed = spending.per_day * f64::from(bounds.budget_percent) / 100.0;
    let (since, per_day) = (spending.since, spending.per_day);
    let detail = both!(
        "{pace:.0} checks a day at the rate since {since}; the budget is {per_day:.0}",
        "按 {since} 以来的速率，每天检查 {pace:.0} 次；预算为 {per_day:.0} 次"
    );
    (pace > allowed).then(|| Finding::new(Rule::Budget, About::Fleet, Severity::Warning, detail))
}

/// Whether tasks of a kind are counted by themselves: firings are their schedules', checks their
/// sources'.
pub fn counts_by_kind(kind: &Kind) -> bool {
    ![DISPATCH, crate::source::SOURCE_CHECK].contains(&kind.as_str())
}
