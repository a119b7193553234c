//! Articles that are published at their time.
//!
//! Almanack decides when to try; this service decides whether it takes effect. The article's own
//! state makes a repeated call harmless: only one that waits is published. In a database this is
//! `update article set state = 'PUBLISHED' where id = $1 and state = 'WAITING'`.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    sync::{Arc, Mutex, PoisonError},
};

use almanack_client::{Call, Callback, Client, Put, Timestamp, WebhookKey, axum::verify};
use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    middleware::from_fn_with_state,
    routing::{post, put},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const KIND: &str = "ARTICLE_PUBLISH";

#[derive(Clone)]
struct Service {
    almanack: Client,
    /// Where Almanack reaches this service.
    callback: String,
    articles: Arc<Mutex<BTreeMap<String, Article>>>,
}

#[derive(Clone, Serialize)]
struct Article {
    state: &'static str,
    /// Counts changes, so that an older one never overrides a newer one at Almanack.
    revision: i64,
    published: u32,
}

#[derive(Deserialize)]
struct Written {
    publish_at: Timestamp,
}

type Answer = Result<Json<Value>, (StatusCode, Json<Value>)>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listen = setting("LISTEN").unwrap_or_else(|| "127.0.0.1:8090".to_owned());
    let server = setting("ALMANACK_SERVER").unwrap_or_else(|| "http://127.0.0.1:8080".to_owned());
    let key = WebhookKey::parse(&setting("ALMANACK_WEBHOOK_SECRET").unwrap_or_default())?;
    let mut almanack = Client::new(&server)?;
    if let Some(token) = setting("ALMANACK_TOKEN") {
        almanack = almanack.token(token);
    }
    let service = Service {
        almanack,
        callback: format!("http://{listen}/callbacks/publish"),
        articles: Arc::default(),
    };
    let callbacks = Router::new()
        .route("/callbacks/publish", post(publish))
        .layer(from_fn_with_state(key, verify));
    let app = Router::new()
        .route("/articles/{id}", put(write).get(read))
        .merge(callbacks)
        .with_state(service);
    axum::serve(tokio::net::TcpListener::bind(listen).await?, app).await?;
    Ok(())
}

/// `PUT /articles/{id}`: writes an article, or changes when it is published.
async fn write(
    State(service): State<Service>,
    Path(id): Path<String>,
    Json(written): Json<Written>,
) -> Answer {
    let revision = service.with(&id, |article| {
        article.revision += 1;
        article.revision
    });
    let task = Put::new(KIND, format!("article:{id}"), written.publish_at)
        .revision(revision)
        .callback(Callback::to(service.callback.clone()));
    match service.almanack.put(task).await {
        Ok(receipt) => Ok(Json(json!({ "rule": receipt.receipt.rule }))),
        Err(error) => Err(refuse(StatusCode::BAD_GATEWAY, &error.to_string())),
    }
}

/// `GET /articles/{id}`.
async fn read(State(service): State<Service>, Path(id): Path<String>) -> Answer {
    let articles = service.articles.lock();
    let found = articles
        .unwrap_or_else(PoisonError::into_inner)
        .get(&id)
        .cloned();
    found.map_or_else(
        || Err(refuse(StatusCode::NOT_FOUND, "no such article")),
        |article| Ok(Json(json!(article))),
    )
}

/// `POST /callbacks/publish`: for Almanack. May come twice.
async fn publish(State(service): State<Service>, Json(call): Json<Call>) -> Answer {
    let subject = call.identity.subject.as_str();
    let id = subject.trim_start_matches("article:");
    let took_effect = service.with(id, |article| {
        let waits = article.state == "WAITING";
        if waits {
            article.state = "PUBLISHED";
            article.published += 1;
        }
        waits
    });
    Ok(Json(json!({ "took_effect": took_effect })))
}

impl Service {
    fn with<T>(&self, id: &str, change: impl FnOnce(&mut Article) -> T) -> T {
        let articles = self.articles.lock();
        let mut articles = articles.unwrap_or_else(PoisonError::into_inner);
        change(articles.entry(id.to_owned()).or_insert(Article {
            state: "WAITING",
            revision: 0,
            published: 0,
        }))
    }
}

fn refuse(status: StatusCode, why: &str) -> (StatusCode, Json<Value>) {
    (status, Json(json!({ "message": why })))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program of its own: here its configuration is read"
)]
fn setting(name: &str) -> Option<String> {
    env::var(name).ok()
}
