//! Lists of editions: newest day first, a page at a time, of all names or of one.

use almanack_core::{edition::State, store::EditionFilter};
use jiff::{Timestamp, civil::Date};

use super::key;
use crate::row::{Value, micros, most, values};

/// Stories of an edition, counted.
macro_rules! counted {
    ($status:literal) => {
        concat!(
            ", (select count(*) from story s where s.edition_on = e.edition_on \
             and s.status = '",
            $status,
            "')"
        )
    };
}
/// A page, newest day first: the edition, its stories counted as [`crate::row::edition::line`]
/// reads them, and its ended batches. The states asked for stand between commas; `replace` finds a
/// part of a text in both databases.
macro_rules! list {
    ($which:literal, $range:expr) => {
        concat!(
            "select ",
            columns!(),
            counted!("pending"),
            counted!("processing"),
            counted!("completed"),
            counted!("failed"),
            ", (select count(*) from batch b where b.edition_on = e.edition_on \
             and b.status <> 'running') from edition e where ",
            $which,
            "(cast($1 as text) is null or replace($1, ',' || state || ',', '') <> $1) \
             and (cast($2 as bigint) = 0 or published_at_us is not null) \
             and updated_at_us >= $3 and ",
            $range
        )
    };
}
/// Of one day the default edition comes first: letters sort after digits.
macro_rules! of_all_names {
    () => {
        concat!(
            day_of!(),
            " <= $4 and (",
            day_of!(),
            " < $4 or edition_on > $5) order by ",
            day_of!(),
            " desc, edition_on limit $6"
        )
    };
}
macro_rules! of_one_name {
    () => {
        "edition_on >= $4 and edition_on <= $5 and (edition_on < $5 or edition_on > $6) \
         order by edition_on desc limit $7"
    };
}
pub(crate) const LIST: &str = list!("", of_all_names!());
/// The same of those that are not archived, which are few.
pub(crate) const LIST_LIVE: &str = list!("state <> 'archived' and ", of_all_names!());
/// The editions of one name.
pub(crate) const LIST_NAME: &str = list!("", of_one_name!());
/// The same of those that are not archived.
pub(crate) const LIST_NAME_LIVE: &str = list!("state <> 'archived' and ", of_one_name!());

/// What comes after every day that there is.
pub(super) const DAYS_END: &str = "9999-99-99";
/// What comes after every edition of a day.
const NAMES_END: &str = "~";

pub(super) fn text(filter: &EditionFilter) -> &'static str {
    let all = filter.states.is_empty() || filter.states.contains(&State::Archived);
    match (filter.name.is_some(), all) {
        (false, true) => LIST,
        (false, false) => LIST_LIVE,
        (true, true) => LIST_NAME,
        (true, false) => LIST_NAME_LIVE,
    }
}

/// The states asked for, as the texts compare them.
fn states(filter: &EditionFilter) -> Option<String> {
    let named = filter.states.iter().map(|state| state.as_str());
    // A comma between two of them belongs to both, so each has its own pair.
    let named: String = named.map(|name| [",", name, ","].concat()).collect();
    (!named.is_empty()).then_some(named)
}

/// Where a page begins: at this day, of which only what sorts after this key is on it.
fn bound(filter: &EditionFilter) -> (String, String) {
    let before = filter.before.map(|date| (date, NAMES_END.to_owned()));
    let after = filter.after.map(|id| (id.date, key(id)));
    let later_key_first = |(date, key): &(Date, String)| (*date, std::cmp::Reverse(key.clone()));
    let first = before.into_iter().chain(after).min_by_key(later_key_first);
    let unbounded = || (DAYS_END.to_owned(), NAMES_END.to_owned());
    first.map_or_else(unbounded, |(date, key)| (date.to_string(), key))
}

pub(super) fn values(filter: &EditionFilter) -> Vec<Value<'static>> {
    let (day, after) = bound(filter);
    let changed_from = micros(filter.changed_from.unwrap_or(Timestamp::MIN));
    let mut values = values![states(filter), filter.published, changed_from];
    match filter.name.map(|name| name.prefix()) {
        None => values.extend(values![day]),
        Some(prefix) => {
            let last = format!("{prefix}{day}");
            values.extend(values![prefix, last]);
        }
    }
    values.extend(values![after, most(filter.limit)]);
    values
}
