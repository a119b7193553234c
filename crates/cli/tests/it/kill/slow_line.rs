//! A slow line between the nodes and the article service.
//!
//! On loopback a call takes a millisecond, and no kill would ever hit one. Here every call takes a
//! while before it arrives and its answer a while before it is back, so that nodes die with calls
//! on their way: before the effect, and after it.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_adapters::clock::pause;
use almanack_lab::chance::Chance;
use axum::{
    Json, Router,
    extract::{OriginalUri, State},
    http::StatusCode,
    routing::post,
};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{api::Api, process::free_address};

/// How long one way takes, at most.
const WAY_MS_MAX: u64 = 400;

struct Line {
    service: Api,
    chance: Mutex<Chance>,
}

/// Opens a line to `service`; answers where it begins. It goes with the test's runtime.
pub(super) async fn open(service: SocketAddr, seed: u64) -> SocketAddr {
    let line = Line {
        service: Api::at(service),
        chance: Mutex::new(Chance::new(seed)),
    };
    let app = Router::new()
        .route("/callbacks/{what}", post(carry))
        .with_state(Arc::new(line));
    let address = free_address();
    let listener = TcpListener::bind(address).await.unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

async fn carry(
    State(line): State<Arc<Line>>,
    OriginalUri(uri): OriginalUri,
    Json(call): Json<Value>,
) -> (StatusCode, Json<Value>) {
    line.way().await;
    let answer = line
        .service
        .ask(Method::POST, uri.path(), Some(&call))
        .await;
    line.way().await;
    match answer {
        Ok(answer) => (
            StatusCode::from_u16(answer.status).unwrap(),
            Json(answer.json),
        ),
        Err(_) => (
            StatusCode::BAD_GATEWAY,
            Json(json!({ "code": "nobody_there" })),
        ),
    }
}

impl Line {
    async fn way(&self) {
        let ms = self.chance.lock().unwrap().below(WAY_MS_MAX);
        pause(Duration::from_millis(ms)).await;
    }
}
