use almanack_core::{event::incoming as almanack, reschedule::Request};

use super::*;
use crate::article::state::State;

const NOW: Timestamp = Timestamp::constant(1_767_225_600, 0);
const THEN: Timestamp = Timestamp::constant(1_767_229_200, 0);

fn article() -> Article {
    Article {
        id: 42,
        title: "Tides".to_owned(),
        body: String::new(),
        state: State::PendingAudit,
        publish_at: THEN,
        revision: 3,
        withdrawn_at: None,
        published_at: None,
        publish_calls: 0,
        publish_effects: 0,
    }
}

fn written(requests: ChangeRequests, what: Announcement) -> almanack::TaskEvent {
    let writer = Writer::new(requests, ([127, 0, 0, 1], 8080).into());
    let event = writer.write(&article(), what, NOW);
    let read = almanack::parse(&event.json, 1024).unwrap();
    assert_eq!(read.id, event.id);
    assert_eq!(read.source, SOURCE);
    read
}

fn put(requests: ChangeRequests, what: Announcement) -> almanack_core::reschedule::Put {
    match written(requests, what).request {
        Request::Put(put) => put,
        Request::Cancel(cancel) => panic!("{cancel:?}"),
    }
}

#[test]
fn almanack_reads_the_audit_for_now_and_the_publication_for_its_time() {
    for (what, kind, at) in [
        (Announcement::Audit, KIND_AUDIT, NOW),
        (Announcement::Publish, KIND_PUBLISH, THEN),
    ] {
        let put = put(ChangeRequests::default(), what);
        assert_eq!(put.identity.to_string(), format!("(article:42, {kind})"));
        assert_eq!(put.execute_at, at);
        assert_eq!(put.revision.unwrap().0, 3);
        assert_eq!(put.payload.unwrap().as_str(), r#"{"article_id":42}"#);
        assert_eq!((put.callback_url, put.max_retry), (None, None));
    }
}

#[test]
fn almanack_reads_a_withdrawal() {
    for (what, kind) in [
        (Announcement::CancelAudit, KIND_AUDIT),
        (Announcement::CancelPublish, KIND_PUBLISH),
    ] {
        let Request::Cancel(cancel) = written(ChangeRequests::default(), what).request else {
            panic!("not a withdrawal: {what:?}");
        };
        assert_eq!(cancel.identity.to_string(), format!("(article:42, {kind})"));
        assert_eq!(cancel.revision.unwrap().0, 3);
    }
}

#[test]
fn optional_settings_are_in_the_event() {
    let requests = ChangeRequests {
        callback_url: true,
        max_retry: Some(20),
    };
    let audit = put(requests, Announcement::Audit);
    assert_eq!(audit.max_retry, Some(20));
    assert_eq!(
        audit.callback_url.as_deref(),
        Some("http://127.0.0.1:8080/callbacks/audit")
    );
    let publish = put(requests, Announcement::Publish);
    assert_eq!(
        publish.callback_url.as_deref(),
        Some("http://127.0.0.1:8080/callbacks/publish")
    );
}
