//! Whether what a schedule names may be called, said when it is written and not at every slot.

use std::sync::Arc;

use almanack_core::{
    address::{Names, Reach, Refusal},
    plan::{Origin, Ready},
    target::Target,
};

use super::{Error, Schedules};
use crate::reloadable::Reloadable;

impl Schedules {
    /// Refuses webhooks that may never be called, unless they are of the operator's own files.
    #[must_use]
    pub fn reaching(self, reach: Reloadable<Reach>) -> Self {
        Self {
            reach: Some(reach),
            ..self
        }
    }

    /// Refuses webhooks by what their names resolve to, too.
    #[must_use]
    pub fn resolving(self, names: Arc<dyn Names>) -> Self {
        Self {
            names: Some(names),
            ..self
        }
    }

    /// Whether an address that a request names may be called.
    pub(crate) fn check_address(&self, url: &str) -> Result<(), Refusal> {
        match &self.reach {
            Some(reach) => reach.get().check(url),
            None => Ok(()),
        }
    }

    /// What a file contains is the operator's own and trusted; see [`Reach`].
    pub(super) async fn check_reach(&self, ready: &Ready, origin: Origin) -> Result<(), Error> {
        let (Some(reach), Origin::Api) = (&self.reach, origin) else {
            return Ok(());
        };
        let called = match &ready.definition.target {
            Target::Webhook { url, .. } => Some(("target.url".to_owned(), url.as_str())),
            _ => None,
        };
        let pings = ready.definition.pings.addresses();
        let pings = pings.map(|(phase, url)| (format!("pings.{phase}"), url));
        // A reference to a secret is never in the host, so what is checked is what is called.
        for (path, url) in called.into_iter().chain(pings) {
            let refused = |refusal| Error::Unreachable {
                path: path.clone(),
                refusal,
            };
            reach.get().check(url).map_err(refused)?;
            let ips = match &self.names {
                Some(names) => names.behind(url).await,
                None => Vec::new(),
            };
            let checked = reach.get().check_behind(url, &ips);
            checked.map_err(refused)?;
        }
        Ok(())
    }
}
