//! What a look does to its source.
//!
//! One function for every look, whatever the outcome: counters, backoff, memory, what was learned,
//! and when to come again. It is pure, so a write that was lost is settled again on the row as it
//! is now.
//!
//! What must stay true: a look that failed is counted as a failure, the first one too, and one that
//! did not resets what failures left behind (SS-06); an active source always comes out with a next
//! time.

mod learn;
mod push;

use jiff::{SignedDuration, Timestamp};

use super::{
    Attention, Moving, NAME_BYTES_MAX, Source, SourceId, State,
    check::{Document, Failure, FailureClass, Look, Unchanged},
    entry::{FoundEntry, LINK_BYTES_MAX},
    hints::Hints,
    identity::Remembered,
    options::Publisher,
    policy::{Budget, Policy, backoff::next_wait},
    recent::{CheckOutcome, PastLook},
};
use crate::{both, finish::shorten, lang::Lang, schedule::hash_of, time::to_micros};

pub use learn::{Believed, believed, replan};
pub use push::settle_push;

/// How often in a row a permanent move must be reported before it is believed: a captive network or
/// a mistake at the other end must not take a source away.
pub const MOVES_MIN: u32 = 3;
/// After so many failures in a row, a source needs attention.
pub const FAILING_AFTER: u32 = 10;
/// A source ends when its server says so twice, this long apart: one such answer may be a mistake of
/// an hour, and an ended source is not looked at again. Its checks meanwhile are a day apart.
pub const GONE_FOR: SignedDuration = SignedDuration::from_hours(12);
/// Waits after failures are spread by up to this part of their length, so that what failed together
/// does not come back together.
const SPREAD: f64 = 0.05;

/// Why a source waits that was due: another of its host's sources was answered 429 or 503, or the
/// pace of the host is used up.
const HOST_WAITS: &str =
    "its host asked for a wait, or is as busy as its pace allows; no request was made";

/// What a node decides by.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The policy of sources without their own.
    pub policy: Policy,
    /// The interval that takes over when nothing was learned, or what was is damaged (SS-10).
    pub fallback: SignedDuration,
    /// What checks cost, and the bounds of their pace.
    pub budget: Budget,
}

/// A look that was made.
#[derive(Debug, Clone, Copy)]
pub struct CompletedCheck<'a> {
    pub look: &'a Look,
    /// Those of its entries that are new, by key.
    pub fresh: &'a [(String, FoundEntry)],
    /// What to remember of all of them.
    pub remembered: &'a Remembered,
    /// How long it took.
    pub took: SignedDuration,
    /// Another source that is looked at where this one has moved to: the move is not made.
    pub moved_onto: Option<SourceId>,
}

/// The result for the source.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// Its row, to be written.
    pub source: Source,
    /// When it comes again; `None` when it has ended.
    pub next_at: Option<Timestamp>,
    /// What to notify of, each once.
    pub notices: Vec<Notice>,
}

/// Something that happened to a source just now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// It needs attention.
    Wants(Attention),
    /// It no longer needs attention.
    Recovered(Attention),
    /// It has moved; where to.
    Moved(String),
    /// What was learned was damaged; the fixed interval takes over for now, and learning begins
    /// again.
    LearningLost,
    /// Its policy cannot be read; the node's takes its place.
    PolicyUnreadable(String),
}

/// Whether a source waits for its host, which must not be asked sooner.
pub fn is_waiting_for_host(source: &Source, now: Timestamp) -> bool {
    let waits = source.stats.next_due_at.is_some_and(|at| at > now);
    waits
        && source
            .reason
            .as_ref()
            .is_some_and(|it| it.for_reader(Lang::English).0 == HOST_WAITS)
}

/// Decides what a look at `now` does to its source.
pub fn settle(source: &Source, made: CompletedCheck<'_>, terms: &Terms, now: Timestamp) -> Settled {
    let now = to_micros(now);
    let mut settling = Settling {
        before: source,
        source: source.clone(),
        notices: Vec::new(),
        terms,
        now,
    };
    settling.count(made);
    match made.look {
        Look::Document(document) => settling.document(document, made),
        Look::Unchanged(unchanged) => settling.unchanged(unchanged, made),
        Look::Failed(failure) => settling.failure(failure),
        Look::Wait(at) => settling.wait(*at),
    }
    settling.end()
}

