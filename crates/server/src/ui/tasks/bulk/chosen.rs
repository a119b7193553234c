//! The selected tasks: ticked rows, or all that match a filter.

use almanack_core::reserved::is_reserved;

use super::{Act, Asked, MOST, unclear};
use crate::ui::prelude::*;
use crate::{ui::tasks::filter::Filter, ui::tasks::list::PAGE};

/// One selected task and its status.
#[derive(Debug, Clone)]
pub(super) struct Pick {
    pub(super) id: TaskId,
    pub(super) identity: Identity,
    pub(super) status: Status,
    pub(super) live: bool,
    pub(super) execute_at: Timestamp,
}

pub(super) struct Chosen {
    pub(super) picks: Vec<Pick>,
    /// The total; more than `picks` if not all fit in one action.
    pub(super) matching: usize,
    /// The filter, if one was used.
    filter: Option<Filter>,
}

impl Chosen {
    /// Reads the tasks.
    pub(super) async fn load(state: &AppState, viewer: &Viewer, asked: &Asked) -> Result<Self> {
        if asked.all.is_some() {
            by_filter(state, viewer, asked).await
        } else {
            by_rows(state, &asked.id).await
        }
    }

    /// How many an action changes; the others are only looked at.
    pub(super) fn changing(&self, act: Act) -> usize {
        let changes = |pick: &&Pick| match act {
            _ if is_reserved(&pick.identity.kind) => false,
            Act::Cancel => pick.live,
            Act::Retry | Act::Move => pick.status != Status::Success,
        };
        self.picks.iter().filter(changes).count()
    }

    /// The hidden fields that select the same tasks again.
    pub(super) fn fields(&self, act: Act) -> Vec<(String, String)> {
        let mut fields = vec![("act".to_owned(), act.as_str().to_owned())];
        if let Some(filter) = &self.filter {
            let newest = self.picks.first().map_or(0, |pick| pick.id.0);
            let taken = self.picks.len();
            fields.extend(pairs(filter));
            fields.extend(pairs([("all", 1), ("newest", newest)]));
            fields.extend(pairs([("count", taken)]));
        } else {
            let ids = self.picks.iter().map(|pick| pick.id.0.to_string());
            fields.extend(ids.map(|id| ("id".to_owned(), id)));
        }
        fields
    }
}

async fn by_filter(state: &AppState, viewer: &Viewer, asked: &Asked) -> Result<Chosen> {
    let limit = asked.count.unwrap_or(MOST).min(MOST);
    let before = asked.newest.and_then(|newest| newest.checked_add(1));
    let search = asked.filter.search(viewer.zone_name(), before, limit)?;
    let lines = state.store.search_tasks(&search).await?;
    let matching = state.store.count_found(&search).await?;
    Ok(Chosen {
        picks: lines.into_iter().map(Pick::from).collect(),
        matching: usize::try_from(matching).unwrap_or(usize::MAX),
        filter: Some(asked.filter.clone()),
    })
}

/// A row that was replaced meanwhile selects its identity: people tick tasks, not rows.
async fn by_rows(state: &AppState, ids: &[i64]) -> Result<Chosen> {
    if ids.len() > PAGE {
        return Err(unclear("more tasks were selected than a page holds"));
    }
    let mut identities: Vec<Identity> = Vec::with_capacity(ids.len());
    for id in ids {
        let row = state.store.load_task(TaskId(*id)).await?;
        let identity = row.map(|row| row.identity);
        identities.extend(identity.filter(|it| !identities.contains(it)));
    }
    let rows = state.store.load_current(&identities).await?;
    let picks: Vec<Pick> = rows.into_iter().flatten().map(Pick::from).collect();
    Ok(Chosen {
        matching: picks.len(),
        picks,
        filter: None,
    })
}

impl From<TaskLine> for Pick {
    fn from(line: TaskLine) -> Self {
        Self {
            live: line.is_live(),
            id: line.id,
            identity: line.identity,
            status: line.status,
            execute_at: line.execute_at,
        }
    }
}

impl From<Task> for Pick {
    fn from(task: Task) -> Self {
        Self {
            live: task.is_live(),
            id: task.id,
            identity: task.identity,
            status: task.status,
            execute_at: task.execute_at,
        }
    }
}
