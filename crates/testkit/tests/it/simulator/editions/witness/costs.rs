//! What models cost, counted again: no cap is exceeded, and nothing is forgotten (ED-44).

use std::collections::BTreeMap;

use almanack_core::edition::{
    EditionName,
    allowance::{Caps, Usage},
};
use almanack_testkit::edition_harness::metered::COSTS;
use jiff::civil::Date;

/// Tokens that are counted, by edition and day, and requests that left.
#[derive(Default)]
pub(super) struct Costs {
    counted: BTreeMap<(EditionName, Date), u64>,
    pub(super) requests: i64,
}

impl Costs {
    /// A request was counted with the most that it can cost.
    pub(super) fn reserved(
        &mut self,
        (name, on): (EditionName, Date),
        most: Usage,
        caps: Caps,
    ) -> Result<(), String> {
        let day = self.counted.entry((name, on)).or_default();
        *day += most.tokens();
        let (day, month) = (*day, self.month(name, on));
        let exceeds = |cap: Option<u64>, counted: u64| cap.is_some_and(|cap| counted > cap);
        if exceeds(caps.tokens_per_day, day) || exceeds(caps.tokens_per_month, month) {
            return Err(format!(
                "{name}: {day} tokens on {on}, {month} in its month, exceed a cap of {caps:?}"
            ));
        }
        Ok(())
    }

    pub(super) fn settled(&mut self, of: (EditionName, Date), reserved: Usage, actual: Usage) {
        let day = self.counted.entry(of).or_default();
        *day = (*day + actual.tokens()).saturating_sub(reserved.tokens());
    }

    fn month(&self, name: EditionName, on: Date) -> u64 {
        let days = (name, on.first_of_month())..=(name, on.last_of_month());
        self.counted.range(days).map(|(_, tokens)| tokens).sum()
    }

    /// Every month of an edition, by its last day with a request, and what is counted for it.
    pub(super) fn months(&self) -> BTreeMap<(EditionName, Date), u64> {
        let mut months = BTreeMap::new();
        for ((name, on), tokens) in &self.counted {
            *months.entry((*name, on.first_of_month())).or_default() += tokens;
        }
        months
    }

    /// Who dies leaves a count that is too high, never one that is too low.
    pub(super) fn check(&self) -> Result<(), String> {
        let counted: u64 = self.counted.values().sum();
        let least = u64::try_from(self.requests).unwrap_or(0) * COSTS;
        if counted < least {
            return Err(format!(
                "{counted} tokens are counted, but {} requests cost {least}",
                self.requests
            ));
        }
        Ok(())
    }
}
