//! How a node's slots are shared, so that one slow kind costs the others nothing (SF-06).
//!
//! Two rules. No kind takes more than three quarters of the slots that the other kinds leave, so
//! whatever hangs, something is free for the next kind. And an attempt that has been under way for
//! a second is *long*: it mostly waits for an answer, which costs a node next to nothing, so it
//! gives its slot to others. How many may be long is bounded too, in all and per kind.
//!
//! A kind with a limit (`kinds.NAME.slots`) keeps to it, long or not: such a limit protects
//! the other side, these protect us.

use std::collections::{BTreeMap, VecDeque};

use almanack_core::task::Kind;
use jiff::{SignedDuration, Timestamp};
use tokio::task::Id;

/// After so long an attempt is long.
const LONG_AFTER: SignedDuration = SignedDuration::from_secs(1);
/// How often it is looked which are.
const LOOK_MS: i64 = 100;

/// How a node shares its slots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shares {
    /// Whether a kind leaves a quarter to the others.
    pub leaves_room: bool,
    /// Most slots of single kinds, if fewer.
    pub of_kind: BTreeMap<Kind, usize>,
    /// How many long attempts there may be besides the slots; of one kind half as many.
    pub long_max: usize,
}

impl Shares {
    /// How many of `slots` a kind may have while other kinds have `taken` of them.
    pub(super) fn of(&self, kind: &Kind, slots: usize, taken: usize) -> usize {
        let left = slots.saturating_sub(taken);
        let most = self.most(left);
        self.of_kind.get(kind).map_or(most, |own| most.min(*own))
    }

    /// Whether any kind is bounded by these.
    pub(super) fn bound_kinds(&self) -> bool {
        self.leaves_room || !self.of_kind.is_empty()
    }

    /// How many of so many slots one kind may take at once.
    pub(super) fn most(&self, left: usize) -> usize {
        if self.leaves_room && left > 1 {
            (left * 3 / 4).max(1)
        } else {
            left
        }
    }
}

/// Which attempts are long.
#[derive(Debug, Default)]
pub(super) struct Long {
    /// Attempts in the order in which they will be.
    coming: VecDeque<(Timestamp, Id)>,
    counts: BTreeMap<Kind, usize>,
    total: usize,
}

impl Long {
    pub(super) fn begun(&mut self, id: Id, now: Timestamp) {
        self.coming.push_back((later(now), id));
    }

    /// Forgets attempts that ended in time, as far as none before them still runs. Most do within
    /// milliseconds: kept until their second is over, those of a busy node would be a hundred
    /// thousand.
    pub(super) fn forget_ended(&mut self, runs: impl Fn(&Id) -> bool) {
        while self.coming.front().is_some_and(|(_, id)| !runs(id)) {
            self.coming.pop_front();
        }
    }

    /// When the next attempt may become long.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.coming.front().map(|(at, _)| *at)
    }

    /// The next one whose time has come.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<Id> {
        let (at, id) = *self.coming.front()?;
        (at <= now).then(|| {
            self.coming.pop_front();
            id
        })
    }

    /// Counts one as long, if there is room for it; otherwise it is looked at again later.
    pub(super) fn admit(&mut self, id: Id, kind: &Kind, shares: &Shares, now: Timestamp) -> bool {
        let of_kind = self.counts.entry(kind.clone()).or_default();
        let admitted = self.total < shares.long_max && *of_kind * 2 < shares.long_max;
        if admitted {
            *of_kind += 1;
            self.total += 1;
        } else {
            self.coming.push_back((later(now), id));
        }
        admitted
    }

    pub(super) fn ended(&mut self, kind: &Kind) {
        self.total = self.total.saturating_sub(1);
        if let Some(count) = self.counts.get_mut(kind) {
            *count = count.saturating_sub(1);
        }
    }

    pub(super) fn total(&self) -> usize {
        self.total
    }

    pub(super) fn count_of(&self, kind: &Kind) -> usize {
        self.counts.get(kind).copied().unwrap_or(0)
    }
}

/// Rounded up, so that many attempts become long together and a runner looks once for all of them.
fn later(now: Timestamp) -> Timestamp {
    let at_ms = now.as_millisecond() + i64::try_from(LONG_AFTER.as_millis()).unwrap_or(0);
    let rounded_ms = (at_ms / LOOK_MS + 1) * LOOK_MS;
    Timestamp::from_millisecond(rounded_ms).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sf_06_every_kind_leaves_a_quarter_of_what_the_others_leave() {
        let event = Kind::parse("EVENT_DELIVERY").unwrap();
        let shares = Shares {
            leaves_room: true,
            of_kind: [(event.clone(), 16)].into(),
            long_max: 0,
        };
        let kind = Kind::parse("SLOW").unwrap();
        for (taken, share) in [(0, 48), (48, 12), (60, 3), (63, 1), (64, 0)] {
            assert_eq!(shares.of(&kind, 64, taken), share, "{taken} taken");
        }
        assert_eq!(shares.of(&event, 64, 0), 16, "its own share is smaller");
        assert_eq!(Shares::default().of(&kind, 64, 0), 64, "unless limited");
    }

    /// What waits for answers is bounded in all, and no kind has more than half of it.
    #[tokio::test]
    async fn sf_06_a_kind_leaves_half_of_what_may_be_long() {
        let (mut long, now) = (Long::default(), Timestamp::UNIX_EPOCH);
        let shares = Shares {
            long_max: 8,
            ..Shares::default()
        };
        let id = tokio::spawn(async {}).id();
        let mut admitted = |name: &str| {
            let kind = Kind::parse(name).unwrap();
            let tried = (0..20).filter(|_| long.admit(id, &kind, &shares, now));
            tried.count()
        };
        assert_eq!(admitted("SLOW"), 4);
        assert_eq!(admitted("SLOWER"), 4);
        assert_eq!(admitted("QUICK"), 0, "there is no more");
        long.ended(&Kind::parse("SLOW").unwrap());
        assert_eq!(
            (long.total(), long.count_of(&Kind::parse("SLOW").unwrap())),
            (7, 3)
        );
    }
}