/// A source on its way from one row to the next.
struct Settling<'a> {
    before: &'a Source,
    source: Source,
    notices: Vec<Notice>,
    terms: &'a Terms,
    now: Timestamp,
}

impl Settling<'_> {
    fn count(&mut self, made: CompletedCheck<'_>) {
        let outcome = match made.look {
            Look::Wait(_) => return,
            Look::Failed(failure) => CheckOutcome::Failed(failure.class),
            Look::Unchanged(_) => CheckOutcome::Unchanged,
            Look::Document(_) if made.fresh.is_empty() => CheckOutcome::Nothing,
            Look::Document(_) => {
                CheckOutcome::New(u8::try_from(made.fresh.len()).unwrap_or(u8::MAX))
            }
        };
        let stats = &mut self.source.stats;
        stats.last_check_at = Some(self.now);
        stats.check_count = stats.check_count.saturating_add(1);
        if matches!(outcome, CheckOutcome::New(_)) {
            stats.hit_count = stats.hit_count.saturating_add(1);
        }
        self.source.recent.add(PastLook {
            at: self.now,
            took_ms: u32::try_from(made.took.as_millis()).unwrap_or(u32::MAX),
            outcome,
        });
    }

    /// No request was made, so nothing changes but the wait.
    fn wait(&mut self, until: Timestamp) {
        let stats = &mut self.source.stats;
        let until = Some(to_micros(until));
        stats.next_due_at = until.max(stats.backoff_until);
        self.source.reason = Some(both!("{HOST_WAITS}", "其主机要求等待"));
    }

    fn document(&mut self, document: &Document, made: CompletedCheck<'_>) {
        if let Some(hub) = &mut self.source.memory.publisher.hub {
            hub.note_found(made.fresh, self.before.stats.last_check_at, self.now);
        }
        let memory = &mut self.source.memory;
        memory.validators = document.validators.clone();
        memory.hints = document.hints;
        memory.shown.clone_from(&made.remembered.shown);
        memory.prints.clone_from(&made.remembered.prints);
        memory.publisher.ids_useless = made.remembered.ids_useless;
        memory.publisher.ids_changed = made.remembered.ids_changed;
        memory.publisher.left_out = u32::try_from(document.left_out).unwrap_or(u32::MAX);
        if self.source.definition.name.is_empty() {
            let title = document.title.as_deref().unwrap_or_default();
            let title = &title[..title.floor_char_boundary(NAME_BYTES_MAX)];
            title.clone_into(&mut self.source.definition.name);
        }
        let newest = made.fresh.iter();
        let newest =
            newest.map(|(_, found)| found.published_at.map_or(self.now, |at| at.min(self.now)));
        let newest = newest.max();
        let stats = &mut self.source.stats;
        stats.last_article_at = stats.last_article_at.max(newest);
        self.succeed(document.moved_to.as_deref(), made);
        self.learn(document, made.fresh);
    }

    fn unchanged(&mut self, unchanged: &Unchanged, made: CompletedCheck<'_>) {
        // The body's requests are those of the body we have; only the answer's own are new.
        let hints = &mut self.source.memory.hints;
        *hints = Hints {
            fresh_for: unchanged.hints.fresh_for,
            ..*hints
        };
        self.succeed(unchanged.moved_to.as_deref(), made);
        self.learn(&Document::default(), &[]);
    }

    /// Forgets what failures left behind.
    fn succeed(&mut self, moved_to: Option<&str>, made: CompletedCheck<'_>) {
        let stats = &mut self.source.stats;
        stats.fail_count = 0;
        stats.backoff_until = None;
        stats.last_error = None;
        stats.last_error_class = None;
        self.source.attention = lasting(&self.source.memory.publisher);
        self.follow(moved_to, made.moved_onto);
    }

    /// Believes a permanent move once it was reported often enough in a row.
    fn follow(&mut self, moved_to: Option<&str>, moved_onto: Option<SourceId>) {
        let memory = &mut self.source.memory;
        let own = self.source.definition.address.as_str();
        let is_move = |to: &&str| *to != own && to.len() <= LINK_BYTES_MAX;
        let Some(address) = moved_to.filter(is_move) else {
            memory.moving = None;
            return;
        };
        let before = memory
            .moving
            .take()
            .filter(|moving| moving.address == address);
        let times = before.map_or(1, |moving| moving.times.saturating_add(1));
        // A file that names an address goes on naming it, so following would make two sources of one.
        let may_follow = !self.source.definition.options.from_file;
        if times < MOVES_MIN || moved_onto.is_some() || !may_follow {
            let address = address.to_owned();
            memory.moving = Some(Moving { address, times });
            if moved_onto.is_some() {
                self.source.attention = Some(Attention::Duplicate);
            }
            return;
        }
        address.clone_into(&mut self.source.definition.address);
        self.notices.push(Notice::Moved(address.to_owned()));
    }

    fn failure(&mut self, failure: &Failure) {
        let stats = &mut self.source.stats;
        stats.fail_count = stats.fail_count.saturating_add(1);
        stats.last_error = Some(shorten(&failure.detail));
        stats.last_error_class = Some(failure.class);
        if failure.class == FailureClass::Gone && self.is_gone() {
            return self.finish_for_good(&failure.detail);
        }
        let stats = &mut self.source.stats;
        let wait = next_wait(failure.class, failure.retry_after, stats.fail_count);
        let has_backoff = wait.backoff > SignedDuration::ZERO;
        stats.backoff_until = has_backoff.then(|| later(self.now, wait.backoff));
        let due = later(self.now, wait.due + spread(self.source.id, wait.due));
        stats.next_due_at = Some(due);
        let times = stats.fail_count;
        if wait.needs_person {
            self.source.attention = Some(Attention::Credentials);
        } else if times >= FAILING_AFTER {
            self.source.attention = self.source.attention.max(Some(Attention::Failing));
        }
        self.source.reason = Some(match (failure.class, times) {
            (FailureClass::Gone, _) => {
                both!(
                    "its server says that it is gone for good; it ends if this is repeated",
                    "服务器表示它已永久移除；如再次如此，将终止检查"
                )
            }
            (_, 1) => both!("the last check failed", "上一次检查失败"),
            (_, times) => both!(
                "the last {times} checks failed",
                "最近 {times} 次检查均失败"
            ),
        });
    }

    /// Whether its server has said for long enough that it is gone, with nothing else in between.
    /// This look is among them.
    fn is_gone(&self) -> bool {
        let failures = usize::try_from(self.source.stats.fail_count).unwrap_or(usize::MAX);
        let looks = self.source.recent.looks().iter().rev().take(failures);
        let is_gone = |look: &&PastLook| look.outcome == CheckOutcome::Failed(FailureClass::Gone);
        let first = looks.take_while(is_gone).last();
        first.is_some_and(|first| self.now.duration_since(first.at) >= GONE_FOR)
    }

    fn finish_for_good(&mut self, detail: &str) {
        self.source.state = State::Ended {
            since: self.now,
            reason: shorten(detail),
        };
        self.source.stats.next_due_at = None;
        self.source.stats.backoff_until = None;
        self.source.attention = Some(Attention::Gone);
        self.source.reason = None;
    }

    fn end(mut self) -> Settled {
        let (before, after) = (self.before.attention, self.source.attention);
        match (before, after) {
            (Some(passed), None) if self.source.state == State::Active => {
                self.notices.push(Notice::Recovered(passed));
            }
            (before, Some(wants)) if before != after => self.notices.push(Notice::Wants(wants)),
            _ => {}
        }
        self.source.updated_at = self.now;
        Settled {
            next_at: self.source.stats.next_due_at,
            source: self.source,
            notices: self.notices,
        }
    }
}

/// What needs attention about a publisher that answers: it lasts over checks that find no change.
fn lasting(publisher: &Publisher) -> Option<Attention> {
    let useless = publisher.ids_useless.then_some(Attention::Identity);
    useless.or_else(|| (publisher.left_out > 0).then_some(Attention::Truncated))
}

fn later(now: Timestamp, wait: SignedDuration) -> Timestamp {
    to_micros(now.saturating_add(wait).unwrap_or(crate::time::LATEST))
}

/// 64 bits that depend on the source alone.
fn chance(id: SourceId) -> u64 {
    hash_of("source", &id.to_string())
}

fn spread(id: SourceId, wait: SignedDuration) -> SignedDuration {
    let part = f64::from(u32::try_from(chance(id) >> 32).unwrap_or(0)) / f64::from(u32::MAX);
    wait.mul_f64(SPREAD * part)
}

#[cfg(test)]
mod tests;
