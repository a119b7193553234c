//! One suite that proves any store equal to any other.
//!
//! Every rule of the store port is one function that gets a fresh, empty store. A consumer says how
//! to get one and receives one test per rule, named after it:
//!
//! ```ignore
//! async fn fresh() -> Fresh { Fresh::new(SqliteStore::in_memory().unwrap()) }
//! almanack_testkit::conformance!(fresh);
//! ```
//!
//! Rules reach the store only through the port and know only its contract: what is left open there
//! (how a claim fills slots that are left over, what a missed hint costs) is left open here.

use std::{any::Any, sync::Arc};

use almanack_core::{
    backoff::Backoff,
    finish::{Finish, Outcome, finish as decide_finish},
    reschedule::{Change, Put, Receipt, Request, decide},
    store::{Applied, ClaimRequest, Finished, Store},
    task::{ClaimedTask, Identity, Task, TaskId},
};
use jiff::Timestamp;

use crate::fixture::{claim_request, put};

pub mod apply;
pub mod claim;
pub mod finish;
pub mod guard;
pub mod lease;
pub mod list;
pub mod node;
pub mod nudge;
pub mod once;
pub mod prune;
pub mod records;
pub mod token;
pub mod value;

/// A store of one rule's own, with whatever must live as long as it does.
pub struct Fresh {
    store: Arc<dyn Store>,
    _kept: Box<dyn Any + Send>,
}

impl Fresh {
    /// An empty store.
    pub fn new(store: impl Store + 'static) -> Self {
        Self {
            store: Arc::new(store),
            _kept: Box::new(()),
        }
    }

    /// Keeps `kept` (a temporary directory) until the rule is over.
    #[must_use]
    pub fn keeping(self, kept: impl Any + Send) -> Self {
        Self {
            _kept: Box::new(kept),
            ..self
        }
    }

    /// The store.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }
}

