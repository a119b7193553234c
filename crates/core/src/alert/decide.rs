//! Decides which alerts open, last and close: compares what was wrong with what is.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::{
    Alert, Key, News, Severity,
    find::{Finding, Findings},
    port::Answer,
    quiet::Quiet,
};

/// Open or unsent alerts, at most: beyond it, nothing more is opened. A thousand alerts are no
/// longer read.
pub const ALERTS_MAX: usize = 1_000;
/// The longest cool-down, however often an alert came back.
pub const COOL_DOWN_MAX: SignedDuration = SignedDuration::from_mins(15);
/// How long a node has to send before another node may.
pub const NOTIFY_LEASE: SignedDuration = SignedDuration::from_mins(2);
/// When a channel that failed is tried again.
pub const ASK_AGAIN_AFTER: SignedDuration = SignedDuration::from_mins(1);
/// What could not be sent for so long is dropped: yesterday's trouble is no news tomorrow.
pub const NOTIFY_FOR: SignedDuration = SignedDuration::from_hours(24);

/// How people want to be notified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Behaviour {
    /// How long something must stay away before it is over.
    pub cool_down: SignedDuration,
    /// When only urgent alerts are sent.
    pub quiet: Option<Quiet>,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            cool_down: SignedDuration::from_mins(1),
            quiet: None,
        }
    }
}

impl Behaviour {
    /// When an alert of this severity may be sent: now, or when the quiet hours end.
    pub fn notify_at(&self, severity: Severity, now: Timestamp) -> Timestamp {
        let quiet = self.quiet.as_ref();
        quiet.map_or(now, |quiet| quiet.notify_at(severity, now))
    }

    /// What came back before has a longer cool-down.
    fn cool_down_for(&self, returns: u32) -> SignedDuration {
        let times = 2_i32.saturating_pow(returns.min(10));
        let cool_down = self.cool_down.checked_mul(times).unwrap_or(COOL_DOWN_MAX);
        cool_down.min(self.cool_down_most())
    }

    fn cool_down_most(&self) -> SignedDuration {
        COOL_DOWN_MAX.max(self.cool_down)
    }

    /// How long a closed alert must be remembered, so that one that comes back is recognised. Its
    /// end is when the cool-down began, so the longest cool-down has passed already when it closes;
    /// as much again is for coming back.
    pub fn known_for(&self) -> SignedDuration {
        self.cool_down_most().saturating_mul(2)
    }
}

/// The rows that change. `known` are all alerts that are open or unsent, and those that ended
/// within [`Behaviour::known_for`].
pub fn decide(
    found: &Findings,
    known: &[Alert],
    behaviour: &Behaviour,
    now: Timestamp,
) -> Vec<Alert> {
    let by_key: BTreeMap<&Key, &Alert> = known.iter().map(|alert| (&alert.key, alert)).collect();
    let mut room = ALERTS_MAX.saturating_sub(known.len());
    let mut changes = Vec::new();
    for finding in &found.findings {
        match by_key.get(&finding.key) {
            Some(alert) => changes.extend(lasts(alert, finding, behaviour, now)),
            None if room > 0 => {
                room -= 1;
                changes.push(opened(finding, behaviour, now));
            }
            None => {}
        }
    }
    let is_found = |key: &Key| found.findings.iter().any(|finding| finding.key == *key);
    let missing = known.iter().filter(|alert| {
        alert.is_open() && !found.unsure.contains(&alert.key.rule) && !is_found(&alert.key)
    });
    changes.extend(missing.filter_map(|alert| cools_down(alert, behaviour, now)));
    changes
}

fn opened(finding: &Finding, behaviour: &Behaviour, now: Timestamp) -> Alert {
    Alert {
        key: finding.key.clone(),
        severity: finding.severity,
        detail: finding.detail.clone(),
        opened_at: now,
        cool_down_since: None,
        closed_at: None,
        returns: 0,
        open_notified_at: None,
        close_notified_at: None,
        notify_at: Some(behaviour.notify_at(finding.severity, now)),
        taken_by: Vec::new(),
        version: 0,
    }
}

