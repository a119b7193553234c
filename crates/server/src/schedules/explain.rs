//! The meaning of an expression: in words, as times, and with warnings.

use almanack_core::plan::{Advice, Definition, Move, Quiet, Ready, ScheduleName, unknown_channels};
use almanack_core::target::Target;

use crate::prelude::*;
use almanack_core::{
    both,
    lang::{Lang, Say, Sentence},
};

use crate::language;

/// Shortest tick interval of a node; more frequent slots get a warning.
pub(crate) const ROUND_S: u32 = 10;
/// Default number of times.
pub(super) const TIMES_DEFAULT: usize = 5;
/// Largest number of times.
const TIMES_MAX: usize = 100;
/// Largest number of times that are shown as left out.
const LEFT_OUT_MAX: usize = 100;
/// Longest expression; longer than any useful one.
const EXPRESSION_BYTES_MAX: usize = 1_000;

/// The meaning of an expression.
#[derive(Serialize, ToSchema)]
pub(crate) struct TimetableView {
    /// When it fires, in words: English, or Chinese if `Accept-Language` prefers it.
    #[schema(example = "at 08:00, Monday to Friday")]
    words: String,
    /// The next times; of a schedule only those at which it will fire as things are.
    next: Vec<TimeView>,
    /// Whether there are no further times.
    exhausted: bool,
    /// Warnings.
    warnings: Vec<WarningView>,
}

/// One time.
#[derive(Serialize, ToSchema)]
pub(crate) struct TimeView {
    /// The instant.
    at: Timestamp,
    /// The wall-clock time in the schedule's zone.
    #[schema(example = "2026-01-05T08:00:00+01:00")]
    local: String,
}

/// A warning about a schedule.
#[derive(Serialize, ToSchema)]
pub(crate) struct WarningView {
    /// For programs.
    #[schema(example = "skips_months")]
    code: &'static str,
    /// For people.
    message: String,
    /// The field it is about.
    #[schema(example = "expression")]
    path: &'static str,
    /// The part of it: its first byte, and one past its last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<usize>>, example = json!([4, 6]))]
    span: Option<[usize; 2]>,
}

impl TimetableView {
    /// The times from `first` on, and warnings as of `now`.
    pub(super) fn of(
        ready: &Ready,
        (first, now): (Option<Timestamp>, Timestamp),
        (count, runs_done): (usize, u64),
        lang: Lang,
    ) -> Self {
        let warnings = ready.advice(now, ROUND_S).into_iter();
        let next: Vec<TimeView> = ready
            .firings_from(first, runs_done)
            .take(count)
            .map(|at| TimeView::of(ready, at))
            .collect();
        Self {
            words: ready.describe(lang),
            exhausted: next.len() < count,
            next,
            warnings: warnings.map(|it| WarningView::of(&it, lang)).collect(),
        }
    }
}

impl TimeView {
    fn of(ready: &Ready, at: Timestamp) -> Self {
        let local = at.to_zoned(ready.zone().time_zone().clone());
        let local = local.strftime("%FT%H:%M:%S%:z").to_string();
        Self { at, local }
    }
}

impl WarningView {
    fn of(advice: &Advice, lang: Lang) -> Self {
        Self {
            code: advice.lint.code(),
            message: advice.lint.say(lang),
            path: advice.path,
            span: advice.span.map(|span| [span.start, span.end]),
        }
    }
}

/// What is worth knowing about a schedule that was just written.
pub(super) fn warnings(state: &AppState, ready: &Ready, lang: Lang) -> Vec<WarningView> {
    let mut advice = ready.advice(state.clock.now(), ROUND_S);
    if let Some(watching) = &state.watching {
        let known = watching.get().notifier.channels();
        advice.extend(unknown_channels(&ready.definition, &known));
    }
    let advice = advice.iter();
    advice.map(|it| WarningView::of(it, lang)).collect()
}

/// The expression to explain.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainBody {
    /// Five fields, six with seconds first, or a nickname.
    #[schema(example = "0 8 * * 1-5")]
    expression: String,
    /// Time zone. Default: UTC.
    #[schema(example = "Europe/Berlin")]
    tz: Option<String>,
    /// Number of next times, up to 100. Default: 5.
    #[schema(maximum = 100)]
    count: Option<usize>,
    /// Name of the schedule; only `H` and `~` depend on it.
    name: Option<String>,
    /// Calendars on whose days it does not fire.
    #[serde(default)]
    except: Vec<String>,
    /// Calendars outside whose days it does not fire.
    #[serde(default)]
    only: Vec<String>,
    /// Where a slot goes whose day is left out. Default: it is skipped.
    #[serde(rename = "move")]
    moves: Option<Move>,
    /// Hours in which it does not fire.
    #[serde(default)]
    #[schema(value_type = Vec<String>, example = json!(["22:00-06:00"]))]
    quiet: Vec<Quiet>,
}

