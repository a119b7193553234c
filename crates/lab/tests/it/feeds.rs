//! Feeds for each test, a clock that tests set, and a client that shows raw responses.

mod control;
mod faults;
mod hostile;
mod look;

use almanack_lab::feeds::{
    self, Config, Handle, Running,
    fault::{Fault, Rule, When},
    feed::Feed,
    fleet::Fleet,
};
use reqwest::header::HeaderMap;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::support::{ManualClock, client, within};

/// A running server and a client.
struct World {
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
}

impl World {
    async fn start(fleet: Fleet) -> Self {
        let clock = ManualClock::at("2026-01-05T08:00:00Z");
        let config = Config {
            clock: clock.as_clock(),
            ..Config::new(fleet)
        };
        let stop = CancellationToken::new();
        let running = feeds::start(config, stop.clone()).await.unwrap();
        Self {
            clock,
            running,
            client: raw_client(),
            stop: stop.clone(),
            _stop: stop.drop_guard(),
        }
    }

    async fn quiet() -> Self {
        Self::start(Fleet::new(3, 400)).await
    }

    fn handle(&self) -> &Handle {
        &self.running.handle
    }

    /// The first matching feed.
    fn pick(&self, wanted: impl Fn(&Feed) -> bool) -> u32 {
        self.handle().feeds_where(wanted).next().unwrap()
    }

    /// Injects a fault into a feed.
    fn disturb(&self, number: u32, fault: Fault) {
        let rule = Rule::feed(number, When::Always, fault);
        self.handle().add_fault(rule);
    }

    /// A feed that sends validators and has entries.
    fn ordinary(&self) -> u32 {
        let now = self.clock.now();
        let lives = |feed: &Feed| !feed.habit.newest(now, 1).is_empty();
        self.pick(|feed| feed.etag && feed.last_modified && lives(feed))
    }

    fn ask(&self, url: &str) -> reqwest::RequestBuilder {
        self.client.get(url).header("user-agent", "almanack-tests")
    }

    async fn get(&self, url: &str) -> Answer {
        received(self.ask(url)).await
    }

    async fn look(&self, number: u32) -> Answer {
        self.get(&self.handle().feed_url(number)).await
    }

    /// Checks again with the validators of the last response.
    async fn look_again(&self, number: u32, last: &Answer) -> Answer {
        let url = self.handle().feed_url(number);
        let asked = self.ask(&url).header("if-none-match", last.header("etag"));
        received(asked).await
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "an independent client, to see raw responses"
)]
fn anonymous() -> reqwest::ClientBuilder {
    reqwest::Client::builder().no_proxy()
}

/// Requests no compression and decodes none.
fn raw_client() -> reqwest::Client {
    let _ = client();
    anonymous().no_gzip().no_brotli().build().unwrap()
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
