use super::*;

const ALL: [State; 6] = [
    State::Draft,
    State::PendingAudit,
    State::AutoAuditFailed,
    State::ManualAuditFailed,
    State::AuditSuccess,
    State::Published,
];

const NOW: Timestamp = Timestamp::constant(1_767_225_600, 0);
const THEN: Timestamp = Timestamp::constant(1_767_229_200, 0);
const LATER: Timestamp = Timestamp::constant(1_767_232_800, 0);

fn article(state: State) -> Article {
    Article {
        id: 42,
        title: "Tides".to_owned(),
        body: String::new(),
        state,
        publish_at: THEN,
        revision: 3,
        withdrawn_at: None,
        published_at: None,
        publish_calls: 0,
        publish_effects: 0,
    }
}

fn outcome(
    article: &Article,
    request: ChangeRequest,
) -> Result<Option<(State, Vec<Announcement>)>, Refusal> {
    let decided = decide(article, request, NOW)?;
    Ok(decided.map(|change| (change.state, change.announcements)))
}

#[test]
fn every_request_in_every_state() {
    use Announcement::{Audit, CancelAudit, CancelPublish, Publish};
    use State::{AuditSuccess, AutoAuditFailed, Draft, ManualAuditFailed, PendingAudit, Published};
    let moved = ChangeRequest::Move { publish_at: LATER };
    let passed = ChangeRequest::Review { passed: true };
    let failed = ChangeRequest::Review { passed: false };
    let not_under_review = Err(Refusal::NotUnderReview);
    let rows = [
        (
            Draft,
            ChangeRequest::Submit,
            Ok(Some((PendingAudit, vec![Audit, Publish]))),
        ),
        (PendingAudit, ChangeRequest::Submit, Ok(None)),
        (Published, ChangeRequest::Submit, Ok(None)),
        (Draft, moved, Ok(Some((Draft, vec![])))),
        (PendingAudit, moved, Ok(Some((PendingAudit, vec![Publish])))),
        (AuditSuccess, moved, Ok(Some((AuditSuccess, vec![Publish])))),
        (AutoAuditFailed, moved, Ok(Some((AutoAuditFailed, vec![])))),
        (ManualAuditFailed, moved, Err(Refusal::AuditFailed)),
        (Published, moved, Err(Refusal::AlreadyPublished)),
        (Draft, ChangeRequest::Withdraw, Ok(Some((Draft, vec![])))),
        (
            PendingAudit,
            ChangeRequest::Withdraw,
            Ok(Some((PendingAudit, vec![CancelAudit, CancelPublish]))),
        ),
        (
            AuditSuccess,
            ChangeRequest::Withdraw,
            Ok(Some((AuditSuccess, vec![CancelPublish]))),
        ),
        (
            Published,
            ChangeRequest::Withdraw,
            Err(Refusal::AlreadyPublished),
        ),
        (Draft, ChangeRequest::Audit, Err(Refusal::NotReady)),
        (
            PendingAudit,
            ChangeRequest::Audit,
            Ok(Some((AuditSuccess, vec![Publish]))),
        ),
        (AuditSuccess, ChangeRequest::Audit, Ok(None)),
        (AutoAuditFailed, ChangeRequest::Audit, Ok(None)),
        (Published, ChangeRequest::Audit, Ok(None)),
        (
            AutoAuditFailed,
            passed,
            Ok(Some((AuditSuccess, vec![Publish]))),
        ),
        (
            AutoAuditFailed,
            failed,
            Ok(Some((ManualAuditFailed, vec![]))),
        ),
        (PendingAudit, passed, not_under_review.clone()),
        (ManualAuditFailed, passed, not_under_review),
    ];
    for (state, request, expected) in rows {
        assert_eq!(
            outcome(&article(state), request),
            expected,
            "{state:?} {request:?}"
        );
    }
}

#[test]
fn a_forbidden_word_fails_the_audit_and_cancels_the_publication() {
    let article = Article {
        body: "so FORBIDDEN".to_owned(),
        ..article(State::PendingAudit)
    };
    let expected = (State::AutoAuditFailed, vec![Announcement::CancelPublish]);
    assert_eq!(outcome(&article, ChangeRequest::Audit), Ok(Some(expected)));
}

#[test]
fn moving_to_the_same_time_announces_nothing() {
    let request = ChangeRequest::Move { publish_at: THEN };
    assert_eq!(outcome(&article(State::PendingAudit), request), Ok(None));
}

#[test]
fn a_move_keeps_the_state_and_only_a_move_changes_the_time() {
    let moved = decide(
        &article(State::AuditSuccess),
        ChangeRequest::Move { publish_at: LATER },
        NOW,
    );
    assert_eq!(moved.unwrap().unwrap().publish_at, LATER);
    let audited = decide(&article(State::PendingAudit), ChangeRequest::Audit, NOW);
    assert_eq!(audited.unwrap().unwrap().publish_at, THEN);
}

#[test]
fn a_withdrawn_article_accepts_nothing_but_another_withdrawal() {
    for state in ALL {
        let withdrawn = Article {
            withdrawn_at: Some(NOW),
            ..article(state)
        };
        assert_eq!(
            outcome(&withdrawn, ChangeRequest::Withdraw),
            Ok(None),
            "{state:?}"
        );
        for request in [
            ChangeRequest::Submit,
            ChangeRequest::Move { publish_at: LATER },
            ChangeRequest::Audit,
        ] {
            assert_eq!(
                outcome(&withdrawn, request),
                Err(Refusal::Withdrawn),
                "{state:?} {request:?}"
            );
        }
    }
}

#[test]
fn only_an_early_call_is_retryable() {
    let status = |state| why_not_published(&article(state)).map(Refusal::status);
    assert_eq!(status(State::Draft), Some(425));
    assert_eq!(status(State::PendingAudit), Some(425));
    assert_eq!(status(State::AutoAuditFailed), Some(409));
    assert_eq!(status(State::ManualAuditFailed), Some(409));
    assert_eq!(status(State::AuditSuccess), Some(409));
    assert_eq!(status(State::Published), None);
}

#[test]
fn a_state_survives_its_name() {
    for state in ALL {
        assert_eq!(State::parse(state.as_str()), Some(state));
        assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
    }
}
