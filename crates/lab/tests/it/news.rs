//! A news site for each test, a clock that tests set, and a client that shows raw responses.

mod control;
mod faults;
mod lists;
mod pages;
mod readers;
mod search;

use std::time::Duration;

use almanack_lab::news::{self, Config, Handle, Running, site::Site, story::NewStory};
use jiff::Timestamp;
use reqwest::header::HeaderMap;
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::support::{ManualClock, client, within};

/// The morning after the day that most tests use.
const MORNING: &str = "2026-01-05T08:00:00Z";
/// That day, from its first second to its last.
const DAY_S: (i64, i64) = (1_767_484_800, 1_767_571_199);

/// A running site and a client.
struct News {
    clock: ManualClock,
    running: Running,
    client: reqwest::Client,
    stop: CancellationToken,
    _stop: DropGuard,
}

/// Status, headers and body as received.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl News {
    /// A site with few stories: most tests need one.
    async fn quiet() -> Self {
        Self::start(Site::new(3, 40), |_| {}).await
    }

    /// A day of which the search shows only a part.
    async fn busy() -> Self {
        Self::start(Site::new(3, 1400), |_| {}).await
    }

    async fn start(site: Site, adjust: impl FnOnce(&mut Config)) -> Self {
        let clock = ManualClock::at(MORNING);
        let mut config = Config::new(([127, 0, 0, 1], 0).into(), site);
        config.clock = clock.as_clock();
        adjust(&mut config);
        let stop = CancellationToken::new();
        let running = news::start(config, stop.clone()).await.unwrap();
        Self {
            clock,
            running,
            client: staying_client(),
            stop: stop.clone(),
            _stop: stop.drop_guard(),
        }
    }

    fn handle(&self) -> &Handle {
        &self.running.handle
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.running.url())
    }

    async fn get(&self, path: &str) -> Answer {
        received(self.client.get(self.url(path))).await
    }

    /// The JSON of a response that must be 200.
    async fn json(&self, path: &str) -> Value {
        self.get(path).await.json()
    }

    /// Adds a story an hour before now.
    fn add(&self, title: &str) -> i64 {
        self.handle()
            .add_story(NewStory::new(self.an_hour_ago(), title, 7))
    }

    fn an_hour_ago(&self) -> Timestamp {
        self.clock.after(-3600)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "an independent client, to see raw responses"
)]
fn anonymous() -> reqwest::ClientBuilder {
    let _ = client();
    reqwest::Client::builder().no_proxy()
}

/// Follows no redirects.
fn staying_client() -> reqwest::Client {
    let stays = reqwest::redirect::Policy::none();
    anonymous().redirect(stays).build().unwrap()
}

async fn received(request: reqwest::RequestBuilder) -> Answer {
    let response = within(request.send()).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = within(response.bytes()).await.unwrap().to_vec();
    Answer {
        status,
        headers,
        body,
    }
}

#[tokio::test]
async fn a_stopped_site_ends_waiting_requests() {
    let news = News::start(Site::new(3, 40), |config| {
        config.latency = Duration::from_hours(1);
    })
    .await;
    let waiting = tokio::spawn(news.client.get(news.url("/v0/beststories.json")).send());
    within(news.handle().until(|handle| handle.total() == 1)).await;
    news.stop.cancel();
    assert!(within(waiting).await.unwrap().is_err(), "the line was cut");
    within(news.running.join).await.unwrap().unwrap();
}

#[tokio::test]
async fn every_answer_takes_the_latency() {
    let news = News::start(Site::new(3, 40), |config| {
        config.latency = Duration::from_hours(1);
    })
    .await;
    let id = news.add("Tides");
    let paths = [
        "/v0/beststories.json".to_owned(),
        "/api/v1/search".to_owned(),
        "/api/v1/search_by_date".to_owned(),
        format!("/pages/{id}"),
        format!("/item?id={id}"),
        format!("/reader/{}", news.handle().page_url(id)),
        "/nowhere".to_owned(),
    ];
    for path in &paths {
        tokio::spawn(news.client.get(news.url(path)).send());
    }
    tokio::spawn(news.client.post(news.url("/crawler")).send());
    let all = paths.len() + 1;
    within(news.handle().until(|handle| handle.in_flight_max() == all)).await;
}

#[tokio::test]
async fn invalid_requests_count_too() {
    let news = News::quiet().await;
    for (path, status) in [
        ("/pages/x", 404),
        ("/pages/1/hop/x", 404),
        ("/item", 404),
        ("/api/v1/search?page=2", 400),
        ("/crawler", 401),
        ("/robots.txt", 404),
    ] {
        assert_eq!(news.get(path).await.status, status, "{path}");
    }
    assert_eq!(news.handle().total(), 6);
}