/// It is found, and was known.
fn lasts(alert: &Alert, finding: &Finding, behaviour: &Behaviour, now: Timestamp) -> Option<Alert> {
    let returns = alert.returns.saturating_add(1);
    if alert.is_open() {
        // It was only cooling down: no notification said that it was over, so none is needed now.
        return alert.cool_down_since.is_some().then(|| Alert {
            cool_down_since: None,
            returns,
            ..alert.clone()
        });
    }
    let unheard = alert.news() == Some(News::Closed) && alert.taken_by.is_empty();
    if unheard {
        // People still believe that it lasts, and it does.
        return Some(Alert {
            cool_down_since: None,
            closed_at: None,
            returns,
            notify_at: None,
            ..alert.clone()
        });
    }
    Some(Alert {
        returns,
        version: alert.version,
        ..opened(finding, behaviour, now)
    })
}

/// It is open, and not found any more.
fn cools_down(alert: &Alert, behaviour: &Behaviour, now: Timestamp) -> Option<Alert> {
    let since = alert.cool_down_since.unwrap_or(now);
    if now.duration_since(since) >= behaviour.cool_down_for(alert.returns) {
        return Some(closed(alert, since, behaviour, now));
    }
    alert.cool_down_since.is_none().then(|| Alert {
        cool_down_since: Some(now),
        ..alert.clone()
    })
}

fn closed(alert: &Alert, since: Timestamp, behaviour: &Behaviour, now: Timestamp) -> Alert {
    let mut closed = Alert {
        cool_down_since: None,
        closed_at: Some(since),
        ..alert.clone()
    };
    // If people were notified that it began, notify them that it is over. If not, it is sent as
    // passed, at the time at which its begin would have been sent. A node that is sending right now
    // keeps its lease.
    if !closed.taken_by.is_empty() {
        closed.taken_by.clear();
        closed.open_notified_at = closed.open_notified_at.or(Some(now));
    }
    if closed.open_notified_at.is_some() {
        closed.notify_at = Some(behaviour.notify_at(closed.severity, now));
    }
    closed
}

/// The row after `news` was sent with these answers. `alert` is the row as it is now: it may have
/// moved on meanwhile.
pub fn notified(
    alert: &Alert,
    news: News,
    answers: &[Answer],
    behaviour: &Behaviour,
    now: Timestamp,
) -> Alert {
    let mut after = alert.clone();
    match (news, alert.news()) {
        (sent, Some(meant)) if sent == meant => {
            if after.notes_failures(answers, now) {
                return after;
            }
            after.notes_sent(news, now);
        }
        // It was over before all channels were notified that it began: now all are notified that
        // it is over.
        (News::Opened, Some(News::Passed)) => after.notes_sent(news, now),
        // It came back while people were notified that it is over: notify them that it began.
        (News::Closed | News::Passed, None) if alert.is_open() => after.open_notified_at = None,
        _ => return after,
    }
    let left = after.news().is_some();
    after.notify_at = left.then(|| behaviour.notify_at(after.severity, now));
    after
}

impl Alert {
    /// Keeps the channels that accepted it, if others still may; returns whether that is so.
    fn notes_failures(&mut self, answers: &[Answer], now: Timestamp) -> bool {
        let asked = answers
            .iter()
            .filter(|answer| answer.keys.contains(&self.key));
        let (took, failed): (Vec<&Answer>, Vec<&Answer>) =
            asked.partition(|answer| answer.outcome.is_final());
        let since = self.closed_at.unwrap_or(self.opened_at);
        if failed.is_empty() || now.duration_since(since) >= NOTIFY_FOR {
            return false;
        }
        let took = took.into_iter().map(|answer| answer.channel.clone());
        self.taken_by.extend(took);
        self.notify_at = now.saturating_add(ASK_AGAIN_AFTER).ok();
        true
    }

    fn notes_sent(&mut self, news: News, now: Timestamp) {
        self.taken_by.clear();
        if matches!(news, News::Opened | News::Passed) {
            self.open_notified_at = Some(now);
        }
        if matches!(news, News::Closed | News::Passed) {
            self.close_notified_at = Some(now);
        }
    }
}
