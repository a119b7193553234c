//! Running ticks, and the ids of received ones.
//!
//! INVARIANT: an id is kept for as long as its call could be replayed. A call's time may be
//! [`TOLERANCE`] ahead of ours and is valid for [`TOLERANCE`] after that. When the memory is full,
//! new calls are refused and nothing is dropped: only a holder of the secret can fill it.

use almanack_core::both;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use almanack_core::signature::TOLERANCE;

use crate::prelude::*;

/// Most ids kept: more than three a second, all the time.
const IDS_MAX: usize = 2_048;
/// Concurrent ticks on one node. All wait for the same work, so more would gain nothing.
const TICKS_MAX: usize = 8;

/// The memory of one process.
#[derive(Debug, Default)]
pub(crate) struct Ticks(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    /// Expiry of each id.
    ids: BTreeMap<String, Timestamp>,
    under_way: usize,
}

/// Permission to tick. If dropped before success (the tick failed, or its caller disconnected), it
/// frees the id, so that the call may be repeated.
#[derive(Debug)]
pub(crate) struct Ticket {
    ticks: Arc<Ticks>,
    id: Option<String>,
}

impl Ticks {
    /// Starts a tick, unless its id is known or too many run.
    pub(crate) fn begin(self: &Arc<Self>, id: Option<String>, now: Timestamp) -> Result<Ticket> {
        let mut memory = self.lock();
        memory.ids.retain(|_, until| *until >= now);
        if let Some(id) = &id
            && memory.ids.contains_key(id)
        {
            let detail = both!(
                "a call with this webhook-id is running or has succeeded; nothing was done",
                "带有此 webhook-id 的调用正在运行或已经成功；没有做任何事"
            );
            return Err(Problem::new(Code::AlreadyReceived, detail));
        }
        if memory.under_way >= TICKS_MAX || memory.ids.len() >= IDS_MAX {
            let detail = both!(
                "this node accepts no more ticks at the moment; try again later",
                "本节点暂时不再接受 tick；请稍后重试"
            );
            return Err(Problem::new(Code::TooManyTicks, detail));
        }
        memory.under_way += 1;
        if let Some(id) = &id {
            let until = now.saturating_add(TOLERANCE * 2).unwrap_or(Timestamp::MAX);
            memory.ids.insert(id.clone(), until);
        }
        let ticks = Arc::clone(self);
        Ok(Ticket { ticks, id })
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// The tick succeeded: its id stays in use.
    pub(crate) fn keep(mut self) {
        self.id = None;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut memory = self.ticks.lock();
        memory.under_way -= 1;
        if let Some(id) = &self.id {
            memory.ids.remove(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_767_600_000 + second).unwrap()
    }

    fn code(begun: Result<Ticket, Problem>) -> Option<Code> {
        begun.err().map(|problem| problem.code)
    }

    fn begin(ticks: &Arc<Ticks>, id: usize, second: i64) -> Result<Ticket, Problem> {
        ticks.begin(Some(format!("tick-{id}")), at(second))
    }

    #[test]
    fn an_id_is_taken_while_it_runs_and_after_it_succeeded() {
        let ticks = Arc::new(Ticks::default());
        let ticket = begin(&ticks, 1, 0).unwrap();
        assert_eq!(code(begin(&ticks, 1, 0)), Some(Code::AlreadyReceived));
        assert_eq!(code(begin(&ticks, 2, 0)), None);
        ticket.keep();
        for later in [1, 600] {
            let again = begin(&ticks, 1, later);
            assert_eq!(code(again), Some(Code::AlreadyReceived), "{later}");
        }
        assert_eq!(code(begin(&ticks, 1, 601)), None, "forgotten");
    }

    #[test]
    fn a_tick_that_failed_frees_its_id() {
        let ticks = Arc::new(Ticks::default());
        drop(begin(&ticks, 1, 0).unwrap());
        assert_eq!(code(begin(&ticks, 1, 1)), None);
    }

    #[test]
    fn too_many_at_once_are_refused_and_later_taken() {
        let ticks = Arc::new(Ticks::default());
        let running: Vec<Ticket> = (0..TICKS_MAX)
            .map(|_| ticks.begin(None, at(0)).unwrap())
            .collect();
        assert_eq!(code(begin(&ticks, 1, 0)), Some(Code::TooManyTicks));
        drop(running);
        assert_eq!(code(begin(&ticks, 1, 0)), None);
    }

    #[test]
    fn a_full_memory_refuses_and_forgets_nothing_early() {
        let ticks = Arc::new(Ticks::default());
        for n in 0..IDS_MAX {
            begin(&ticks, n, 0).unwrap().keep();
        }
        let more = begin(&ticks, IDS_MAX, 600);
        assert_eq!(code(more), Some(Code::TooManyTicks));
        let again = begin(&ticks, 0, 600);
        assert_eq!(code(again), Some(Code::AlreadyReceived));
        assert_eq!(code(begin(&ticks, IDS_MAX, 601)), None);
    }
}
