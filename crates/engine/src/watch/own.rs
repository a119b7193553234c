//! The node that watches, looked at by itself: the disk under its store, how large the store is,
//! and whether it can write.
//!
//! Most of what is wrong with a node is published beside its heartbeat and becomes an alert like
//! any other. One thing cannot be: that nothing can be written. So that is notified without a row,
//! from memory, by every node that has the trouble; no node can agree on one of them without a
//! database. The alert of a disk that fills comes before.

use std::sync::Arc;

use almanack_core::{
    alert::{
        About, Alert, Key, News, Rule, Severity,
        port::{Notice, Outcome},
    },
    both,
    store::Store,
};
use jiff::{SignedDuration, Timestamp};

use super::Watching;
use crate::health::Health;

/// Nothing was written for so long: longer than a failover takes.
const UNWRITABLE_AFTER: SignedDuration = SignedDuration::from_mins(1);

/// How many bytes are left on the disk of the store, where it is this machine's.
pub type FreeBytes = Arc<dyn Fn() -> Option<u64> + Send + Sync>;

/// What a watch knows of the node it watches for.
#[derive(Default)]
pub(super) struct Own {
    pub(super) node: String,
    pub(super) health: Arc<Health>,
    pub(super) free_bytes: Option<FreeBytes>,
    /// The alert that is open without a row.
    unwritable: Option<Alert>,
}

impl Own {
    /// Looks at the disk and the store.
    #[expect(clippy::cast_precision_loss, reason = "a gauge of bytes")]
    pub(super) async fn measure(&self, store: &dyn Store, watching: &Watching, now: Timestamp) {
        if let Some(free) = self.free_bytes.as_ref().and_then(|measure| measure()) {
            metrics::gauge!("almanack_disk_free_bytes").set(free as f64);
            let least = watching.settings.bounds.disk_free_bytes;
            let state = if free < least {
                Err(format!("{} MiB left", free / 1024 / 1024))
            } else {
                Ok(())
            };
            self.health.note((Rule::Disk, "disk"), now, state);
        }
        // A store that does not answer is every node's trouble, and reported elsewhere.
        if let Ok(Some(bytes)) = store.size_bytes().await {
            metrics::gauge!("almanack_store_size_bytes").set(bytes as f64);
        }
    }

    /// Notifies once that nothing can be written, and once that it can again. What no channel took
    /// is tried again in the next round.
    pub(super) async fn report_unwritable(&mut self, watching: &Watching, now: Timestamp) {
        let since = self.health.not_written_since(now);
        let since = since.filter(|at| now.duration_since(*at) >= UNWRITABLE_AFTER);
        match (self.unwritable.take(), since) {
            (None, Some(since)) => {
                let alert = self.opened(since);
                let is_reported = notify(watching, (&alert, News::Opened), now).await;
                self.unwritable = is_reported.then_some(alert);
            }
            (Some(alert), None) => {
                let closed = Alert {
                    closed_at: Some(now),
                    ..alert.clone()
                };
                let is_reported = notify(watching, (&closed, News::Closed), now).await;
                self.unwritable = (!is_reported).then_some(alert);
            }
            (alert, _) => self.unwritable = alert,
        }
    }

    fn opened(&self, since: Timestamp) -> Alert {
        Alert {
            key: Key {
                rule: Rule::Unwritable,
                about: About::Node(self.node.clone()),
            },
            severity: Severity::Critical,
            detail: both!(
                "no writes since {since}; see its log",
                "自 {since} 起无法写入；请查看其日志"
            ),
            opened_at: since,
            cool_down_since: None,
            closed_at: None,
            returns: 0,
            open_notified_at: None,
            close_notified_at: None,
            notify_at: None,
            taken_by: Vec::new(),
            version: 0,
        }
    }
}

/// Whether a channel took it, or none is configured.
async fn notify(watching: &Watching, (alert, news): (&Alert, News), now: Timestamp) -> bool {
    if watching.settings.behaviour.notify_at(alert.severity, now) > now {
        return false;
    }
    let (rule, about) = (alert.key.rule.as_str(), alert.key.about.to_string());
    tracing::warn!(alert.rule = rule, alert.about = about, news = news.as_str(), detail = %alert.detail, "alert while the store cannot be written");
    let notice = Notice {
        alert: alert.clone(),
        news,
        channels: None,
        review: None,
    };
    let answers = watching.notifier.notify(&[notice]).await;
    let taken = |outcome: &Outcome| matches!(outcome, Outcome::Taken(_));
    answers.is_empty() || answers.iter().any(|answer| taken(&answer.outcome))
}
