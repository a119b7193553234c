//! Who tries which kind of task.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{backoff::Backoff, handler::Handler, task::Kind};

use crate::dispatch::{DispatchHandler, FollowedTasks};

/// The handlers of a node: some for kinds of their own, one for everything else.
#[derive(Clone)]
pub struct Handlers {
    by_kind: BTreeMap<Kind, Arc<dyn Handler>>,
    otherwise: Arc<dyn Handler>,
    backoffs: BTreeMap<Kind, Backoff>,
    followed: Arc<FollowedTasks>,
}

impl Handlers {
    /// Everything goes to `otherwise`.
    pub fn new(otherwise: Arc<dyn Handler>) -> Self {
        Self {
            by_kind: BTreeMap::new(),
            otherwise,
            backoffs: BTreeMap::new(),
            followed: Arc::default(),
        }
    }

    /// Firings that this handler follows are woken when their work ends here.
    #[must_use]
    pub fn waking(mut self, dispatch: &DispatchHandler) -> Self {
        self.followed = dispatch.followed();
        self
    }

    /// Tasks of `kind` go to `handler` instead.
    #[must_use]
    pub fn with(mut self, kind: Kind, handler: Arc<dyn Handler>) -> Self {
        self.by_kind.insert(kind, handler);
        self
    }

    /// Failures of `kind` wait so, instead of as usual.
    #[must_use]
    pub fn waiting(mut self, kind: Kind, backoff: Backoff) -> Self {
        self.backoffs.insert(kind, backoff);
        self
    }

    /// The same, each inside what `wrap` puts around it.
    #[must_use]
    pub fn each(mut self, wrap: impl Fn(Arc<dyn Handler>) -> Arc<dyn Handler>) -> Self {
        self.otherwise = wrap(self.otherwise);
        for handler in self.by_kind.values_mut() {
            *handler = wrap(Arc::clone(handler));
        }
        self
    }

    /// How failures of `kind` wait, if not as usual.
    pub fn backoff_of(&self, kind: &Kind) -> Option<&Backoff> {
        self.backoffs.get(kind)
    }

    /// The tasks that firings wait for.
    pub(crate) fn followed(&self) -> &FollowedTasks {
        &self.followed
    }

    /// Has each clear up what others left behind.
    pub async fn clear_up(&self) {
        for handler in self.by_kind.values() {
            handler.clear_up().await;
        }
    }

    /// Who tries tasks of `kind`.
    pub fn of(&self, kind: &Kind) -> Arc<dyn Handler> {
        Arc::clone(self.by_kind.get(kind).unwrap_or(&self.otherwise))
    }
}
