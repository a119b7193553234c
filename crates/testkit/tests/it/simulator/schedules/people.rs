//! People who change their minds about schedules, mostly at the worst moment.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use almanack_core::{
    plan::{Also, CatchUp, Definition, Move, OnResume, Origin, Overlap, Quiet, ScheduleName},
    target::Target,
};
use almanack_engine::schedules::{Backfill, Error, Overlapping, Schedules};
use jiff::{SignedDuration, Timestamp};

use super::{
    super::{
        dice::Dice,
        time::{Barrier, pass},
    },
    calls,
    planners::World,
    rule::{QUIET, Rule, WEEKEND},
    works::{WORK, work_subject},
};

/// Slots fall on multiples of this many seconds, and so do people.
const ROUND_S: i64 = 300;
const HOUR_MS: u64 = 3_600_000;

/// A person with a request now and then.
pub(super) struct Person {
    world: World,
    dice: Dice,
    names: Vec<ScheduleName>,
    /// What each schedule was last asked to be.
    wanted: BTreeMap<ScheduleName, Definition>,
    /// The one that comes and goes.
    dense: ScheduleName,
}

impl Person {
    pub(super) fn new(world: World, dice: Dice, schedules: u64) -> Self {
        let name = |n: u64| ScheduleName::parse(&format!("s{n}")).expect("a short name");
        let dense = ScheduleName::parse("dense").expect("a short name");
        Self {
            world,
            dice,
            names: (0..schedules).map(name).collect(),
            wanted: BTreeMap::new(),
            dense,
        }
    }

    /// Writes all schedules, but for the one that comes and goes.
    pub(super) async fn begin(&mut self) {
        for name in self.names.clone() {
            let definition = self.define(Rule::draw);
            self.put(&name, definition).await;
        }
    }

    /// Lives on until `until`.
    pub(super) async fn live(&mut self, until: Timestamp) {
        while self.world.truth.now() < until && !self.world.record.is_broken() {
            pass(self.dice.millis(HOUR_MS / 4, 40 * HOUR_MS)).await;
            if self.dice.hits(600) {
                self.wait_for_the_moment().await;
            }
            if self.dice.hits(60) {
                self.come_and_go().await;
            } else {
                self.act().await;
            }
        }
    }

    /// The moment the planner is busy: around a slot, or between its reading and its writing.
    async fn wait_for_the_moment(&self) {
        let now_ms = self.world.truth.now().as_millisecond();
        let left = ROUND_S * 1_000 - now_ms.rem_euclid(ROUND_S * 1_000);
        let left = if self.dice.hits(600) {
            left + self.dice.between(0, 8)
        } else {
            left + self.dice.between(-1_500, 1_000)
        };
        pass(Duration::from_millis(u64::try_from(left).unwrap_or(0))).await;
    }

    pub(super) async fn resume_all(&self) {
        for name in self.names.iter().chain([&self.dense]) {
            let _ = self.schedules().resume(name, "host").await;
        }
    }

    fn schedules(&self) -> Schedules {
        let barrier = Arc::new(Barrier::new(self.world.truth));
        let store = self.world.way("person", &barrier, &self.dice);
        let clock = self.world.clock(&self.dice);
        Schedules::new(store, clock, Arc::clone(&self.world.zones))
    }

    async fn act(&mut self) {
        let name = self.dice.pick(&self.names).clone();
        let Some(current) = self.wanted.get(&name).cloned() else {
            let definition = self.define(Rule::draw);
            return self.put(&name, definition).await;
        };
        match self.dice.below(100) {
            0..15 => self.pause(&name).await,
            15..30 => self.pause_until(&name).await,
            30..38 => self.report(&name, self.schedules().resume(&name, "ada").await.map(drop)),
            38..53 => {
                let definition = self.define(Rule::draw);
                self.put(&name, definition).await;
            }
            53..70 => {
                let changed = self.policies(current);
                self.put(&name, changed).await;
            }
            70..78 => {
                let removed = self.schedules().remove(&name, "ada").await.map(drop);
                self.report(&name, removed);
                self.wanted.remove(&name);
            }
            78..92 => {
                let how = *self
                    .dice
                    .pick(&[Overlapping::AsPlanned, Overlapping::Forced]);
                self.report(
                    &name,
                    self.schedules().fire(&name, how, "ada").await.map(drop),
                );
            }
            _ => self.backfill(&name).await,
        }
    }

    async fn pause(&self, name: &ScheduleName) {
        let note = Some("moving house".to_owned());
        self.report(
            name,
            self.schedules()
                .pause(name, None, note, "ada")
                .await
                .map(drop),
        );
        pass(self.dice.millis(1_000, 30 * HOUR_MS)).await;
        if self.dice.hits(500) {
            self.wait_for_the_moment().await;
        }
        self.report(name, self.schedules().resume(name, "ada").await.map(drop));
    }

    async fn pause_until(&self, name: &ScheduleName) {
        let hours = self.dice.between(1, 40);
        let until = self.world.truth.now() + SignedDuration::from_hours(hours);
        let until = if self.dice.hits(500) {
            round(until)
        } else {
            until
        };
        let until = almanack_core::time::to_micros(until);
        let paused = self.schedules().pause(name, Some(until), None, "ada").await;
        self.report(name, paused.map(drop));
    }

    async fn backfill(&self, name: &ScheduleName) {
        let to = self.world.truth.now() - SignedDuration::from_secs(self.dice.between(3, 9_000));
        let request = Backfill {
            from: to - SignedDuration::from_hours(self.dice.between(1, 12)),
            to,
            pace: SignedDuration::from_secs(1),
        };
        let done = self.schedules().backfill(name, request, "ada").await;
        self.report(name, done.map(drop));
    }

