//! Ticks: the day's edition, one step further; and the days before it, put away.

use almanack_core::{
    edition::{Account, Edition, State, day::day_of, plan::Requester, turn},
    store::EditionFilter,
};
use jiff::civil::Date;

use super::{
    Editions, Error,
    run::{End, Stepped, Unwatched},
};

/// Most editions that one tick puts away.
const PUT_AWAY_MAX: usize = 20;
/// Most steps of one tick in a chain.
const STEPS_MAX: usize = 1_000;

/// What a tick did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticked {
    /// The day whose edition it was.
    pub date: Date,
    /// What it did, step by step; one unless steps are chained.
    pub steps: Vec<Stepped>,
    /// Earlier editions that it archived.
    pub archived: Vec<Date>,
}

impl Editions {
    /// The present day, in the edition's zone.
    pub fn today(&self) -> Date {
        day_of(self.clock.now(), &self.settings.zone)
    }

    /// One tick (ED-01): today's edition first, so that nothing about an earlier day holds it up
    /// (ED-20).
    pub async fn tick(&self) -> Result<Ticked, Error> {
        let date = self.today();
        let steps = self.steps(date).await;
        let archived = self.put_away(date).await.unwrap_or_else(|error| {
            tracing::error!(
                error = error.chain(),
                "could not archive earlier editions; the next tick will retry"
            );
            Vec::new()
        });
        Ok(Ticked {
            date,
            steps: steps?,
            archived,
        })
    }

    /// One step, or in a chain as many as there are.
    async fn steps(&self, date: Date) -> Result<Vec<Stepped>, Error> {
        self.open(date).await?;
        let mut steps = Vec::new();
        loop {
            let stepped = self.step(date, Requester::Tick, &Unwatched).await?;
            self.log(date, &stepped);
            let more = stepped.end == End::More;
            steps.push(stepped);
            if !more || !self.settings.rules.chain || steps.len() >= STEPS_MAX {
                return Ok(steps);
            }
        }
    }

    /// What the log of every tick says (ED-28).
    fn log(&self, date: Date, stepped: &Stepped) {
        let action = stepped.summary();
        tracing::info!(
            tick.at = %self.clock.now(),
            edition.date = %date,
            edition.state = %stepped.before,
            edition.after = %stepped.after,
            action,
            requests = stepped.requests,
            "edition tick"
        );
        metrics::counter!("almanack_edition_ticks_total").increment(1);
    }

    /// The edition of a day, created if there is none. Looked for first: a day has one first tick
    /// and many others.
    pub(super) async fn open(&self, date: Date) -> Result<Edition, Error> {
        if let Some(account) = self.store.load_account(date).await? {
            return Ok(account.edition);
        }
        let (edition, created) = self.store.open_edition(date, self.clock.now()).await?;
        if created {
            tracing::info!(edition.date = %date, "edition created");
        }
        Ok(edition)
    }

    /// Archives what earlier days left open, saying so, and what was published a week ago (ED-20,
    /// ED-31).
    async fn put_away(&self, today: Date) -> Result<Vec<Date>, Error> {
        let (now, rules) = (self.clock.now(), &self.settings.rules);
        let open = State::ALL.into_iter().filter(|state| state.is_open());
        let left_over = EditionFilter {
            states: open.chain([State::Empty]).collect(),
            before: Some(today),
            limit: PUT_AWAY_MAX,
            ..EditionFilter::default()
        };
        let mut dates = Vec::new();
        for line in self.store.list_editions(&left_over).await? {
            if turn::is_left_over(&line.edition, now) {
                dates.push(line.edition.date);
            }
        }
        let long_ago = now
            .checked_sub(rules.archive_after)
            .map(|at| day_of(at, &self.settings.zone));
        let old = EditionFilter {
            states: vec![State::Published],
            before: long_ago.ok(),
            limit: PUT_AWAY_MAX,
            ..EditionFilter::default()
        };
        let old = self.store.list_editions(&old).await?;
        dates.extend(old.iter().map(|line| line.edition.date));
        let mut archived = Vec::new();
        for date in dates {
            if passed_over(date, self.archive(date).await)?.is_some() {
                archived.push(date);
            }
        }
        Ok(archived)
    }

    async fn archive(&self, date: Date) -> Result<(), Error> {
        let archived = |account: &Account, now| {
            let was = account.edition.state;
            turn::archive(account, now).map(|change| (change, was))
        };
        if let Some((_, was)) = self.turn(date, archived).await?
            && was.is_open()
        {
            tracing::warn!(edition.date = %date, edition.state = %was, "unfinished edition of an earlier day archived; you can still finish it by its date");
        }
        Ok(())
    }
}

/// What came of an earlier edition; nothing if it cannot be read, which must not hold up the others
/// (SF-06).
fn passed_over<T>(date: Date, done: Result<T, Error>) -> Result<Option<T>, Error> {
    match done {
        Err(error) if error.is_unreadable() => {
            tracing::error!(edition.date = %date, error = error.chain(), "skipped an earlier edition after an error; continuing with the others");
            Ok(None)
        }
        done => done.map(Some),
    }
}
