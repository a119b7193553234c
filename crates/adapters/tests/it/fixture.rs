//! What the tests of this crate share: a stopped clock, a claimed task, a firing, a server.

use std::{net::IpAddr, sync::Arc};

use almanack_adapters::http::{Client, NoName, Resolve, Settings};
use almanack_core::{
    address::{Guard, parse_net},
    plan::{Firing, Retry, Trigger, pings::Pings},
    task::{ClaimedTask, Expiry, Identity, Kind, Payload, Revision, Subject, TaskId, Term},
    time::Clock,
};
use async_trait::async_trait;
use axum::Router;
use jiff::Timestamp;
use tokio::net::TcpListener;

pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

pub(crate) struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_767_600_000).unwrap()
    }
}

/// Knows no name, so that no test asks the network.
struct Nameless;

#[async_trait]
impl Resolve for Nameless {
    async fn resolve(&self, _: &str) -> Result<Vec<IpAddr>, NoName> {
        let why = "no such name".to_owned();
        Err(NoName { why })
    }
}

/// A client that may connect to this machine.
pub(crate) fn client() -> Client {
    let home = parse_net("127.0.0.1").unwrap();
    Client::new(&Settings {
        resolver: Arc::new(Nameless),
        ..Settings::new(Guard::new(vec![home], "outbound.allow"))
    })
    .unwrap()
}

pub(crate) fn task(callback_url: Option<String>) -> ClaimedTask {
    ClaimedTask {
        id: TaskId(42),
        identity: Identity {
            subject: Subject::parse("article:7").unwrap(),
            kind: Kind::parse("ARTICLE_PUBLISH").unwrap(),
        },
        term: Term(3),
        attempt: 2,
        max_retry: 3,
        expiries: 0,
        execute_at: Timestamp::from_second(1_767_599_990).unwrap(),
        started_at: Timestamp::from_second(1_767_600_000).unwrap(),
        payload: Payload::parse(r#"{"price": 1.10, "ids": [1, 2]}"#, 1000).unwrap(),
        callback_url,
        call_options: None,
        expiry: Expiry::NEVER,
        revision: Revision(5),
    }
}

/// A firing of `nightly`, 90.5 seconds before the clock's instant, at `target` written in JSON.
pub(crate) fn firing(target: serde_json::Value) -> Firing {
    Firing {
        schedule: "nightly".to_owned(),
        nominal_at: Timestamp::from_millisecond(1_767_599_909_500).unwrap(),
        trigger: Trigger::Schedule,
        caught_up: true,
        retry_until: Timestamp::from_second(1_767_603_600).unwrap(),
        gives_way: false,
        run_timeout: almanack_core::follow::RUN_TIMEOUT_DEFAULT,
        retry: Retry::default(),
        timeout: None,
        firings_max: None,
        target: serde_json::from_value(target).unwrap(),
        pings: Pings::default(),
    }
}

/// Serves `app` on loopback until the test's runtime ends.
pub(crate) async fn serve(app: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}
