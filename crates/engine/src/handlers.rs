//! Who tries which kind of task.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{handler::Handler, task::Kind};

/// The handlers of a node: some for kinds of their own, one for everything else.
#[derive(Clone)]
pub struct Handlers {
    by_kind: BTreeMap<Kind, Arc<dyn Handler>>,
    otherwise: Arc<dyn Handler>,
}

impl Handlers {
    /// Everything goes to `otherwise`.
    pub fn new(otherwise: Arc<dyn Handler>) -> Self {
        Self {
            by_kind: BTreeMap::new(),
            otherwise,
        }
    }

    /// Tasks of `kind` go to `handler` instead.
    #[must_use]
    pub fn with(mut self, kind: Kind, handler: Arc<dyn Handler>) -> Self {
        self.by_kind.insert(kind, handler);
        self
    }

    /// Who tries tasks of `kind`.
    pub fn of(&self, kind: &Kind) -> Arc<dyn Handler> {
        Arc::clone(self.by_kind.get(kind).unwrap_or(&self.otherwise))
    }
}