    /// A schedule of every few minutes, for some hours.
    async fn come_and_go(&mut self) {
        let name = self.dense.clone();
        let definition = self.define(Rule::draw_dense);
        self.put(&name, definition).await;
        pass(self.dice.millis(HOUR_MS / 4, 2 * HOUR_MS)).await;
        // It would be too much for ninety days, so a person without an answer asks again.
        while let Err(Error::Store(_)) = self.schedules().remove(&name, "ada").await {
            pass(self.dice.millis(100, 60_000)).await;
        }
    }

    async fn put(&mut self, name: &ScheduleName, mut definition: Definition) {
        if let Target::Task { subject, .. } = &mut definition.target {
            *subject = work_subject(name);
        }
        let schedules = self.schedules();
        let put = schedules
            .put(name, definition.clone(), Origin::Api, "ada")
            .await;
        self.report(name, put.map(drop));
        self.wanted.insert(name.clone(), definition);
    }

    /// A person without an answer does not know; the chronicle does.
    fn report(&self, name: &ScheduleName, answer: Result<(), Error>) {
        if let Err(error) = answer {
            self.world
                .record
                .note(name.as_str(), format_args!("a person hears: {error}"));
        }
    }

    fn define(&self, rule: impl Fn(&Dice) -> Rule) -> Definition {
        let rule = rule(&self.dice);
        // A look at a task every few seconds costs more than the firing of a slot.
        let target = match self.dice.below(3) {
            0 | 1 => Target::webhook("https://example.org/hook"),
            _ => Target::Task {
                kind: WORK.to_owned(),
                subject: String::new(),
                payload: None,
            },
        };
        let mut definition = Definition {
            tz: rule.tz.to_owned(),
            // Longer than any outage: what is waited for ends.
            run_timeout: Some(SignedDuration::from_hours(7 * 24)),
            ..Definition::new(rule.expression(), target)
        };
        let mut rules = vec![rule];
        if self.dice.hits(150) {
            rules.push(rules[0].another(&self.dice));
            definition.also.push(Also {
                expression: rules[1].expression(),
                tz: None,
            });
        }
        let named = rules.into_iter().map(|rule| (rule.key(), rule));
        self.world.chronicle.pages().rules.extend(named);
        self.policies(definition)
    }

    fn policies(&self, definition: Definition) -> Definition {
        let dice = &self.dice;
        let minutes = SignedDuration::from_mins;
        let mut drawn = Definition {
            catch_up: *dice.pick(&[CatchUp::None, CatchUp::Latest, CatchUp::All]),
            grace: *dice.pick(&[
                None,
                None,
                Some(minutes(1)),
                Some(minutes(600)),
                Some(minutes(6_000)),
            ]),
            max_catch_up: *dice.pick(&[1, 2, 5, 100]),
            overlap: *dice.pick(&[
                Overlap::Skip,
                Overlap::QueueOne,
                Overlap::Allow,
                Overlap::CancelRunning,
            ]),
            on_resume: *dice.pick(&[OnResume::Skip, OnResume::Latest]),
            splay: *dice.pick(&[minutes(0), minutes(0), minutes(0), minutes(4)]),
            jitter: *dice.pick(&[minutes(0), minutes(0), minutes(0), minutes(3)]),
            except: Vec::new(),
            only: Vec::new(),
            quiet: Vec::new(),
            moves: None,
            starts_at: None,
            ends_at: None,
            runs: None,
            ..definition
        };
        if dice.hits(250) {
            drawn.except = vec![WEEKEND.to_owned()];
        } else if dice.hits(100) {
            drawn.only = vec![WEEKEND.to_owned()];
        }
        if dice.hits(200) {
            drawn.quiet = Quiet::parse(QUIET).into_iter().collect();
        }
        if drawn.uses_calendars() && self.is_fixed(&drawn) && dice.hits(500) {
            drawn.moves = Some(*dice.pick(&[Move::NextWorkday, Move::PreviousWorkday]));
        }
        let days_on = |days: i64| {
            let at = self.world.truth.now() + SignedDuration::from_hours(24 * days);
            Some(round(at))
        };
        if dice.hits(100) {
            drawn.ends_at = days_on(dice.between(2, 40));
        }
        if dice.hits(100) {
            drawn.starts_at = days_on(dice.between(-1, 5));
        }
        if dice.hits(120) {
            drawn.runs = u32::try_from(dice.between(1, 12)).ok();
        }
        calls::draw(dice, &mut drawn);
        if drawn.catch_up == CatchUp::All && drawn.overlap == Overlap::CancelRunning {
            drawn.catch_up = CatchUp::Latest;
        }
        drawn
    }
}

impl Person {
    /// Whether all its expressions name fixed times of day.
    fn is_fixed(&self, definition: &Definition) -> bool {
        let pages = self.world.chronicle.pages();
        let also = definition.also.iter().map(|also| &also.expression);
        let mut expressions = [&definition.expression].into_iter().chain(also);
        expressions.all(|expression| {
            let key = (expression.clone(), definition.tz.clone());
            pages.rules.get(&key).is_some_and(Rule::is_fixed)
        })
    }
}

fn round(at: Timestamp) -> Timestamp {
    let second = at.as_second();
    Timestamp::from_second(second - second.rem_euclid(ROUND_S)).unwrap_or(at)
}
