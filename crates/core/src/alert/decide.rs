//! What becomes of alerts: what was wrong, held against what is.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::{
    Alert, Key, News, Severity,
    find::{Finding, Found},
    port::Answer,
    quiet::Quiet,
};

/// Alerts that are open or untold at once, at most: past it, nothing more is opened. Who has a thousand alerts reads none.
pub const ALERTS_MAX: usize = 1_000;
/// The longest that something must have been calm before it is over, however often it came back.
pub const CALM_MAX: SignedDuration = SignedDuration::from_mins(15);
/// Whoever is telling has this long before somebody else may.
pub const TELLING_LEASE: SignedDuration = SignedDuration::from_mins(2);
/// When a channel that failed is asked again.
pub const ASK_AGAIN_AFTER: SignedDuration = SignedDuration::from_mins(1);
/// What could not be told for so long is told no more: nobody wants to hear of yesterday's trouble tomorrow.
pub const TELL_FOR: SignedDuration = SignedDuration::from_hours(24);

/// How people want to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manner {
    /// How long something must have been calm before it is over.
    pub calm: SignedDuration,
    /// When only urgent things are told.
    pub quiet: Option<Quiet>,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            calm: SignedDuration::from_mins(1),
            quiet: None,
        }
    }
}

impl Manner {
    /// When something that matters so much may be told: now, or when the quiet hours end.
    pub fn tell_at(&self, severity: Severity, now: Timestamp) -> Timestamp {
        let quiet = self.quiet.as_ref();
        quiet.map_or(now, |quiet| quiet.tell_at(severity, now))
    }

    /// What came back before must be calm for longer.
    fn calm_for(&self, returns: u32) -> SignedDuration {
        let times = 2_i32.saturating_pow(returns.min(10));
        let calm = self.calm.checked_mul(times).unwrap_or(CALM_MAX);
        calm.min(self.calm_most())
    }

    fn calm_most(&self) -> SignedDuration {
        CALM_MAX.max(self.calm)
    }

    /// How long after its end an alert must be known still, so that one that comes back is known to have been there. Its end is when
    /// the calm began, so the longest calm has passed already when it closes; as much again is for coming back.
    pub fn known_for(&self) -> SignedDuration {
        self.calm_most().saturating_mul(2)
    }
}

/// The rows that change. `known` are all alerts that are open or untold, and those that ended within [`Manner::known_for`].
pub fn decide(found: &Found, known: &[Alert], manner: &Manner, now: Timestamp) -> Vec<Alert> {
    let by_key: BTreeMap<&Key, &Alert> = known.iter().map(|alert| (&alert.key, alert)).collect();
    let mut room = ALERTS_MAX.saturating_sub(known.len());
    let mut changes = Vec::new();
    for finding in &found.findings {
        match by_key.get(&finding.key) {
            Some(alert) => changes.extend(lasts(alert, finding, manner, now)),
            None if room > 0 => {
                room -= 1;
                changes.push(opened(finding, manner, now));
            }
            None => {}
        }
    }
    let is_found = |key: &Key| found.findings.iter().any(|finding| finding.key == *key);
    let missing = known.iter().filter(|alert| {
        alert.is_open() && !found.unsure.contains(&alert.key.rule) && !is_found(&alert.key)
    });
    changes.extend(missing.filter_map(|alert| calms(alert, manner, now)));
    changes
}

fn opened(finding: &Finding, manner: &Manner, now: Timestamp) -> Alert {
    Alert {
        key: finding.key.clone(),
        severity: finding.severity,
        detail: finding.detail.clone(),
        opened_at: now,
        calm_since: None,
        closed_at: None,
        returns: 0,
        open_told_at: None,
        close_told_at: None,
        tell_at: Some(manner.tell_at(finding.severity, now)),
        taken_by: Vec::new(),
        version: 0,
    }
}

