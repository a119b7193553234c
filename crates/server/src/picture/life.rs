//! A task's life: when it was wanted, for when, every change of that, every attempt, and how it ended.
//!
//! Two views of the same events: a track on which they stand in proportion to time, changes of its time as arches from the old
//! one to the new one, and below it a list in which each has its words and the wait before it. The list needs no table.
//!
//! Clocks differ between nodes, so that an event may lie before the one it follows and an attempt may end before it began.
//! Such a wait is told as it is, with its sign; on the track the attempt has no length.

mod track;

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use maud::{Markup, Render, html};

use crate::{
    picture::{
        clock,
        figure::{Figure, Frame},
        outcome::Outcome,
        span,
    },
    ui::lang::{Lang, say},
};

/// Most events that are shown; the newest are kept, and the first.
const EVENTS_MAX: usize = 100;

/// Something in a task's life.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    /// When.
    pub(crate) at: Timestamp,
    /// Until when, if it took time.
    pub(crate) until: Option<Timestamp>,
    /// What.
    pub(crate) kind: Kind,
    /// More about it: who, why, what was answered; may be empty.
    pub(crate) label: String,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It was wanted for a time.
    Created {
        /// For when.
        due_at: Timestamp,
    },
    /// Its time was changed.
    Moved {
        /// The old time.
        from: Timestamp,
        /// The new one.
        to: Timestamp,
    },
    /// It was tried.
    Attempt {
        /// Which attempt, from 1.
        number: u32,
        /// How it went.
        outcome: Outcome,
    },
    /// It was not wanted any more.
    Cancelled,
    /// Another took its place.
    Replaced,
    /// It is over.
    Finished {
        /// How.
        outcome: Outcome,
    },
    /// It will be tried.
    Planned,
}

impl Kind {
    /// The shape by which it is shown.
    fn outcome(self) -> Outcome {
        match self {
            Self::Created { .. } | Self::Moved { .. } | Self::Planned => Outcome::Planned,
            Self::Attempt { outcome, .. } | Self::Finished { outcome } => outcome,
            Self::Cancelled | Self::Replaced => Outcome::Cancelled,
        }
    }

    fn words(self, frame: &Frame<'_>) -> Cow<'static, str> {
        let lang = frame.lang;
        let told = |at| clock::moment(at, frame.zone, lang);
        match self {
            Self::Created { due_at } => {
                let due_at = told(due_at);
                say!(lang, "created, due {due_at}", "创建，定于 {due_at}")
            }
            Self::Moved { from, to } => {
                let (from, to) = (told(from), told(to));
                say!(lang, "moved from {from} to {to}", "由 {from} 改至 {to}")
            }
            Self::Attempt { number, outcome } => {
                let name = outcome.name(lang);
                say!(
                    lang,
                    "attempt {number}: {name}",
                    "第 {number} 次尝试：{name}"
                )
            }
            Self::Cancelled => say!(lang, "cancelled", "已取消"),
            Self::Replaced => say!(lang, "replaced", "已被取代"),
            Self::Finished { outcome } => {
                let name = outcome.name(lang);
                say!(lang, "finished: {name}", "结束：{name}")
            }
            Self::Planned => say!(lang, "planned", "计划中"),
        }
    }
}

/// Draws a life; `events` in the order in which they are to be told.
pub(crate) fn draw(events: &[Event], now: Timestamp, frame: &Frame<'_>) -> Markup {
    let kept = newest(events);
    let summary = summary(events, frame.lang).into_owned();
    let figure = Figure {
        frame: *frame,
        drawing: html! {
            (track::draw(&kept, now, &summary, frame))
            ol.life {
                @for (number, event) in kept.iter().enumerate() {
                    @let before = number.checked_sub(1).and_then(|number| kept.get(number));
                    (line(event, before.copied(), frame))
                }
            }
        },
        legend: Markup::default(),
        table: None,
        summary,
    };
    figure.render()
}

fn newest(events: &[Event]) -> Vec<&Event> {
    let gone = events.len().saturating_sub(EVENTS_MAX);
    let first = events.first().filter(|_| gone > 0);
    first.into_iter().chain(&events[gone..]).collect()
}

fn line(event: &Event, before: Option<&Event>, frame: &Frame<'_>) -> Markup {
    let lang = frame.lang;
    let wait = before.map(|before| event.at.duration_since(before.until.unwrap_or(before.at)));
    let took = event.until.map(|until| until.duration_since(event.at));
    html! {
        @if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            li.wait { (say!(lang, "{} later", "{} 后", span::words(wait, lang))) }
        }
        li {
            (event.kind.outcome().icon())
            time datetime=(event.at) { (clock::moment(event.at, frame.zone, lang)) }
            " " span.name { (event.kind.words(frame)) }
            @if let Some(took) = took { " " span.detail { (length(took, event.kind, lang)) } }
            @if !event.label.is_empty() { " " span.detail { (event.label) } }
        }
    }
}

fn length(took: SignedDuration, kind: Kind, lang: Lang) -> Cow<'static, str> {
    let words = span::words(took, lang);
    match kind.outcome() {
        Outcome::Running => say!(lang, "for {words} so far", "已运行 {words}"),
        _ => say!(lang, "took {words}", "耗时 {words}"),
    }
}

fn summary(events: &[Event], lang: Lang) -> Cow<'static, str> {
    let count =
        |wanted: fn(&Kind) -> bool| events.iter().filter(|event| wanted(&event.kind)).count();
    let attempts = count(|kind| matches!(kind, Kind::Attempt { .. }));
    let moves = count(|kind| matches!(kind, Kind::Moved { .. }));
    let Some(last) = events.last() else {
        return say!(lang, "Nothing is known of its life.", "尚无记录。");
    };
    let last = last.kind.outcome().name(lang);
    say!(
        lang,
        "{attempts} attempts, moved {moves} times; now {last}.",
        "{attempts} 次尝试，改期 {moves} 次；当前：{last}。"
    )
}

#[cfg(test)]
mod tests;
