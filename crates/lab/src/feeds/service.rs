//! The running server's one shared thing: faults, entries published by hand, and the journal behind
//! one lock that is never held across a wait. The feeds themselves need none: they are drawn.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    document::Document,
    fault::{Fault, Rule},
    feed::{Announced, Feed},
    fleet::Fleet,
    host::Character,
    hostile::{self, Place},
    journal::{Arrival, Journal},
    reply::{self, Answer, Reply},
    wire::{self, Asked},
};
use crate::clock::Clock;

/// Everything that requests and tests change.
#[derive(Debug, Default)]
pub(super) struct Inside {
    pub(super) feed_rules: BTreeMap<u32, Vec<Rule>>,
    pub(super) host_rules: BTreeMap<u32, Vec<Rule>>,
    pub(super) announced: BTreeMap<u32, Vec<Announced>>,
    pub(super) journal: Journal,
}

/// What all requests share.
pub(super) struct Service {
    inside: Mutex<Inside>,
    pub(super) fleet: Fleet,
    clock: Clock,
    pub(super) port: u16,
    /// Raised with every answer and every change by a test.
    pub(super) changes: watch::Sender<u64>,
    /// Ends waits that would otherwise outlive the server.
    pub(super) stopping: CancellationToken,
}

/// A request for a feed's document.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) feed: Feed,
    pub(super) document: Document,
    /// Whether it came to the address that the feed moves to; moves do not apply there.
    pub(super) at_second_home: bool,
    pub(super) asked: Asked,
}

/// What was decided about a request on arrival.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) fault: Option<Fault>,
    pub(super) too_early: bool,
    wait: Duration,
    announced: Vec<Announced>,
}

impl Inside {
    /// Notes an arrival and decides what goes wrong: what a test asked for first, then what the
    /// feed's fate is, then its host's character.
    pub(super) fn admit(&mut self, fleet: &Fleet, call: &Call, arrival: &Arrival) -> Admitted {
        let (number, host, now) = (call.feed.number, call.feed.host, arrival.at);
        let too_early = self.journal.arrive(&call.feed, arrival);
        let character = fleet.character(host);
        let stays = |fault: &Fault| call.at_second_home && matches!(fault, Fault::Moved { .. });
        let fault = ruled(self.feed_rules.get_mut(&number), now, stays)
            .inspect(|fault| self.limit(fault, (Some(number), host), now))
            .or_else(|| {
                let ruled = ruled(self.host_rules.get_mut(&host), now, stays);
                ruled.inspect(|fault| self.limit(fault, (None, host), now))
            })
            .or_else(|| {
                let fate = fleet.fate(number).filter(|(_, from)| now >= *from);
                fate.map(|(fault, _)| fault).filter(|fault| !stays(fault))
            })
            .or_else(|| self.by_character(fleet, character, host, now));
        Admitted {
            fault,
            too_early,
            wait: character.wait(),
            announced: self.announced.get(&number).cloned().unwrap_or_default(),
        }
    }

    fn by_character(
        &mut self,
        fleet: &Fleet,
        character: Character,
        host: u32,
        now: Timestamp,
    ) -> Option<Fault> {
        let count = self.journal.host(host);
        match character {
            Character::Hanging => Some(Fault::Hang),
            Character::Flaky => character
                .failure(fleet.seed, host, count.requests)
                .map(|status| {
                    if status == 0 {
                        Fault::Cut
                    } else {
                        Fault::Status(status)
                    }
                }),
            Character::Limiting {
                gap_s,
                retry_after_s,
                as_date,
            } => {
                let limited_until = self.journal.host_limited_until(host);
                let limited = limited_until.is_some_and(|until| now < until);
                let gap_ms = count.last_gap_ms.unwrap_or(i64::MAX);
                if !limited && gap_ms >= gap_s * 1000 {
                    return None;
                }
                let left_s = limited_until.map_or(0, |until| until.as_second() - now.as_second());
                let fault = Fault::Limited {
                    status: 429,
                    retry_after_s: if limited {
                        left_s.max(1)
                    } else {
                        retry_after_s
                    },
                    as_date,
                };
                self.limit(&fault, (None, host), now);
                Some(fault)
            }
            Character::Steady | Character::Slow { .. } => None,
        }
    }

