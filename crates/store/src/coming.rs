//! How many tasks become due when, by kind and host.
//!
//! Rows are read lane by lane along the index that claims walk, soonest first, and counted in the
//! database. A lane that has more than its share is read again if the others left much, so that
//! the cost is bounded by the caller, however much waits (SF-01).

use std::collections::BTreeMap;

use almanack_core::{
    store::{Coming, ComingTasks, Result},
    task::Kind,
};
use jiff::Timestamp;

use crate::{
    claim,
    row::{Row, most, values},
    session::Session,
};

/// The tasks of one lane by the second they are due in and the host they call; one row more than
/// `$5` is read, which says whether there are more. A check calls its source's address. Of an
/// address only scheme and host are kept, or every task could be a group of its own; the first
/// slash behind the eighth character ends them, because `https://` has eight and a host is not
/// empty.
macro_rules! lane {
    ($position:literal) => {
        concat!(
            "select g.at_s, g.address, count(*) from (select w.due_at_us / 1000000 as at_s, \
             case when ",
            $position,
            "(substr(w.address, 9), '/') = 0 then w.address \
             else substr(w.address, 1, ",
            $position,
            "(substr(w.address, 9), '/') + 7) end as address \
             from (select t.due_at_us, case when t.kind = 'SOURCE_CHECK' \
             then (select s.address from source s \
                 where s.source_id = cast(substr(t.subject, 8) as bigint)) \
             else t.callback_url end as address \
             from task t where t.kind = $1 and t.priority = $2 and t.due_at_us >= $3 \
             and t.due_at_us < $4 order by t.due_at_us limit $5) w) g \
             group by g.at_s, g.address order by g.at_s, g.address"
        )
    };
}
pub(crate) const LANE_SQLITE: &str = lane!("instr");
pub(crate) const LANE_POSTGRES: &str = lane!("strpos");

/// Kind and priority.
type Lane = (String, i32);
/// When, whom, how many.
type Group = (Timestamp, Option<String>, u64);

pub(crate) async fn load(
    session: &dyn Session,
    window: &(Timestamp, Timestamp, usize),
) -> Result<Coming> {
    let lanes = session.rows(claim::LANES, &[], |row| {
        Ok((row.text(0)?, row.get::<i32>(1)?))
    });
    let lanes: Vec<Lane> = lanes.await?;
    let first_share = window.2 / lanes.len().max(1);
    let (mut left, mut counted, mut crowded) = (window.2, Vec::new(), Vec::new());
    for lane in lanes {
        let groups = read(session, &lane, window, first_share).await?;
        if total(&groups) > first_share {
            crowded.push((lane, groups));
        } else {
            left = left.saturating_sub(total(&groups));
            counted.push((lane, groups, None));
        }
    }
    let share = left / crowded.len().max(1);
    for (lane, mut groups) in crowded {
        // Where nearly all lanes are crowded, what the others left is not worth reading all again.
        let again = share > first_share + first_share / 4;
        if again {
            groups = read(session, &lane, window, share).await?;
        }
        let share = if again { share } else { first_share };
        let cut = (total(&groups) > share).then(|| shortened(&mut groups));
        counted.push((lane, groups, cut.flatten()));
    }
    Ok(by_kind(counted))
}

async fn read(
    session: &dyn Session,
    (kind, priority): &Lane,
    (from, until, _): &(Timestamp, Timestamp, usize),
    share: usize,
) -> Result<Vec<Group>> {
    let text = session.text(LANE_SQLITE, LANE_POSTGRES);
    let rows = most(share.saturating_add(1));
    let values = values![kind.as_str(), *priority, *from, *until, rows];
    session.rows(text, &values, group).await
}

fn group(row: &Row<'_>) -> Result<Group> {
    let at_s: i64 = row.get(0)?;
    let at = Timestamp::from_second(at_s).unwrap_or(Timestamp::MAX);
    Ok((at, row.get(1)?, row.get(2)?))
}

fn total(groups: &[Group]) -> usize {
    let total: u64 = groups.iter().map(|(_, _, tasks)| tasks).sum();
    usize::try_from(total).unwrap_or(usize::MAX)
}

/// Takes away the one row that was read too many; the second it is in is not complete.
fn shortened(groups: &mut Vec<Group>) -> Option<Timestamp> {
    let (at, _, tasks) = groups.last_mut()?;
    *tasks = tasks.saturating_sub(1);
    let at = *at;
    groups.retain(|(_, _, tasks)| *tasks > 0);
    Some(at)
}

/// Adds up the lanes of each kind.
fn by_kind(lanes: Vec<(Lane, Vec<Group>, Option<Timestamp>)>) -> Coming {
    let mut tasks: BTreeMap<(Kind, Timestamp, Option<String>), u64> = BTreeMap::new();
    let mut cut: BTreeMap<Kind, Timestamp> = BTreeMap::new();
    for ((name, _), groups, cut_at) in lanes {
        let Ok(kind) = Kind::parse(&name) else {
            continue;
        };
        for (at, address, count) in groups {
            *tasks.entry((kind.clone(), at, address)).or_default() += count;
        }
        if let Some(at) = cut_at {
            let first = cut.entry(kind).or_insert(at);
            *first = at.min(*first);
        }
    }
    let tasks = tasks.into_iter();
    let tasks = tasks.map(|((kind, at, address), tasks)| ComingTasks {
        kind,
        at,
        address,
        tasks,
    });
    Coming {
        tasks: tasks.collect(),
        cut: cut.into_iter().collect(),
    }
}
