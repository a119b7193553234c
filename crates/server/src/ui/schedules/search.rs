//! Looking for schedules, a page at a time.

use almanack_core::plan::Schedule;
use almanack_core::store::{EXAMINED_MAX, ScheduleFilter};

use crate::schedules::cursor;
use crate::ui::prelude::*;

/// Schedules on a page.
pub(crate) const PAGE: usize = 25;
/// How many are read at once when they are searched.
const BATCH: usize = 500;
/// How many are searched for one page; the next page goes on from there.
pub(crate) const SEARCHED_MAX: usize = 10_000;

/// A page of schedules, and the cursor of the next one. Texts are looked for here, because no index leads to them.
pub(crate) async fn search(
    state: &AppState,
    mut filter: ScheduleFilter,
    text: Option<&str>,
) -> Result<(Vec<Schedule>, Option<String>)> {
    let text = text.map(|text| text.trim().to_lowercase());
    if text.is_some() {
        filter.limit = BATCH;
    }
    let fits = |it: &Schedule| {
        let has = |part: &str| text.as_deref().is_none_or(|text| part.contains(text));
        has(&it.name.as_str().to_lowercase()) || has(&it.definition.to_lowercase())
    };
    let mut found: Vec<Schedule> = Vec::new();
    let mut searched = 0;
    while searched < SEARCHED_MAX {
        let batch = state.store.list_schedules(&filter).await?;
        // A batch that is not full ended because it had examined as many as it may.
        let full = batch.rows.len() == filter.limit;
        searched += if full { filter.limit } else { EXAMINED_MAX };
        filter.after = batch.next;
        found.extend(batch.rows.into_iter().filter(|it| fits(it)));
        if found.len() > PAGE {
            found.truncate(PAGE);
            let more = found.last().map(|it| cursor(&it.name));
            return Ok((found, more));
        }
        if filter.after.is_none() || found.len() == PAGE {
            break;
        }
    }
    Ok((found, filter.after.as_ref().map(cursor)))
}
