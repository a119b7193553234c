//! Bulk rescheduling: all to one time, or each by the same amount.

use std::collections::BTreeMap;

use almanack_core::bulk::{BulkRequest, DryRun};
use almanack_core::store::TaskFilter;

use super::{Asked, HERE, agree, counts, first_few, name, request, rule, unclear};
use crate::bulk::bulks;
use crate::ui::prelude::*;
use crate::ui::tasks::change::{Typed, clock_fields, offer};

/// The fields; numbers arrive as text.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Fields {
    at: Option<String>,
    zone: Option<String>,
    amount: Option<String>,
    unit: Option<String>,
    to: Option<String>,
    by_s: Option<String>,
}

impl Fields {
    /// The confirmed time.
    pub(super) fn to(&self) -> Result<Option<Timestamp>> {
        let to = self.to.as_deref();
        to.map(|to| parse_instant(to, "to")).transpose()
    }

    /// The confirmed shift.
    pub(super) fn by_s(&self) -> Result<Option<i64>> {
        let by_s = self.by_s.as_deref().map(str::parse).transpose();
        by_s.map_err(|_| {
            unclear(both!(
                "the shift must be a whole number of seconds",
                "移动量必须是整数秒"
            ))
        })
    }

    /// The typed amount, in seconds.
    fn amount(&self) -> Option<Result<i64>> {
        let amount = self.amount.as_deref().filter(|amount| !amount.is_empty())?;
        let per_unit = match self.unit.as_deref() {
            Some("days") => 24 * 3_600,
            Some("hours") => 3_600,
            _ => 60,
        };
        let typed: Option<i64> = amount.trim().parse().ok();
        let given = typed.and_then(|amount| amount.checked_mul(per_unit));
        Some(given.ok_or_else(|| {
            unclear(both!(
                "the amount must be a whole number other than 0",
                "数量必须是 0 以外的整数"
            ))
        }))
    }
}

/// The hidden fields of a settled time.
pub(super) fn fields(request: &BulkRequest) -> Vec<(&'static str, String)> {
    let by = request.by_s.map(|by| ("by_s", by.to_string()));
    let to = request.to.map(|to| ("to", to.to_string()));
    by.into_iter().chain(to).collect()
}

/// Asks for the new time, then for confirmation.
pub(super) async fn ask(
    state: &AppState,
    viewer: &Viewer,
    asked: &Asked,
    filter: TaskFilter,
) -> Page {
    let (lang, fields) = (viewer.lang, &asked.shift);
    let units = options! { lang;
        "minutes" => "minutes", "分钟";
        "hours" => "hours", "小时";
        "days" => "days", "天";
    };
    let request = request(asked.act, filter);
    let matched = state.store.count_found(&request.filter).await?;
    let body = html! {
        p { (rule(lang, asked.act)) }
        (first_few(state, viewer, &request, matched).await?)
        form method="get" action=(HERE) class="fields" data-try {
            (hidden(asked.fields()))
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
        (live("answer", &answer(state, viewer, asked, request).await?))
        p { a class="button" href=(asked.back()) { (lang.pick("Keep them", "返回")) } }
    };
    Ok(page(viewer, Place::Tasks, name(lang, asked.act), &body))
}

async fn answer(state: &AppState, viewer: &Viewer, asked: &Asked, request: BulkRequest) -> Page {
    let fields = &asked.shift;
    if let Some(amount) = fields.amount() {
        let by_s = match amount {
            Ok(amount) => Some(amount),
            Err(problem) => return Ok(refused(viewer.lang, &problem)),
        };
        let request = BulkRequest { by_s, ..request };
        return Ok(match bulks(state).dry_run(&request).await {
            Ok(would) => settled(viewer, asked, &request, &would),
            Err(error) => refused(viewer.lang, &error.into()),
        });
    }
    let Some(clock) = fields.at.as_deref() else {
        return Ok(Markup::default());
    };
    let zone = fields.zone.as_deref().unwrap_or(viewer.zone_name());
    let mut settled_at = BTreeMap::new();
    for at in moment::instants(clock, zone) {
        let to = Some(at);
        let request = BulkRequest {
            to,
            ..request.clone()
        };
        let would = bulks(state).dry_run(&request).await?;
        settled_at.insert(at, settled(viewer, asked, &request, &would));
    }
    let (old, settle) = (None, |at| settled_at.get(&at).cloned().unwrap_or_default());
    Ok(offer(viewer, &Typed { clock, zone, old }, settle))
}

fn settled(viewer: &Viewer, asked: &Asked, request: &BulkRequest, would: &DryRun) -> Markup {
    html! { (counts(viewer.lang, would)) (agree(viewer, asked, request, would)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_read_in_its_unit() {
        for (amount, unit, seconds) in [
            ("90", "minutes", Some(5_400)),
            (" -2 ", "hours", Some(-7_200)),
            ("1", "days", Some(86_400)),
            ("1.5", "hours", None),
            ("soon", "hours", None),
            ("9223372036854775807", "days", None),
        ] {
            let fields = Fields {
                amount: Some(amount.to_owned()),
                unit: Some(unit.to_owned()),
                ..Fields::default()
            };
            let read = fields.amount().unwrap().ok();
            assert_eq!(read, seconds, "{amount} {unit}");
        }
    }
}