    fn limit(&mut self, fault: &Fault, (feed, host): (Option<u32>, u32), now: Timestamp) {
        let Fault::Limited { retry_after_s, .. } = fault else {
            return;
        };
        let until = later(now, *retry_after_s);
        match feed {
            Some(feed) => self.journal.limit_feed(feed, until),
            None => self.journal.limit_host(host, until),
        }
    }
}

/// The first rule that applies.
fn ruled(
    rules: Option<&mut Vec<Rule>>,
    now: Timestamp,
    stays: impl Fn(&Fault) -> bool,
) -> Option<Fault> {
    let rules = rules.into_iter().flatten();
    rules
        .filter(|rule| !stays(&rule.fault))
        .find_map(|rule| rule.apply(now))
}

impl Service {
    pub(super) fn new(fleet: Fleet, clock: Clock, port: u16, stopping: CancellationToken) -> Self {
        Self {
            inside: Mutex::default(),
            fleet,
            clock,
            port,
            changes: watch::Sender::new(0),
            stopping,
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// A panic elsewhere leaves whole requests behind, never half of one, so its poison is no harm.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// The answer to a request, once what goes wrong has been decided.
    pub(super) fn answer(&self, call: &Call, admitted: &Admitted, now: Timestamp) -> Answer {
        let base_url = self.fleet.base_url(call.feed.number, self.port);
        let document = || {
            let place = (now, base_url.as_str());
            let reply = wire::answer(
                &call.feed,
                call.document,
                &admitted.announced,
                &call.asked,
                place,
            );
            Reply {
                wait: admitted.wait,
                ..reply
            }
        };
        let Some(fault) = &admitted.fault else {
            return Answer::Reply(document());
        };
        match fault {
            Fault::Hang => Answer::Hang,
            Fault::Cut => Answer::Cut,
            Fault::CutMidBody => Answer::Reply(document().sent(reply::cut_in_half)),
            Fault::Drip { wait_ms } => {
                let wait = Duration::from_millis(*wait_ms);
                Answer::Reply(document().sent(move |bytes| reply::drip(bytes, wait)))
            }
            Fault::Slow { wait_ms } => Answer::Reply(Reply {
                wait: Duration::from_millis(*wait_ms),
                ..document()
            }),
            Fault::Serve(name) => serve(name, &base_url, now),
            Fault::Status(status) => Answer::Reply(refusal(*status)),
            Fault::Limited {
                status,
                retry_after_s,
                as_date,
            } => {
                let until = as_date.then(|| later(now, *retry_after_s));
                let retry_after = until.map_or_else(|| retry_after_s.to_string(), wire::http_date);
                let reply = Reply::status(*status, "slow down\n");
                Answer::Reply(reply.with("retry-after", retry_after))
            }
            Fault::Moved { status, to } => {
                let (number, file) = (call.feed.number, call.document.file_name());
                let home = || format!("{base_url}/feeds/{number}/moved/{file}");
                Answer::Reply(Reply::redirect(*status, &to.clone().unwrap_or_else(home)))
            }
        }
    }
}

fn serve(name: &str, base_url: &str, now: Timestamp) -> Answer {
    let found = hostile::answer(name, &Place { base_url, now });
    found.unwrap_or_else(|| Answer::Reply(Reply::status(500, "no such hostile document\n")))
}

/// 401 says how to sign in, as it must.
fn refusal(status: u16) -> Reply {
    let reply = Reply::status(status, "not today\n");
    if status == 401 {
        return reply.with("www-authenticate", "Basic realm=\"feeds\"");
    }
    reply
}

fn later(now: Timestamp, after_s: i64) -> Timestamp {
    let later = now.saturating_add(SignedDuration::from_secs(after_s));
    later.unwrap_or(now)
}