/// Turns every rule into a test of its own, against a store from `$fresh().await`, a [`Fresh`].
#[macro_export]
macro_rules! conformance {
    ($fresh:path) => {
        $crate::conformance_tests! { $fresh;
            apply: [
                rs_05_an_insert_writes_the_whole_row,
                rs_01_a_second_insert_for_an_identity_is_lost,
                rs_01_of_two_inserts_in_one_batch_one_is_lost,
                rs_01_of_many_concurrent_inserts_exactly_one_is_done,
                rs_02_an_amendment_moves_the_row_in_place,
                an_amendment_changes_what_it_says_and_leaves_the_rest,
                rs_03_a_replacement_cancels_the_running_row_and_writes_its_successor,
                rs_05_a_successor_leaves_the_ended_row_as_it_ended,
                rs_04_an_annotation_leaves_the_row_as_it_is,
                an_annotation_does_not_disturb_a_running_attempt,
                rs_10_a_withdrawals_mark_is_kept_and_never_claimed,
                a_withdrawn_row_waits_for_nothing,
                answers_come_in_the_order_asked,
                an_empty_batch_is_answered_with_nothing,
                current_rows_come_in_the_order_asked,
                a_large_batch_is_answered_in_full,
            ]
            guard: [
                rs_06_a_change_decided_before_a_claim_is_lost,
                rs_06_a_change_decided_before_a_term_is_lost,
                rs_06_a_change_decided_before_another_decision_is_lost,
                rs_06_a_change_of_a_retired_row_is_lost,
                rs_06_a_lost_replacement_writes_no_successor,
                rs_06_of_two_changes_from_one_row_in_one_batch_one_is_done,
                rs_06_of_many_concurrent_changes_from_one_row_one_is_done,
                rs_06_a_repeated_change_is_lost_and_not_doubled,
                rs_06_deciding_again_after_a_claim_in_between_replaces,
                rs_06_deciding_again_after_an_ending_in_between_is_ignored,
                rs_03_of_two_replacements_in_one_batch_one_writes_a_successor,
                rs_06_no_change_is_swallowed_under_contention,
            ]
            once: [
                rs_14_changes_and_key_are_written_together,
                rs_14_receipts_are_given_back_as_they_were,
                rs_14_one_lost_change_undoes_all,
                rs_14_a_used_key_changes_nothing,
                rs_14_of_concurrent_calls_with_one_key_one_is_done,
                rs_14_an_unknown_key_was_not_used,
            ]
            claim: [
                rs_15_only_due_tasks_are_claimed_and_never_early,
                a_claim_raises_term_and_attempt_and_describes_the_task,
                a_claimed_task_is_not_claimed_again,
                ended_and_withdrawn_tasks_are_not_claimed,
                a_claim_takes_no_more_than_its_slots,
                a_claim_without_slots_takes_nothing,
                higher_priorities_go_first,
                kinds_of_one_priority_share_evenly,
                a_backlog_does_not_starve_another_kind,
                within_a_kind_the_earliest_goes_first,
                a_limit_bounds_its_kind,
                a_limit_bounds_its_kind_over_all_priorities,
                a_full_kind_is_stepped_over,
                next_due_is_the_earliest_waiting_task,
                next_due_leaves_out_full_kinds,
                next_due_may_have_passed_when_slots_run_out,
                concurrent_claims_are_disjoint,
                eight_claimers_take_every_task_exactly_once,
            ]
            finish: [
                done_ends_the_task_and_keeps_its_answer,
                rs_09_a_failure_waits_for_its_next_try,
                rs_09_the_last_failure_is_the_end,
                rs_09_a_refusal_is_the_end_at_once,
                again_keeps_the_row_and_waits,
                rs_08_an_expired_lease_counts_as_an_attempt,
                a_handed_back_task_is_as_before_but_for_its_term,
                rs_07_an_older_term_cannot_finish,
                rs_07_a_cancelled_task_is_not_finished,
                rs_07_a_late_failure_does_not_revive_a_cancelled_task,
                rs_07_a_replaced_task_is_not_finished,
                finishing_twice_is_late_and_adds_nothing,
                endings_are_answered_in_the_order_given,
                the_first_of_two_endings_in_one_batch_counts,
                rs_13_attempts_get_rows_exactly_when_core_says,
            ]
            lease: [
                a_claim_expires_with_its_lease,
                an_expired_claim_names_only_what_still_runs_under_it,
                extending_keeps_claims_alive,
                extending_leaves_other_claims_alone,
                a_released_claim_is_forgotten,
                expired_claims_come_longest_first_and_bounded,
                rs_08_an_expired_task_runs_again_under_a_newer_claim,
                a_running_row_shows_its_lease,
            ]
            list: [
                newest_rows_come_first,
                pages_cover_every_row_once,
                filters_narrow_alone_and_together,
                a_prefix_is_taken_literally,
                replaced_rows_are_listed_too,
            ]
            records: [
                rs_13_a_whole_life_is_told_in_order,
                rs_13_a_decision_tells_who_when_what_and_both_times,
                rs_13_a_late_answer_is_in_the_story,
                rs_14_a_receipt_can_be_verified_from_the_records,
                records_of_an_unknown_identity_are_empty,
                records_are_the_identitys_own,
                depths_count_what_waits_and_what_is_due,
                a_row_is_loaded_by_its_number,
            ]
            prune: [
                only_rows_that_ended_before_the_bound_go,
                a_pruned_row_takes_its_history_with_it,
                pruning_stops_at_its_limit,
                an_identity_goes_on_after_its_past_is_pruned,
                a_pruned_identity_can_be_created_anew,
                keys_used_before_the_bound_go,
            ]
            node: [
                a_heartbeat_registers_and_then_refreshes,
                two_runs_of_one_name_are_two_nodes,
                a_forgotten_run_is_gone,
            ]
            token: [
                a_token_is_found_by_its_hash,
                a_taken_name_is_refused,
                a_revoked_token_is_known_as_revoked,
                tokens_are_listed_by_name,
            ]
            nudge: [
                a_change_due_soon_is_hinted_at,
                a_change_due_far_off_is_not,
                a_task_that_waits_again_soon_is_hinted_at,
            ]
            value: [
                text_of_any_script_survives,
                the_largest_values_survive,
                instants_survive_to_the_microsecond,
                the_far_ends_of_time_survive,
                the_store_answers_a_ping,
            ]
        }
    };
}

/// What [`conformance!`] expands to.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    ($fresh:path; $($area:ident: [$($rule:ident),* $(,)?])*) => {
        $(
            mod $area {
                #[allow(unused_imports, reason = "the factory may be named by any path")]
                use super::*;
                $(
                    #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $rule() {
                        let fresh: $crate::conformance::Fresh = $fresh().await;
                        $crate::conformance::$area::$rule(fresh.store()).await;
                    }
                )*
            }
        )*
    };
}

/// The asker in the rules.
pub(crate) const ORIGIN: &str = "author";

/// The identity's current row, if there is one.
pub(crate) async fn current(store: &dyn Store, identity: &Identity) -> Option<Task> {
    let mut rows = store
        .load_current(std::slice::from_ref(identity))
        .await
        .expect("load_current");
    assert_eq!(rows.len(), 1, "one answer per identity");
    rows.remove(0)
}

/// The row with this number, which must exist.
pub(crate) async fn task(store: &dyn Store, id: TaskId) -> Task {
    store
        .load_task(id)
        .await
        .expect("load_task")
        .unwrap_or_else(|| panic!("no row {id}"))
}

