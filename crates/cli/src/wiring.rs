//! Concrete types behind the ports: which clock, which chance, which database.

use std::sync::Arc;

use almanack_core::{
    store::Store,
    time::{Clock, Entropy},
};
use almanack_engine::reschedule::{Kinds, Rescheduler};
use almanack_store::{Location, sqlite};

use crate::{
    config::{
        Settings,
        secret::without_password,
        settings::{Database, Durability},
    },
    failure::{Exit, Failure},
    stand_in,
};

/// The machine's clock.
pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(stand_in::SystemClock)
}

/// The machine's chance.
pub(crate) fn entropy() -> Arc<dyn Entropy> {
    Arc::new(stand_in::OsEntropy)
}

/// Opens the configured database; creates or migrates it where needed.
pub(crate) async fn open_store(database: &Database) -> Result<Arc<dyn Store>, Failure> {
    let url = database.url.expose();
    let phrase = format!("open database `{}`", without_password(url));
    let location = Location::parse(url)
        .map_err(|error| Failure::new(Exit::Usage, error.to_string()).during(&phrase))?;
    let durability = match database.durability {
        Durability::Full => sqlite::Durability::Full,
        Durability::Normal => sqlite::Durability::Normal,
    };
    let opened = almanack_store::open(&location, durability).await;
    opened.map_err(|error| Failure::from(error).during(&phrase))
}

/// Which kinds somebody would know how to try: those with an address.
pub(crate) fn kinds(settings: &Settings) -> Kinds {
    let with_address = settings.kinds.iter().filter(|(_, kind)| kind.url.is_some());
    Kinds {
        configured: with_address.map(|(kind, _)| kind.clone()).collect(),
        accept_any: false,
    }
}

/// The way in for changes of intent.
pub(crate) fn rescheduler(
    settings: &Settings,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
) -> Rescheduler {
    Rescheduler::new(store, clock, kinds(settings))
}