/// The meaning of an expression with calendars.
#[derive(Serialize, ToSchema)]
pub(crate) struct ExplainedView {
    #[serde(flatten)]
    timetable: TimetableView,
    /// The times before the last of `next` that a calendar or quiet hours leave out, up to 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOutView>,
}

/// A time at which it does not fire.
#[derive(Serialize, ToSchema)]
pub(crate) struct LeftOutView {
    #[serde(flatten)]
    time: TimeView,
    /// Why.
    #[schema(example = "holiday Karfreitag (calendar de)")]
    why: String,
}

impl LeftOutView {
    /// What is left out between `now` and the last of these times.
    fn all(ready: &Ready, now: Timestamp, next: &[TimeView]) -> Vec<Self> {
        if !ready.leaves_out() {
            return Vec::new();
        }
        let last = next.last().map_or(Timestamp::MAX, |time| time.at);
        let slots = ready.slots_after(now).take_while(|(at, _)| *at <= last);
        let left_out = slots.filter_map(|(at, why)| {
            let time = TimeView::of(ready, at);
            why.map(|why| Self { time, why })
        });
        left_out.take(LEFT_OUT_MAX).collect()
    }
}

/// Explain an expression, or report why it is invalid. Changes nothing.
///
/// Calendars are those that are stored. What an address last answered counts as its days.
#[utoipa::path(
    post, path = "/api/v1/schedules:explain", tag = "schedules",
    params(("Accept-Language" = Option<String>, Header, description = "`zh` for Chinese texts")),
    request_body = ExplainBody,
    responses((status = 200, description = "The meaning", body = ExplainedView)),
)]
pub(crate) async fn explain(State(state): App, call: Call) -> Answer {
    let body: ExplainBody = call.json()?;
    let count = check_count(body.count).map_err(|detail| Problem::invalid("count", detail))?;
    let definition = Definition {
        except: body.except,
        only: body.only,
        moves: body.moves,
        quiet: body.quiet,
        ..plain(body.expression, body.tz)
    };
    if definition.uses_calendars() {
        state.schedules.refresh().await?;
    }
    let ready = read(&state, body.name.as_deref(), definition)?;
    let (lang, now) = (language::accepted(&call.headers), state.clock.now());
    let timetable = TimetableView::of(
        &ready,
        (ready.next_firing_after(now), now),
        (count, 0),
        lang,
    );
    let left_out = LeftOutView::all(&ready, now, &timetable.next);
    let view = ExplainedView {
        timetable,
        left_out,
    };
    Ok(language::answer(lang, view))
}

/// An expression without a schedule. The target does not affect the times.
pub(crate) fn plain(expression: String, tz: Option<String>) -> Definition {
    let nowhere = Target::Task {
        kind: "EXPLAIN".to_owned(),
        subject: "explain:{slot}".to_owned(),
        payload: None,
    };
    let mut definition = Definition::new(expression, nowhere);
    definition.tz = tz.unwrap_or(definition.tz);
    definition
}

/// Checks a definition without a schedule.
pub(crate) fn read(state: &AppState, name: Option<&str>, definition: Definition) -> Result<Ready> {
    let name = ScheduleName::parse(name.unwrap_or("schedule"))?;
    Problem::unless(
        definition.expression.len() <= EXPRESSION_BYTES_MAX,
        "expression",
        || {
            both!(
                "expression must have at most {EXPRESSION_BYTES_MAX} bytes",
                "表达式最多 {EXPRESSION_BYTES_MAX} 字节"
            )
        },
    )?;
    Ok(state.schedules.check(&name, definition)?)
}

pub(super) fn check_count(asked: Option<usize>) -> Result<usize, Sentence> {
    let count = asked.unwrap_or(TIMES_DEFAULT);
    if count <= TIMES_MAX {
        Ok(count)
    } else {
        Err(both!(
            "count must be at most {TIMES_MAX}, not {count}",
            "count 最多为 {TIMES_MAX}，不能是 {count}"
        ))
    }
}