/// It is found, and was known.
fn lasts(alert: &Alert, finding: &Finding, manner: &Manner, now: Timestamp) -> Option<Alert> {
    let returns = alert.returns.saturating_add(1);
    if alert.is_open() {
        // It was only calming down: nobody heard that it was over, and nobody need hear that it is not.
        return alert.calm_since.is_some().then(|| Alert {
            calm_since: None,
            returns,
            ..alert.clone()
        });
    }
    let unheard = alert.news() == Some(News::Closed) && alert.taken_by.is_empty();
    if unheard {
        // People still believe that it lasts, and it does.
        return Some(Alert {
            calm_since: None,
            closed_at: None,
            returns,
            tell_at: None,
            ..alert.clone()
        });
    }
    Some(Alert {
        returns,
        version: alert.version,
        ..opened(finding, manner, now)
    })
}

/// It is open, and not found any more.
fn calms(alert: &Alert, manner: &Manner, now: Timestamp) -> Option<Alert> {
    let since = alert.calm_since.unwrap_or(now);
    if now.duration_since(since) >= manner.calm_for(alert.returns) {
        return Some(closed(alert, since, manner, now));
    }
    alert.calm_since.is_none().then(|| Alert {
        calm_since: Some(now),
        ..alert.clone()
    })
}

fn closed(alert: &Alert, since: Timestamp, manner: &Manner, now: Timestamp) -> Alert {
    let mut closed = Alert {
        calm_since: None,
        closed_at: Some(since),
        ..alert.clone()
    };
    // Who heard that it began must hear that it is over; where nobody did, it is told as passed, when it would have been told as
    // begun. Whoever tells it right now keeps its lease.
    if !closed.taken_by.is_empty() {
        closed.taken_by.clear();
        closed.open_told_at = closed.open_told_at.or(Some(now));
    }
    if closed.open_told_at.is_some() {
        closed.tell_at = Some(manner.tell_at(closed.severity, now));
    }
    closed
}

/// The row after `news` was told with these answers. `alert` is the row as it is now: it may have moved on meanwhile.
pub fn told(
    alert: &Alert,
    news: News,
    answers: &[Answer],
    manner: &Manner,
    now: Timestamp,
) -> Alert {
    let mut told = alert.clone();
    match (news, alert.news()) {
        (told_now, Some(meant)) if told_now == meant => {
            if told.notes_failures(answers, now) {
                return told;
            }
            told.notes_told(news, now);
        }
        // It was over before all had heard that it began: now all hear that it is over.
        (News::Opened, Some(News::Passed)) => told.notes_told(news, now),
        // It came back while people were told that it is over: they hear that it began.
        (News::Closed | News::Passed, None) if alert.is_open() => told.open_told_at = None,
        _ => return told,
    }
    let left = told.news().is_some();
    told.tell_at = left.then(|| manner.tell_at(told.severity, now));
    told
}

impl Alert {
    /// Keeps who took it, if somebody may still do; answers whether that is so.
    fn notes_failures(&mut self, answers: &[Answer], now: Timestamp) -> bool {
        let asked = answers
            .iter()
            .filter(|answer| answer.keys.contains(&self.key));
        let (took, failed): (Vec<&Answer>, Vec<&Answer>) =
            asked.partition(|answer| answer.outcome.is_final());
        let since = self.closed_at.unwrap_or(self.opened_at);
        if failed.is_empty() || now.duration_since(since) >= TELL_FOR {
            return false;
        }
        let took = took.into_iter().map(|answer| answer.channel.clone());
        self.taken_by.extend(took);
        self.tell_at = now.saturating_add(ASK_AGAIN_AFTER).ok();
        true
    }

    fn notes_told(&mut self, news: News, now: Timestamp) {
        self.taken_by.clear();
        if matches!(news, News::Opened | News::Passed) {
            self.open_told_at = Some(now);
        }
        if matches!(news, News::Closed | News::Passed) {
            self.close_told_at = Some(now);
        }
    }
}
