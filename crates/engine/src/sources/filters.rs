//! Where keep and block rules are applied: the node's own, then the source's.
//!
//! An entry stays if both keep it. Rules are read where they are needed, and most checks find
//! nothing to judge.

use almanack_core::source::{Source, entry::FoundEntry, filter::Filters};

use super::fleet::Fleet;

/// Rules of the node and of one source.
pub(super) struct Judge<'a> {
    node: &'a Filters,
    source: Filters,
}

impl<'a> Judge<'a> {
    pub(super) fn of(fleet: &'a Fleet, source: Filters) -> Self {
        let node = &fleet.settings().filters;
        Self { node, source }
    }

    /// The rule that drops an entry.
    pub(super) fn dropped_by(&self, found: &FoundEntry) -> Option<&str> {
        let by_node = self.node.dropped_by(found);
        by_node.or_else(|| self.source.dropped_by(found))
    }
}

/// Takes out what the rules drop. Rules are checked before they are stored; ones that cannot be
/// read all the same drop nothing, because an entry too many does less harm than one lost.
pub(super) fn drop_blocked(
    fleet: &Fleet,
    source: &Source,
    unfamiliar: &mut Vec<(String, FoundEntry)>,
) {
    if unfamiliar.is_empty() {
        return;
    }
    let own = Filters::parse(&source.definition.options.filters);
    let own = own.unwrap_or_else(|bad| {
        tracing::warn!(source.id = %source.id, why = %bad, "a source's filters cannot be read; its own rules drop nothing");
        Filters::default()
    });
    let judge = Judge::of(fleet, own);
    let before = unfamiliar.len();
    unfamiliar.retain(|(_, found)| judge.dropped_by(found).is_none());
    let dropped = before - unfamiliar.len();
    metrics::counter!("almanack_source_entries_dropped_total").increment(dropped as u64);
}
