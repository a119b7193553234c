//! The list of rules, and the macros that turn it into tests. One that is not listed is dead code,
//! which the compiler finds.

/// Turns every rule into a separate test, against a store from `$fresh().await`, a `Fresh`.
#[macro_export]
macro_rules! conformance {
    ($fresh:ident) => {
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
            expiry: [
                wk_06_a_row_keeps_its_expiry_and_how_it_is_called,
                wk_06_an_expired_task_is_claimed_to_be_ended,
                wk_06_expired_tasks_of_any_kind_are_taken_and_no_others,
                wk_06_an_expired_task_ends_untried,
                wk_06_a_new_round_moves_the_expiry,
            ]
            find: [
                tags_are_kept_changed_removed_and_found,
                a_successor_has_the_tags_and_the_pruned_row_has_none,
                each_filter_finds_what_it_says,
                counts_are_by_kind_status_and_tag,
                sf_01_a_list_by_tag_examines_rows_with_the_tag,
                sf_01_rows_by_number_examine_no_others,
            ]
            newsletter: [
                ed_43_a_subscriber_is_kept_with_every_field,
                ed_43_of_writers_that_saw_the_same_subscriber_one_writes,
                ed_43_who_unsubscribed_is_not_imported_again,
                ed_43_subscribers_are_listed_counted_and_removed,
                ed_43_an_edition_has_one_mailing_with_its_task,
                ed_43_every_confirmed_subscriber_has_one_row,
                ed_43_of_two_nodes_one_may_send,
                ed_43_what_failed_waits_and_ends,
                ed_43_the_ledger_is_read_by_mailing_and_by_subscriber,
            ]
            bulk: [
                wk_07_a_bulk_change_is_written_with_its_task,
                wk_07_a_step_takes_effect_once,
                wk_07_a_row_that_changed_meanwhile_is_counted,
                wk_07_a_stopped_bulk_change_changes_nothing,
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
                rs_14_sets_in_opposite_order_are_done_or_lost,
                rs_14_an_unknown_key_was_not_used,
            ]
            claim: [
                rs_15_only_due_tasks_are_claimed_and_never_early,
                a_claim_raises_term_and_attempt_and_describes_the_task,
                a_claimed_task_is_not_claimed_again,
                ended_and_withdrawn_tasks_are_not_claimed,
                a_claim_takes_no_more_than_its_slots,
                a_claim_without_slots_takes_nothing,
                a_large_claim_is_one_claim,
                higher_priorities_go_first,
                kinds_of_one_priority_share_evenly,
                a_backlog_does_not_starve_another_kind,
                within_a_kind_the_earliest_goes_first,
                a_limit_bounds_its_kind,
                a_limit_bounds_its_kind_over_all_priorities,
                a_limited_kind_is_drained_over_its_priorities,
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
                again_off_the_record_leaves_no_row_behind,
                rs_08_an_expired_lease_counts_as_an_attempt,
                sf_06_lost_nodes_use_up_no_retry,
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
            work: [
                wk_01_a_claim_of_kinds_takes_these_alone,
                wk_01_a_claim_of_kinds_keeps_to_limits,
                wk_01_taken_tasks_name_the_claim_they_run_under,
                wk_01_an_ending_of_an_older_term_is_late,
                wk_01_extending_never_shortens_a_lease,
                wk_01_only_claims_without_running_tasks_are_forgotten,
            ]
            lease: [
                a_claim_expires_with_its_lease,
                an_expired_claim_names_only_what_still_runs_under_it,
                extending_keeps_claims_alive,
                extending_leaves_other_claims_alone,
                a_passed_lease_is_not_extended,
                a_released_claim_is_forgotten,
                expired_claims_come_longest_first_and_bounded,
                rs_08_an_expired_task_runs_again_under_a_newer_claim,
                a_running_row_shows_its_lease,
            ]
            list: [
                newest_rows_come_first,
                sf_01_a_list_of_tasks_examines_so_many_and_goes_on,
                sf_01_a_full_page_goes_on_after_its_last_row,
                pages_cover_every_row_once,
                filters_narrow_alone_and_together,
                a_prefix_is_taken_literally,
                replaced_rows_are_listed_too,
            ]
            records: [
                rs_13_a_whole_life_is_reported_in_order,
                rs_13_a_decision_reports_who_when_what_and_both_times,
                rs_13_a_late_answer_is_in_the_story,
                rs_13_a_request_that_changed_nothing_is_reported,
                sf_02_a_redelivery_is_counted_and_not_written_again,
                rs_13_only_the_very_same_request_is_counted,
                sf_02_the_decisions_on_a_row_are_bounded,
                sf_02_a_history_is_read_in_pages,
                decisions_of_a_row_are_loaded_by_their_numbers,
                rs_14_a_receipt_can_be_verified_from_the_records,
                records_of_an_unknown_identity_are_empty,
                records_are_the_identitys_own,
                sf_01_waiting_kinds_are_named_up_to_a_bound,
                depths_count_what_waits_and_what_is_due,
                a_row_is_loaded_by_its_number,
            ]
            prune: [
                only_rows_that_ended_before_the_bound_go,
                a_pruned_row_takes_its_history_with_it,
                pruning_stops_at_its_limit,
                pruning_walks_past_what_stays,
                rs_10_a_late_number_is_remembered_as_long_as_itself,
                an_identity_goes_on_after_its_past_is_pruned,
                a_pruned_identity_can_be_created_anew,
                keys_used_before_the_bound_go,
                sf_02_keys_are_pruned_as_fast_as_they_are_used,
                sf_02_the_old_history_of_a_live_task_goes,
                rs_13_the_end_of_a_row_is_kept_with_it,
            ]
            schedule: [
                a_taken_name_is_lost_and_changes_nothing,
                of_two_new_schedules_of_one_name_the_first_is_written,
                a_removed_schedule_keeps_its_name,
                dp_05_a_stale_version_is_lost_and_changes_nothing,
                dp_05_a_repeated_write_is_lost_and_not_doubled,
                dp_05_of_eight_concurrent_writers_one_fires,
                dp_05_of_two_writes_of_one_version_in_one_batch_the_first_is_done,
                a_batch_may_write_a_schedule_twice,
                dp_18_a_lost_write_leaves_its_neighbours,
                dp_05_a_firing_that_exists_is_left_alone,
                sf_04_a_slot_whose_firing_was_cancelled_before_is_not_noted_as_fired,
                dp_05_a_firing_is_claimed_at_its_time,
                dp_17_a_withdrawal_is_carried_out_with_its_write,
                dp_17_a_lost_withdrawal_undoes_the_whole_write,
                dp_17_a_lost_write_withdraws_nothing,
                dp_17_several_withdrawals_hold_together_or_not_at_all,
                every_state_and_field_survives,
                a_large_batch_of_schedules_is_answered_in_full,
                schedules_come_in_the_order_asked,
            ]
            due: [
                due_schedules_come_longest_first,
                next_look_is_that_of_the_first_left_out,
                nothing_is_due_where_nothing_is,
                dp_18_a_schedule_that_was_planned_is_due_at_its_new_time,
                dp_17_a_paused_schedule_is_never_due,
                schedules_are_listed_by_name_in_pages,
                schedules_are_listed_by_tag_and_owner,
                sf_01_a_list_of_schedules_examines_so_many_and_goes_on,
                removed_schedules_are_listed_only_when_asked_for,
            ]
            ledger: [
                dp_16_every_verdict_survives,
                dp_16_a_decided_slot_stays_unchanged,
                dp_16_a_new_schedule_may_come_with_its_first_slots,
                dp_16_pages_of_a_ledger_cover_every_row_once,
                dp_16_firings_by_hand_are_found_by_their_times,
                old_ledger_rows_are_pruned,
                dp_24_slots_decided_ahead_are_found_and_taken_back,
                edits_are_reported_oldest_first,
            ]
            monitor: [
                dp_23_what_was_heard_survives,
                dp_23_a_lost_write_keeps_no_ping,
                dp_23_the_newest_pings_are_kept,
                dp_23_a_key_names_one_monitor,
                dp_23_those_that_are_down_are_found_longest_first,
            ]
            source: [
                ss_01_a_new_source_is_due_at_once,
                a_taken_address_names_who_has_it,
                of_many_who_add_an_address_one_does,
                sources_come_in_the_order_asked,
                ss_21_sources_of_the_file_are_found,
                a_removed_source_takes_its_entries_with_it,
                ss_01_every_column_survives,
                ss_01_every_word_survives,
                a_null_byte_is_refused_or_kept,
                an_address_that_is_too_long_is_refused,
            ]
            source_write: [
                ss_06_a_stale_version_is_lost_and_changes_nothing,
                ss_06_of_eight_concurrent_looks_one_is_written,
                a_batch_of_looks_is_answered_one_by_one,
                ss_12_a_source_moves_to_a_free_address,
                ss_12_a_move_to_a_taken_address_names_who_has_it,
                ss_12_of_two_who_move_to_one_address_one_does,
                a_large_batch_of_looks_is_answered_in_full,
            ]
            source_list: [
                ss_08_due_sources_come_longest_first,
                ss_23_a_source_is_found_by_its_address_or_its_site,
                ss_08_a_resting_source_is_never_due,
                ss_08_a_source_in_backoff_is_stepped_over,
                ss_08_a_look_moves_a_source_in_the_list,
                an_overdue_source_without_a_living_task_is_astray,
                filters_of_sources_narrow_alone_and_together,
                a_part_of_a_source_is_taken_literally,
                pages_of_sources_cover_every_row_once,
                sf_01_a_list_of_sources_examines_so_many_and_goes_on,
                ss_09_an_empty_store_counts_nothing,
                ss_09_sources_are_counted_overall_and_by_type,
            ]
            entry_search: [
                ss_24_a_search_finds_words_phrases_and_what_is_without,
                ss_24_a_search_is_narrowed,
                ss_24_a_search_examines_so_many_and_goes_on,
                ss_24_what_is_deleted_is_found_no_more,
                ss_24_a_full_text_is_kept_and_found,
                ss_24_categories_filter_sources_and_entries,
            ]
            entry: [
                ss_13_an_entry_is_never_doubled,
                ss_13_every_field_of_an_entry_survives,
                a_key_that_is_too_long_is_refused,
                ss_13_known_keys_are_the_sources_own,
                entries_are_listed_newest_first_in_pages,
                sf_01_a_list_of_entries_examines_so_many_and_goes_on,
                old_entries_and_those_beyond_the_newest_go,
                ss_13_what_is_still_shown_stays,
                ss_13_nothing_goes_while_nothing_is_shown,
                ss_13_a_source_knows_until_when_entries_were_pruned,
                ss_13_a_look_from_before_a_pruning_is_lost,
                ss_13_pruning_does_not_disturb_looks,
            ]
            identity: [
                ss_18_entries_are_known_by_key_or_link,
                ss_18_an_edit_replaces_an_entry_and_raises_its_revision,
                ss_18_a_key_is_renewed_in_place,
                ss_17_thousands_that_are_still_shown_stay,
            ]
            courtesy: [
                ss_26_counts_of_a_host_and_a_day_add_up,
                ss_26_the_counts_of_several_nodes_add_up,
                ss_26_hosts_and_days_are_summed,
                ss_26_old_days_are_deleted,
            ]
            firing: [
                dp_19_what_was_handed_over_is_written_down_once,
                dp_19_of_several_endings_the_first_stays,
                dp_19_a_cancelled_firing_takes_no_report_and_is_found,
                dp_19_what_ended_long_ago_is_deleted,
            ]
            run_log: [
                dp_20_a_run_log_comes_back_byte_for_byte,
                dp_20_a_log_is_read_from_anywhere_in_it,
                dp_20_the_piece_that_grows_is_written_in_its_place,
                dp_20_what_is_cut_is_no_longer_kept_and_its_place_is_seen,
                dp_20_attempts_have_logs_of_their_own,
                dp_20_reports_of_several_nodes_follow_each_other,
                dp_20_reports_end_where_the_log_is_full,
                dp_20_old_pieces_are_deleted_oldest_first,
                dp_20_a_piece_that_is_too_long_changes_nothing,
            ]
            fleet: [
                ss_15_there_is_no_price_before_the_first,
                ss_15_checks_are_counted_from_price_to_price,
                ss_15_of_many_who_set_the_price_one_does,
            ]
            model_spend: [
                ed_44_what_models_cost_is_counted_per_day_and_month,
                ed_44_a_cap_refuses_what_would_exceed_it,
                ed_44_of_many_who_race_for_a_cap_none_exceeds_it,
            ]
            edition: [
                ed_04_a_day_is_opened_once,
                ed_14_of_many_who_open_a_day_one_creates_it,
                an_unknown_day_has_nothing_and_takes_nothing,
                every_field_of_an_account_survives,
                every_word_of_an_edition_survives,
                rows_of_an_account_come_in_order,
                the_largest_edition_survives,
                editions_share_no_rows,
                a_null_byte_in_an_edition_is_refused_or_kept,
                names_that_are_too_long_are_refused,
            ]
            edition_desk: [
                ed_42_what_people_decided_about_an_edition_survives,
                ed_42_revisions_are_listed_with_their_authors,
            ]
            edition_write: [
                ed_16_a_lost_change_changes_nothing_at_all,
                ed_16_a_repeated_change_is_lost,
                ed_16_of_eight_concurrent_changes_one_is_written,
                ed_16_an_account_is_of_one_moment,
                ed_14_a_story_is_in_an_edition_once,
                ed_26_a_batch_index_is_one_row,
                a_change_leaves_alone_what_it_does_not_name,
                ed_16_a_refused_change_changes_nothing_at_all,
                ed_12_a_new_document_settles_the_deliveries_of_older_ones,
            ]
            edition_list: [
                ed_30_counts_are_those_of_the_rows,
                filters_of_editions_narrow_alone_and_together,
                pages_of_editions_cover_every_day_once,
                ed_37_editions_of_several_names_are_listed_and_kept_apart,
                ed_31_pruning_knows_the_days_of_named_editions,
                ed_37_shared_texts_are_kept_and_forgotten,
                documents_are_found_by_revision,
                editions_that_changed_lately_are_listed,
                ed_34_published_editions_follow_each_other,
                ed_34_published_editions_are_found_by_what_they_say,
                ed_31_pruning_keeps_the_edition_and_its_document,
                ed_31_pruning_takes_only_what_it_may,
                ed_31_who_saw_an_edition_before_it_was_pruned_decides_again,
            ]
            reporting: [
                an_ending_is_reported_with_the_ending,
                endings_share_their_deliveries,
                a_late_ending_is_not_reported,
                of_many_endings_those_are_reported_that_took_effect,
                what_is_being_reported_is_left_alone,
                entries_are_reported_with_their_source,
                a_source_that_moves_is_reported_of,
                an_edition_is_reported_with_its_change,
            ]
            node: [
                a_heartbeat_registers_and_then_refreshes,
                two_runs_of_one_name_are_two_nodes,
                a_forgotten_run_is_gone,
                a_node_s_troubles_are_those_it_said_last,
                a_store_knows_how_large_it_is,
                dp_24_the_time_is_remembered_and_an_accepted_one_is_not_undone,
            ]
            pace: [
                wk_04_a_paused_kind_is_not_claimed_and_its_tasks_stay,
                wk_04_a_pause_leaves_what_runs_alone,
                wk_04_a_pause_ends_by_itself,
                wk_04_a_pause_is_kept_with_every_field,
                wk_05_a_claim_takes_no_more_than_the_rate_allows,
                wk_05_a_rate_bounds_its_kind_over_all_priorities,
                wk_05_pulled_kinds_keep_to_their_rate,
                wk_05_a_large_claim_keeps_to_the_rate,
                wk_05_claimers_at_once_stay_within_the_rate,
                wk_05_claims_are_paced_as_the_rules_say,
                wk_05_keys_are_paced_as_the_rules_say,
                wk_05_nodes_at_once_share_the_starts_of_a_key,
                buckets_that_are_full_again_are_forgotten,
            ]
            share: [
                keys_share_a_claim_and_the_rest_goes_by_time,
                within_a_key_the_earliest_goes_first,
                more_keys_than_slots_go_round,
                turns_begin_behind_the_last_key_and_wrap,
                the_earliest_task_is_a_turn_of_its_key,
                turns_keep_to_priorities_limits_and_other_kinds,
                pulled_kinds_take_turns,
                a_changed_payload_changes_the_key,
            ]
            permit: [
                places_are_shared_by_all_visitors,
                places_pass_on_with_their_lease,
                a_visitor_says_how_many_it_has,
                a_stuck_word_changes_nothing,
                a_pace_holds_for_all_visitors,
                a_limit_on_hold_grants_no_permit,
                lanes_are_answered_in_the_order_asked,
                many_visitors_at_once_stay_within_the_limit,
                lanes_decide_as_the_rules_say,
                unused_limits_are_forgotten,
            ]
            token: [
                a_token_is_found_by_its_hash,
                a_taken_name_is_refused,
                a_revoked_token_is_known_as_revoked,
                tokens_are_listed_by_name,
            ]
            sign_in: [
                a_user_is_found_by_name,
                a_taken_user_name_is_refused,
                a_changed_user_keeps_name_and_birth,
                users_are_listed_by_name,
                removing_a_user_ends_their_sessions,
                sf_03_access_once_guarded_stays_guarded,
                sf_03_a_token_that_ended_still_guards,
                a_session_is_found_by_its_hash,
                a_new_session_prunes_those_that_ended,
                a_removed_session_is_gone,
            ]
            calendar: [
                dp_21_a_calendar_is_kept_with_every_field,
                dp_21_of_writers_that_saw_the_same_calendar_one_writes,
                dp_21_one_node_takes_a_calendar_to_read,
                dp_21_schedules_are_found_by_the_calendar_they_name,
                dp_22_a_schedule_keeps_its_runs_and_its_end,
            ]
            alert: [
                an_alert_is_kept_with_every_field,
                of_nodes_that_saw_the_same_alert_one_writes,
                of_nodes_that_claim_at_once_one_reports_everything,
                an_alert_that_lasts_or_is_unreported_is_not_opened_anew,
                alerts_that_last_wait_or_closed_lately_are_listed,
                old_alerts_are_forgotten_once_they_are_reported,
            ]
            search: [
                a_line_reports_what_its_row_reports,
                a_search_narrows_by_each_filter,
                parts_of_texts_are_taken_literally,
                pages_of_a_search_cover_every_line_once,
                a_search_ends_where_it_was_reported_to,
                replaced_rows_are_searched_and_not_found,
                statuses_are_counted_among_the_newest,
                internal_kinds_are_left_out_where_asked,
                subjects_are_found_by_how_they_begin,
            ]
            overview: [
                what_ended_is_found_by_when_it_ended,
                what_ended_is_found_after_its_claim_is_forgotten,
                rows_that_ended_are_found_current_or_not,
                what_is_to_come_is_listed_soonest_first,
                a_crowded_kind_does_not_hide_another,
                what_runs_is_found_through_its_claim,
                claims_are_listed_by_when_they_end,
                slots_of_all_schedules_are_found_by_time,
                a_row_of_several_slots_touches_every_window_it_reaches,
            ]
            coming: [
                wk_09_what_is_to_come_is_counted_by_second_and_host,
                wk_09_what_is_not_counted_is_named,
                wk_09_a_check_counts_for_the_host_of_its_source,
            ]
            activity: [
                activity_is_merged_newest_first,
                activity_reports_what_the_history_reports,
                a_mark_is_reported_apart_from_a_cancelled_row,
                activity_narrows_by_each_filter,
                pages_of_activity_follow_each_other,
                activity_ends_where_it_was_reported_to,
                a_successor_is_reported_as_reinserted,
            ]
            nudge: [
                a_change_due_soon_is_hinted_at,
                a_change_due_far_off_is_not,
                a_task_that_waits_again_soon_is_hinted_at,
                what_is_reported_is_hinted_at,
                dp_05_a_firing_due_soon_is_hinted_at,
                a_look_due_soon_is_hinted_at,
                a_look_far_off_is_not_hinted_at,
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
    ($fresh:ident; $($area:ident: [$($rule:ident),* $(,)?])*) => {
        $(
            mod $area {
                $(
                    #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $rule() {
                        let fresh: $crate::conformance::Fresh = super::$fresh().await;
                        $crate::conformance::$area::$rule(fresh.store()).await;
                    }
                )*
            }
        )*
    };
}
