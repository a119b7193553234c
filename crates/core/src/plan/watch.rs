//! What happens to the slots of a monitor: each is met by a ping, or missed when its grace has
//! passed (DP-23).
//!
//! By an expression, the slots are its times: a ping meets all that have come and are undecided,
//! and the next is the first one after the ping. By a period (`@every 1h`), the next slot is one
//! period after the last ping: a ping that comes before it is a slot itself, a later one meets it,
//! and a missed one is followed by another a period later. Both count as Healthchecks does; unlike
//! there, slots go on while a monitor is down, so that `why` can answer for each.
//!
//! Before the first ping nothing is expected and nothing is looked at. What passed until then is
//! noted with the first ping.

use jiff::Timestamp;

use super::{
    Due, Look, Plan, due_slots,
    ledger::{Ledger, Reason, Verdict},
    monitor::{Arrival, DownCause, Monitor, MonitorWrite, PingKind, exit},
    rest,
    schedule::State,
};

/// What comes of a ping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    pub plan: Plan,
    /// Whether more is due than one look decides: the ping is not heard yet, but after it.
    pub is_partial: bool,
}

/// Decides the slots that were missed by now.
pub(super) fn watch(look: Look<'_>) -> Plan {
    let monitor = look.monitor.cloned().unwrap_or_default();
    if monitor.last_ping_at.is_none() && monitor.started.is_none() {
        return rest(look.schedule, None);
    }
    let mut plan = miss(look, monitor.clone());
    if plan
        .monitor
        .as_ref()
        .is_some_and(|write| write.monitor == monitor)
    {
        plan.monitor = None;
    }
    plan
}

/// Hears a ping. What is due by then is decided first, so that a ping which comes too late is late
/// whether or not a node has looked meanwhile.
pub fn hear(look: Look<'_>, arrival: &Arrival) -> Heard {
    let now = look.now;
    let monitor = look.monitor.cloned().unwrap_or_default();
    let is_active = look.schedule.state == State::Active;
    let mut plan = match &look.schedule.state {
        State::Active => miss(look, monitor.clone()),
        // A pause that has ended by itself has ended, whether it was looked at or not.
        State::Paused(pause) if pause.until.is_some_and(|until| until <= now) => {
            return Heard {
                plan: super::plan(look),
                is_partial: true,
            };
        }
        _ => rest(look.schedule, look.schedule.look_at),
    };
    if is_active && plan.is_partial(now) {
        return Heard {
            plan,
            is_partial: true,
        };
    }
    let mut monitor = plan.monitor.take().map_or(monitor, |write| write.monitor);
    let before = monitor.last_ping_at;
    let ping = Some(monitor.hear(arrival, now));
    if is_active {
        if matches!(arrival.kind, PingKind::Success | PingKind::Fail) {
            meet(look, &mut plan, arrival, before);
        }
        plan.look_at = look_at(look, &plan, &monitor);
    }
    let down_before = look.monitor.and_then(|monitor| monitor.down.clone());
    plan.monitor = Some(MonitorWrite {
        monitor,
        down_before,
        ping,
    });
    Heard {
        plan,
        is_partial: false,
    }
}

/// Misses the slots whose grace has passed, and a run that has taken longer than that.
fn miss(look: Look<'_>, mut monitor: Monitor) -> Plan {
    let Look { ready, now, .. } = look;
    let down_before = monitor.down.clone();
    let (due, following) = due_slots(look, 0, |slot| ready.deadline(slot) <= now);
    let mut ledger = Ledger::new(look.schedule.revision, now);
    let reason = match monitor.last_ping_at {
        Some(_) => Reason::NoPing,
        None => Reason::NeverPinged,
    };
    let detail = last_heard(&monitor);
    let mut first_missed = None;
    for Due { slot, excluded } in due {
        if let Some(why) = excluded {
            ledger.exclude(slot, &why);
        } else {
            first_missed.get_or_insert(slot);
            ledger.add(slot, Verdict::Skipped(reason), detail.as_deref());
        }
    }
    if let (Reason::NoPing, Some(first)) = (reason, first_missed) {
        let detail = format!(
            "no ping since {}; one was due at {first}",
            monitor.last_ping_at.unwrap_or(first)
        );
        monitor.goes_down(ready.deadline(first), DownCause::NoPing, detail);
    }
    let overruns_at = monitor.overruns_at(look.schedule, ready);
    if let (Some(at), Some(started)) = (overruns_at.filter(|at| *at <= now), &monitor.started) {
        let detail = format!("started at {}, not ended within its grace", started.at);
        monitor.goes_down(at, DownCause::Overran, detail);
    }
    let mut plan = Plan {
        slots: ledger.into_rows(),
        next_at: following,
        ..rest(look.schedule, None)
    };
    plan.waits_since = None;
    plan.look_at = if following.is_some_and(|slot| ready.deadline(slot) <= now) {
        Some(now)
    } else {
        look_at(look, &plan, &monitor)
    };
    plan.monitor = Some(MonitorWrite {
        monitor,
        down_before,
        ping: None,
    });
    plan
}

/// Meets what a ping at `look.now` is for. `before` is when the ping before it came.
fn meet(look: Look<'_>, plan: &mut Plan, arrival: &Arrival, before: Option<Timestamp>) {
    let Look { ready, now, .. } = look;
    let detail = (arrival.kind == PingKind::Fail).then(|| format!("failed{}", exit(arrival)));
    let mut ledger = Ledger::new(look.schedule.revision, now);
    let mut next = plan.next_at;
    if ready.is_counted_from_pings() {
        // A clock that is a moment behind must not take the cursor back.
        if before.is_none_or(|before| now > before) {
            let slot = next.map_or(now, |next| next.min(now));
            ledger.add(slot, Verdict::Pinged, detail.as_deref());
            next = ready.next_after(now);
        }
    } else {
        while let Some(slot) = next.filter(|slot| *slot <= now) {
            match ready.exclusion(slot) {
                Some(why) => ledger.exclude(slot, &why),
                None => ledger.add(slot, Verdict::Pinged, detail.as_deref()),
            }
            next = ready.next_after(slot);
        }
    }
    plan.slots.append(&mut ledger.into_rows());
    plan.next_at = next;
}

/// When something may be missing: a ping, or the end of a run. Before the first ping, nothing.
fn look_at(look: Look<'_>, plan: &Plan, monitor: &Monitor) -> Option<Timestamp> {
    let expected = monitor.last_ping_at.and(plan.next_at);
    let missing_at = expected.map(|slot| look.ready.deadline(slot));
    let overruns_at = monitor.overruns_at(look.schedule, look.ready);
    let overruns_at = overruns_at.filter(|_| monitor.down.is_none());
    match (missing_at, overruns_at) {
        (Some(missing), Some(overruns)) => Some(missing.min(overruns)),
        (one, other) => one.or(other),
    }
}

/// What is known of the job when its ping is missed.
fn last_heard(monitor: &Monitor) -> Option<String> {
    if let Some(started) = &monitor.started {
        return Some(format!("started at {}, not ended", started.at));
    }
    monitor.last_ping_at.map(|at| format!("last ping at {at}"))
}
