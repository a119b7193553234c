//! Ticks: the day's edition, one step further; and the days before it, put away.

use super::{
    Editions, Error,
    run::{End, Stepped, Unwatched},
};
use almanack_core::{
    edition::{
        Account, Edition, EditionId, State,
        day::day_of,
        hold::SILENCE,
        plan::{Requester, Waiting},
        turn::{self, Day},
    },
    store::EditionFilter,
};

/// Most editions that one tick puts away.
const PUT_AWAY_MAX: usize = 20;
/// Most steps of one tick in a chain.
const STEPS_MAX: usize = 1_000;

/// What a tick did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticked {
    /// The edition it was about.
    pub id: EditionId,
    /// What it did, step by step; one unless steps are chained.
    pub steps: Vec<Stepped>,
    /// Earlier editions that it archived.
    pub archived: Vec<EditionId>,
}

impl Editions {
    /// The edition of the present day, in the edition's zone.
    pub fn today(&self) -> EditionId {
        let date = day_of(self.clock.now(), &self.settings.zone);
        EditionId::new(self.settings.name, date)
    }

    /// One tick (ED-01): today's edition first, so that nothing about an earlier day holds it up
    /// (ED-20).
    pub async fn tick(&self) -> Result<Ticked, Error> {
        let id = self.today();
        let steps = self.steps(id).await;
        let archived = self.put_away(id).await.unwrap_or_else(|error| {
            tracing::error!(
                error = error.chain(),
                "could not archive earlier editions; the next tick will retry"
            );
            Vec::new()
        });
        Ok(Ticked {
            id,
            steps: steps?,
            archived,
        })
    }

    /// One step, or in a chain as many as there are.
    async fn steps(&self, id: EditionId) -> Result<Vec<Stepped>, Error> {
        if let Some(at) = self.begins_at(id).await? {
            let stepped = Stepped::not_begun(Waiting::Start(at));
            self.log(id, &stepped);
            return Ok(vec![stepped]);
        }
        self.open(id).await?;
        let mut steps = Vec::new();
        loop {
            let stepped = self.step(id, Requester::Tick, &Unwatched).await?;
            self.log(id, &stepped);
            let more = stepped.end == End::More;
            steps.push(stepped);
            if !more || !self.settings.rules.chain || steps.len() >= STEPS_MAX {
                return Ok(steps);
            }
        }
    }

    /// What the log of every tick says (ED-28).
    fn log(&self, id: EditionId, stepped: &Stepped) {
        let action = stepped.summary();
        tracing::info!(
            tick.at = %self.clock.now(),
            edition.id = %id,
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
    pub(super) async fn open(&self, id: EditionId) -> Result<Edition, Error> {
        if let Some(account) = self.store.load_account(id).await? {
            return Ok(account.edition);
        }
        let (edition, created) = self.store.open_edition(id, self.clock.now()).await?;
        if created {
            tracing::info!(edition.id = %id, "edition created");
        }
        Ok(edition)
    }

    /// Archives what earlier days left open, saying so, and what was published a week ago (ED-20,
    /// ED-31).
    async fn put_away(&self, today: EditionId) -> Result<Vec<EditionId>, Error> {
        let (now, rules) = (self.clock.now(), &self.settings.rules);
        let open = State::ALL.into_iter().filter(|state| state.is_open());
        let left_over = EditionFilter {
            states: open.chain([State::Empty]).collect(),
            name: Some(today.name),
            before: Some(today.date),
            limit: PUT_AWAY_MAX,
            ..EditionFilter::default()
        };
        let mut earlier = Vec::new();
        for line in self.store.list_editions(&left_over).await? {
            let hold = line.edition.waiting();
            if hold.is_some_and(|hold| hold.is_over(now)) {
                let id = line.edition.id;
                passed_over(id, self.end_hold(id).await)?;
            }
            if turn::is_left_over(&line.edition, now) {
                earlier.push(line.edition.id);
            }
        }
        let long_ago = now
            .checked_sub(rules.archive_after)
            .map(|at| day_of(at, &self.settings.zone));
        let old = EditionFilter {
            states: vec![State::Published],
            name: Some(today.name),
            before: long_ago.ok(),
            limit: PUT_AWAY_MAX,
            ..EditionFilter::default()
        };
        let old = self.store.list_editions(&old).await?;
        earlier.extend(old.iter().map(|line| line.edition.id));
        let mut archived = Vec::new();
        for id in earlier {
            if passed_over(id, self.archive(id).await)?.is_some() {
                archived.push(id);
            }
        }
        Ok(archived)
    }

    /// Nobody decided about an edition of an earlier day in time. No tick comes for it: what leaves
    /// is queued.
    async fn end_hold(&self, id: EditionId) -> Result<(), Error> {
        let ended = |account: &Account, now| {
            let change = turn::end_hold(account, Day::Over, now)?;
            Some((change, ()))
        };
        if let Some((account, ())) = self.turn(id, ended).await?
            && account.edition.state.is_open()
        {
            self.request(id, SILENCE).await?;
        }
        Ok(())
    }

    async fn archive(&self, id: EditionId) -> Result<(), Error> {
        let archived = |account: &Account, now| {
            let was = account.edition.state;
            turn::archive(account, now).map(|change| (change, was))
        };
        if let Some((_, was)) = self.turn(id, archived).await?
            && was.is_open()
        {
            tracing::warn!(edition.id = %id, edition.state = %was, "unfinished edition of an earlier day archived; you can still finish it by its date");
        }
        Ok(())
    }
}

/// What came of an earlier edition; nothing if it cannot be read, which must not hold up the others
/// (SF-06).
fn passed_over<T>(id: EditionId, done: Result<T, Error>) -> Result<Option<T>, Error> {
    match done {
        Err(error) if error.is_unreadable() => {
            tracing::error!(edition.id = %id, error = error.chain(), "skipped an earlier edition after an error; continuing with the others");
            Ok(None)
        }
        done => done.map(Some),
    }
}
