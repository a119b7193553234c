//! Counting sources.
//!
//! One statement reads every row once and answers a row per state, cadence, attention and failure;
//! the sums of those are the numbers. With a type and without it is the same statement, so that
//! neither can go wrong alone.

use almanack_core::{
    source::{Attention, check::FailureClass, policy::cadence::Cadence},
    store::{Result, SourceNumbers},
};

use crate::{
    row::{Row, Value, readable},
    session::Session,
};

/// How many there are of each sort, how many of them were looked at, are due, are kept waiting, and
/// the sum of their hit rates.
pub(crate) const COUNT: &str = "select state, cadence, attention, last_error_class, count(*), \
     count(case when check_count > 0 then 1 end), \
     count(case when due_at_us <= $1 then 1 end), \
     count(case when state = 'active' and backoff_until_us > $1 then 1 end), \
     coalesce(sum(case when check_count > 0 \
         then cast(hit_count as double precision) / check_count end), 0.0) \
     from source where (cast($2 as text) is null or source_type = $2) \
     group by state, cadence, attention, last_error_class \
     order by state, cadence, attention, last_error_class";

pub(crate) async fn count(session: &dyn Session, values: &[Value<'_>]) -> Result<SourceNumbers> {
    let mut sum = Sum::default();
    let mut add = |row: &Row<'_>| {
        // What is not known by name is counted under none.
        let _ = readable("source", sum.add(row));
        Ok(())
    };
    session.each(COUNT, values, &mut add).await?;
    Ok(sum.numbers())
}

/// Adds up the rows of [`COUNT`].
#[derive(Default)]
struct Sum {
    numbers: SourceNumbers,
    hit_rates: f64,
}

impl Sum {
    fn add(&mut self, row: &Row<'_>) -> Result<()> {
        let sources = row.get(4)?;
        let numbers = &mut self.numbers;
        numbers.total_sources += sources;
        numbers.total_with_stats += row.get::<u64>(5)?;
        numbers.due_now += row.get::<u64>(6)?;
        numbers.in_backoff += row.get::<u64>(7)?;
        self.hit_rates += row.get::<f64>(8)?;
        add(&mut numbers.states, row.text(0)?, sources);
        if let Some(cadence) = row.get(1)? {
            add(&mut numbers.cadence_distribution, cadence, sources);
        }
        if let Some(attention) = row.get(2)? {
            add(&mut numbers.attention, attention, sources);
        }
        if let Some(class) = row.get(3)? {
            add(&mut numbers.failures, class, sources);
        }
        Ok(())
    }

    /// All of it, each list in the order of what it counts.
    fn numbers(mut self) -> SourceNumbers {
        let by_cadence = |counted: &(Cadence, u64)| counted.0;
        let by_attention = |counted: &(Attention, u64)| counted.0;
        self.numbers.cadence_distribution.sort_by_key(by_cadence);
        self.numbers.attention.sort_by_key(by_attention);
        let by_class = |counted: &(FailureClass, u64)| counted.0;
        self.numbers.failures.sort_by_key(by_class);
        let looked_at = self.numbers.total_with_stats;
        #[expect(
            clippy::cast_precision_loss,
            reason = "a count of sources is far below 2^53"
        )]
        if looked_at > 0 {
            self.numbers.avg_hit_rate = self.hit_rates / looked_at as f64;
        }
        self.numbers
    }
}

fn add<T: PartialEq>(counted: &mut Vec<(T, u64)>, what: T, more: u64) {
    match counted.iter_mut().find(|(known, _)| *known == what) {
        Some((_, count)) => *count += more,
        None => counted.push((what, more)),
    }
}