/// Decides `request` from the current row, without carrying it out.
pub(crate) async fn decided(store: &dyn Store, request: &Request, now: Timestamp) -> Change {
    let row = current(store, request.identity()).await;
    decide(row.as_ref(), request, ORIGIN, now).expect("something to decide on")
}

/// Carries out one change.
pub(crate) async fn applied(store: &dyn Store, change: Change) -> Applied {
    let answers = store.apply(vec![change]).await.expect("apply");
    assert_eq!(answers.len(), 1, "one answer per change");
    answers[0]
}

/// Decides and carries out, undisturbed.
pub(crate) async fn ask(store: &dyn Store, request: &Request, now: Timestamp) -> Receipt {
    let change = decided(store, request, now).await;
    let Applied::Done { inserted } = applied(store, change.clone()).await else {
        panic!("nobody came in between, yet {request:?} was lost");
    };
    Receipt::of(&change, inserted).expect("a change names a row")
}

/// [`put`] carried out at its own time or at `now`, whichever the rules say; the row's number.
pub(crate) async fn plant(store: &dyn Store, wish: Put, now: Timestamp) -> TaskId {
    ask(store, &Request::Put(wish), now).await.task_id
}

/// Plants `count` tasks `{prefix}:{n}` of one kind, all due at `due_at`, decided then.
pub(crate) async fn plant_many(
    store: &dyn Store,
    prefix: &str,
    kind_name: &str,
    count: usize,
    due_at: Timestamp,
) -> Vec<TaskId> {
    let change = |n: usize| {
        let wish = put(&format!("{prefix}:{n}"), kind_name, due_at);
        decide(None, &Request::Put(wish), ORIGIN, due_at).expect("a put of nothing creates")
    };
    let answers = store
        .apply((0..count).map(change).collect())
        .await
        .expect("apply");
    let planted = answers.into_iter().map(|answer| match answer {
        Applied::Done { inserted: Some(id) } => id,
        other => panic!("a fresh identity was {other:?}"),
    });
    planted.collect()
}

/// Carries out a claim.
pub(crate) async fn claimed(store: &dyn Store, request: ClaimRequest) -> Vec<ClaimedTask> {
    store.claim(request).await.expect("claim").tasks
}

/// Claims the one task that is due.
pub(crate) async fn claim_one(store: &dyn Store, claim: i64, now: Timestamp) -> ClaimedTask {
    let mut tasks = claimed(store, claim_request(claim, now, 10)).await;
    assert_eq!(tasks.len(), 1, "exactly one task was due");
    tasks.remove(0)
}

/// What `outcome` makes of a claimed task, without jitter.
pub(crate) fn ending(task: &ClaimedTask, outcome: &Outcome, now: Timestamp) -> Finish {
    decide_finish(task, outcome, &Backoff::default(), now, 0)
}

/// Ends one attempt.
pub(crate) async fn end(
    store: &dyn Store,
    task: &ClaimedTask,
    outcome: &Outcome,
    now: Timestamp,
) -> Finished {
    let answers = store
        .finish(vec![ending(task, outcome, now)])
        .await
        .expect("finish");
    assert_eq!(answers.len(), 1, "one answer per ending");
    answers[0]
}

/// The outcome most rules end with.
pub(crate) fn done() -> Outcome {
    Outcome::Done {
        detail: Some("200 OK".to_owned()),
    }
}

/// A failure that may pass.
pub(crate) fn failed() -> Outcome {
    Outcome::Retry {
        error: "503".to_owned(),
        retry_after: None,
    }
}

/// A refusal for good.
pub(crate) fn refused() -> Outcome {
    Outcome::GiveUp {
        error: "404".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    /// A rule nobody lists would silently prove nothing.
    #[test]
    fn every_rule_is_listed() {
        let list = include_str!("conformance.rs");
        for (area, source) in [
            ("apply", include_str!("conformance/apply.rs")),
            ("claim", include_str!("conformance/claim.rs")),
            ("finish", include_str!("conformance/finish.rs")),
            ("guard", include_str!("conformance/guard.rs")),
            ("lease", include_str!("conformance/lease.rs")),
            ("list", include_str!("conformance/list.rs")),
            ("node", include_str!("conformance/node.rs")),
            ("nudge", include_str!("conformance/nudge.rs")),
            ("once", include_str!("conformance/once.rs")),
            ("prune", include_str!("conformance/prune.rs")),
            ("records", include_str!("conformance/records.rs")),
            ("token", include_str!("conformance/token.rs")),
            ("value", include_str!("conformance/value.rs")),
        ] {
            for rule in source.split("pub async fn ").skip(1) {
                let name = rule.split('(').next().unwrap();
                assert!(
                    list.contains(&format!("    {name},\n")),
                    "{area}::{name} is not listed"
                );
            }
        }
    }
}
