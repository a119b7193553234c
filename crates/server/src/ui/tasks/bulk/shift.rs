//! Bulk rescheduling: all to one time, or each by the same amount.

use almanack_core::time::to_micros;

use super::{Asked, Chosen, HERE, Pick, first_few, sentence, unclear};
use crate::ui::prelude::*;
use crate::ui::tasks::change::{Typed, clock_fields, offer};

/// Longest shift: beyond any plan, and within the calendar.
const MINUTES_MAX: i64 = 10 * 366 * 24 * 60;

/// The fields; numbers arrive as text.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Fields {
    at: Option<String>,
    zone: Option<String>,
    amount: Option<String>,
    unit: Option<String>,
    to: Option<String>,
    by: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shift {
    /// All to this instant.
    To(Timestamp),
    /// Each by this much.
    By(SignedDuration),
}

impl Shift {
    /// The new time of a task.
    pub(super) fn apply(self, execute_at: Timestamp) -> Timestamp {
        match self {
            Self::To(at) => at,
            Self::By(amount) => execute_at
                .saturating_add(amount)
                .map_or(execute_at, to_micros),
        }
    }
}

impl Fields {
    /// The confirmed shift.
    pub(super) fn settled(&self) -> Result<Shift> {
        match (&self.to, &self.by) {
            (Some(to), None) => Ok(Shift::To(parse_instant(to, "to")?)),
            (None, Some(by)) => minutes(by).map(Shift::By),
            _ => Err(unclear("choose where to move the tasks")),
        }
    }

    /// The typed amount, in minutes.
    fn amount(&self) -> Option<Result<i64>> {
        let amount = self.amount.as_deref()?;
        let per_unit = match self.unit.as_deref() {
            Some("days") => 24 * 60,
            Some("hours") => 60,
            _ => 1,
        };
        let typed: Option<i64> = amount.trim().parse().ok();
        let given = typed.and_then(|amount| amount.checked_mul(per_unit));
        let unreadable = || unclear("the amount must be a whole number other than 0");
        Some(given.filter(|given| *given != 0).ok_or_else(unreadable))
    }
}

fn minutes(text: &str) -> Result<SignedDuration> {
    let minutes: Option<i64> = text.parse().ok();
    let minutes = minutes.filter(|minutes| minutes.unsigned_abs() <= MINUTES_MAX.unsigned_abs());
    let minutes = minutes.ok_or_else(|| unclear("the amount is out of range"))?;
    Ok(SignedDuration::from_secs(minutes * 60))
}

/// Asks for the new time, then for confirmation.
pub(super) fn ask(viewer: &Viewer, asked: &Asked, chosen: &Chosen, title: &str) -> Markup {
    let (lang, fields) = (viewer.lang, &asked.shift);
    let units = options! { lang;
        "minutes" => "minutes", "分钟";
        "hours" => "hours", "小时";
        "days" => "days", "天";
    };
    let body = html! {
        p { (sentence(lang, asked, chosen)) }
        (first_few(viewer, chosen))
        form method="get" action=(HERE) class="fields" data-try {
            (hidden(chosen.fields(asked.act)))
            fieldset class="fields" {
                legend { (lang.pick("All to the same time", "全部改到同一时间")) }
                (clock_fields(viewer, fields.at.as_deref(), fields.zone.as_deref()))
            }
            fieldset class="fields" {
                legend { (lang.pick("Or shift each by", "或各自平移")) }
                label { (lang.pick("Amount (negative: earlier)", "数量（负数为提前）"))
                    input type="number" name="amount" step="1" value=[fields.amount.as_deref()];
                }
                (choice("unit", lang.pick("Unit", "单位"), fields.unit.as_deref(), units))
            }
            button type="submit" { (lang.pick("Preview", "预览")) }
        }
        (live("answer", &answer(viewer, asked, chosen, title)))
        p { a class="button" href=(asked.filter.address(Place::Tasks.path(), &[])) { (lang.pick("Keep them", "返回")) } }
    };
    page(viewer, Place::Tasks, title, &body)
}

fn answer(viewer: &Viewer, asked: &Asked, chosen: &Chosen, title: &str) -> Markup {
    let fields = &asked.shift;
    let settle = |name: &str, value: String| {
        let inside = html! {
            (hidden(chosen.fields(asked.act)))
            (hidden([(name, value)]))
            button type="submit" class="primary" { (title) }
        };
        form(viewer, HERE, &inside)
    };
    match (fields.amount(), fields.at.as_deref()) {
        (Some(Ok(amount)), _) => by(viewer, &chosen.picks, amount, |by| settle("by", by)),
        (Some(Err(problem)), _) => refused(viewer.lang, &problem),
        (None, Some(clock)) => {
            let zone = fields.zone.as_deref().unwrap_or(viewer.zone_name());
            let old = None;
            let settle = |instant: Timestamp| settle("to", instant.to_string());
            offer(viewer, &Typed { clock, zone, old }, settle)
        }
        (None, None) => Markup::default(),
    }
}

/// Shows the new times of the first and the last task.
fn by(viewer: &Viewer, picks: &[Pick], amount: i64, settle: impl Fn(String) -> Markup) -> Markup {
    let lang = viewer.lang;
    let text = amount.to_string();
    let shift = match minutes(&text) {
        Ok(amount) => Shift::By(amount),
        Err(problem) => return refused(lang, &problem),
    };
    let times = || picks.iter().map(|pick| pick.execute_at);
    html! {
        @if let (Some(first), Some(last)) = (times().min(), times().max()) {
            p { (say!(lang, "Each shifts by {amount} minutes: the first from", "各自平移 {amount} 分钟：最早的从")) " "
                (viewer.instant(first)) " " (lang.pick("to", "到")) " " (viewer.at(shift.apply(first)))
                (lang.pick("; the last to", "；最晚的到")) " " (viewer.at(shift.apply(last))) (lang.pick(".", "。"))
            }
        }
        (settle(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(amount: &str, unit: &str) -> Fields {
        Fields {
            amount: Some(amount.to_owned()),
            unit: Some(unit.to_owned()),
            ..Fields::default()
        }
    }

    #[test]
    fn an_amount_is_read_in_its_unit() {
        for (amount, unit, minutes) in [
            ("90", "minutes", Some(90)),
            (" -2 ", "hours", Some(-120)),
            ("1", "days", Some(1_440)),
            ("0", "days", None),
            ("1.5", "hours", None),
            ("soon", "hours", None),
            ("9223372036854775807", "days", None),
        ] {
            let read = fields(amount, unit).amount().unwrap().ok();
            assert_eq!(read, minutes, "{amount} {unit}");
        }
    }

    #[test]
    fn a_move_is_settled_in_one_way() {
        let settled = |to: Option<&str>, by: Option<&str>| {
            let fields = Fields {
                to: to.map(str::to_owned),
                by: by.map(str::to_owned),
                ..Fields::default()
            };
            fields.settled().ok()
        };
        let at: Timestamp = "2026-01-05T08:00:00Z".parse().unwrap();
        assert_eq!(
            settled(Some("2026-01-05T08:00:00Z"), None),
            Some(Shift::To(at))
        );
        assert_eq!(
            settled(None, Some("-30")).map(|shift| shift.apply(at)),
            Some("2026-01-05T07:30:00Z".parse().unwrap())
        );
        for (to, by) in [
            (None, None),
            (Some("08:00"), None),
            (None, Some("99999999999")),
        ] {
            assert_eq!(settled(to, by), None);
        }
        assert_eq!(settled(Some("2026-01-05T08:00:00Z"), Some("1")), None);
    }
}
