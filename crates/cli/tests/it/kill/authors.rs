//! Authors who write, move and withdraw, and remember what the article service promised them.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use almanack_adapters::clock::pause;
use almanack_lab::chance::Chance;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{api::Api, process::from_now};

/// Articles written per run.
const ARTICLES: usize = 36;
/// The pause between two acts, at most.
const BREATH_MS_MAX: u64 = 250;
/// How far ahead publications are planned, at most.
const AHEAD_MS_MAX: u64 = 5_000;

pub(super) struct Authors {
    service: Api,
    chance: Chance,
    promised: BTreeMap<i64, Promise>,
}

/// What the service last agreed to.
#[derive(Debug, PartialEq)]
enum Promise {
    PublishAt(Value),
    Withdrawn,
    /// The last request was refused, maybe because an answer before it got lost.
    Unknown,
}

impl Authors {
    pub(super) fn new(service: SocketAddr, seed: u64) -> Self {
        Self {
            service: Api::at(service),
            chance: Chance::new(seed),
            promised: BTreeMap::new(),
        }
    }

    /// Writes all articles; now and then an author changes an earlier one.
    pub(super) async fn work(&mut self) {
        for number in 0..ARTICLES {
            self.write(number).await;
            match self.chance.below(5) {
                0 | 1 => self.reschedule().await,
                2 => self.withdraw().await,
                _ => {}
            }
            pause(Duration::from_millis(self.chance.below(BREATH_MS_MAX))).await;
        }
    }

    /// A service that dies before it answers may have written the article all the same; then there
    /// is one more, with the same promises.
    async fn write(&mut self, number: usize) {
        let body = if self.chance.below(10) == 0 {
            "FORBIDDEN"
        } else {
            "All is well."
        };
        let request =
            json!({ "title": format!("No. {number}"), "body": body, "publish_at": self.soon() });
        let answer = self
            .service
            .insist(Method::POST, "/articles", Some(&request))
            .await;
        assert_eq!(answer.status, 201, "{answer:?}");
        let id = answer.json["id"].as_i64().unwrap();
        self.promised
            .insert(id, Promise::PublishAt(answer.json["publish_at"].clone()));
    }

    async fn reschedule(&mut self) {
        let (id, request) = (self.any_article(), json!({ "publish_at": self.soon() }));
        let path = format!("/articles/{id}");
        let answer = self
            .service
            .insist(Method::PATCH, &path, Some(&request))
            .await;
        let promise = match answer.status {
            200 => Promise::PublishAt(answer.json["publish_at"].clone()),
            _ if self.promised.get(&id) == Some(&Promise::Withdrawn) => Promise::Withdrawn,
            _ => Promise::Unknown,
        };
        self.promised.insert(id, promise);
    }

    async fn withdraw(&mut self) {
        let id = self.any_article();
        let path = format!("/articles/{id}/withdraw");
        let answer = self.service.insist(Method::POST, &path, None).await;
        if answer.status == 200 {
            self.promised.insert(id, Promise::Withdrawn);
        }
    }

    fn soon(&mut self) -> Value {
        let ahead = i64::try_from(self.chance.below(AHEAD_MS_MAX)).unwrap();
        json!(from_now(ahead))
    }

    fn any_article(&mut self) -> i64 {
        let ids: Vec<i64> = self.promised.keys().copied().collect();
        *self.chance.pick(&ids).unwrap()
    }

    /// Everything the service agreed to is still so.
    pub(super) fn check(&self, articles: &[Value]) {
        assert!(articles.len() >= ARTICLES);
        for (id, promise) in &self.promised {
            let article = articles.iter().find(|article| article["id"] == *id);
            let article = article.unwrap_or_else(|| panic!("article {id} is lost"));
            match promise {
                Promise::PublishAt(at) => assert_eq!(&article["publish_at"], at, "{article}"),
                Promise::Withdrawn => assert!(!article["withdrawn_at"].is_null(), "{article}"),
                Promise::Unknown => {}
            }
        }
    }
}
