//! The clocks of whoever works on a store.

use std::sync::Arc;

use almanack_core::{
    clock::GuardedClock,
    store::{self, Store},
    time::CorrectedClock,
};

use super::{MachineTime, SteadyClock};

/// The machine's clock, held against its uptime and against what the store remembers (DP-24).
pub async fn guarded_clock(store: &dyn Store) -> Result<GuardedClock, store::Error> {
    let mark = store.load_clock().await?;
    let source = Arc::new(MachineTime::new());
    Ok(GuardedClock::start(source, mark.as_ref()))
}

/// The clock of a node. Where the database has its own clock, the machine's must not jump
/// underneath the correction; where it has none, the machine's wall clock is all there is, and its
/// jumps are noticed. The node corrects it before it starts and keeps it corrected.
pub async fn node_clock(store: &dyn Store) -> Result<Arc<CorrectedClock>, store::Error> {
    Ok(Arc::new(match store.database_time().await? {
        Some(_) => CorrectedClock::new(Arc::new(SteadyClock::start())),
        None => CorrectedClock::guarded(Arc::new(guarded_clock(store).await?)),
    }))
}
