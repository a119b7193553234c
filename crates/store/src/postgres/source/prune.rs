//! Forgetting entries on PostgreSQL: read without a lock, then deleted only from sources that
//! no node has written since. One that was looked at meanwhile is left for the next pass.

use std::collections::BTreeMap;

use almanack_core::{
    source::SourceId,
    store::{EntryRetention, PrunedEntries, Result},
};
use deadpool_postgres::Object;
use tokio_postgres::types::ToSql;

use super::super::{Postgres, explain};
use crate::{
    entry::{self, Doomed, Kept, doomed},
    row::{Row, hashes, most},
    source,
};

pub(super) async fn prune(
    store: &Postgres,
    retention: EntryRetention,
    after: SourceId,
    limit: usize,
) -> Result<PrunedEntries> {
    let name = "find old entries";
    let walked = store
        .rows(name, source::NEXT_ROWS, &[&after.0, &most(limit)])
        .await?;
    let ids: Vec<i64> = walked.iter().map(|row| row.get(0)).collect();
    let mut newest: BTreeMap<SourceId, Vec<Kept>> = BTreeMap::new();
    for row in &store.rows(name, entry::KEPT_POSTGRES, &[&ids]).await? {
        let (id, kept) = Kept::read(&row.into())?;
        newest.entry(id).or_default().push(kept);
    }
    let mut doomed_of: BTreeMap<i64, (i64, Doomed)> = BTreeMap::new();
    for row in &walked {
        let row = Row::from(row);
        let (id, version) = (row.get(0)?, row.get(1)?);
        let entries = newest.remove(&SourceId(id)).unwrap_or_default();
        let doomed = doomed(&entries, &hashes(&row.get::<Vec<u8>>(2)?), retention);
        if !doomed.ids.is_empty() {
            doomed_of.insert(id, (version, doomed));
        }
    }
    let rows = delete(&mut store.client().await?, &doomed_of).await?;
    let next = ids.last().filter(|_| ids.len() == limit);
    Ok(PrunedEntries {
        rows,
        next: next.map(|id| SourceId(*id)),
    })
}

async fn delete(client: &mut Object, doomed_of: &BTreeMap<i64, (i64, Doomed)>) -> Result<usize> {
    if doomed_of.is_empty() {
        return Ok(0);
    }
    let failed = |error| explain("prune entries", error);
    let ids: Vec<i64> = doomed_of.keys().copied().collect();
    let versions: Vec<i64> = doomed_of.values().map(|(version, _)| *version).collect();
    let bounds = doomed_of
        .values()
        .map(|(_, doomed)| doomed.pruned_before_us);
    let bounds: Vec<Option<i64>> = bounds.collect();
    let parameters: [&(dyn ToSql + Sync); 3] = [&ids, &versions, &bounds];
    let transaction = client.transaction().await.map_err(failed)?;
    let taken = transaction
        .query(source::NOTE_PRUNED_POSTGRES, &parameters)
        .await
        .map_err(failed)?;
    let taken = taken.iter().filter_map(|row| doomed_of.get(&row.get(0)));
    let gone: Vec<i64> = taken.flat_map(|(_, doomed)| doomed.ids.clone()).collect();
    transaction
        .execute(entry::REMOVE_POSTGRES, &[&gone])
        .await
        .map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(gone.len())
}
