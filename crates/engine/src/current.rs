//! Current rows, each for itself: one that cannot be read costs the others nothing (SF-06).

use almanack_core::{
    store::{Error, Result, Store},
    task::{Identity, Task},
};

/// The current row of each identity, in the order asked, or why that one cannot be read.
pub(crate) async fn load_each(
    store: &dyn Store,
    identities: &[Identity],
) -> Result<Vec<Result<Option<Task>>>> {
    match store.load_current(identities).await {
        Ok(rows) => return Ok(rows.into_iter().map(Ok).collect()),
        Err(Error::Unreadable { .. }) => {}
        Err(error) => return Err(error),
    }
    let mut found = Vec::with_capacity(identities.len());
    for identity in identities {
        let alone = store.load_current(std::slice::from_ref(identity)).await;
        found.push(match alone {
            Ok(mut row) => Ok(row.pop().flatten()),
            Err(why @ Error::Unreadable { .. }) => Err(why),
            Err(error) => return Err(error),
        });
    }
    Ok(found)
}
