//! `/ping/{key}` and `/badge/{key}.svg`: what jobs call and everybody may see, without a token.
//!
//! These paths are those of Healthchecks, so that jobs need only another address; the OpenAPI
//! document does not list them. What is not shaped like a key costs nothing, a key that nobody has
//! one look at an index, and one monitor takes so many pings a minute on a node: unknown clients keep no
//! job from being heard (SF-05), and no ping from delaying work (SF-01).

use almanack_core::both;
use std::collections::BTreeMap;
use std::sync::Mutex;

use almanack_core::plan::{Arrival, MonitorStatus, PING_BODY_BYTES_MAX, PingKind};
use almanack_core::{locked, store::MonitorKey};
use axum::body::{Body, BodyDataStream};
use axum::extract::{Path, Query};
use axum::http::Method;
use axum::routing::{MethodFilter, get, on};
use axum::{Extension, Router};
use futures_util::StreamExt as _;

use super::badged;
use crate::badge::{self, Colour};
use crate::prelude::*;
use crate::token::hash;

/// Pings of one monitor that a node takes in a minute.
const PINGS_PER_MINUTE: u32 = 120;
/// Monitors counted in a minute; those beyond are not limited, only their number is.
const COUNTED_MAX: usize = 100_000;

/// `rid` and nothing else matters; what else is in a query is ignored, as there.
#[derive(Deserialize)]
struct PingQuery {
    rid: Option<String>,
}

pub(crate) fn routes() -> Router<Arc<AppState>> {
    let methods = MethodFilter::GET.or(MethodFilter::POST);
    Router::new()
        .route("/ping/{key}", on(methods, ping))
        .route("/ping/{key}/{action}", on(methods, ping_with))
        .route("/badge/{file}", get(badge))
        .layer(Extension(Arc::new(Limit::default())))
}

/// Whether a text is a UUID in lower case: what keys look like.
pub(crate) fn is_key(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let hex = |part: &&str| part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(hex)
}

/// How many pings came for each key in the present minute.
#[derive(Default)]
struct Limit(Mutex<(i64, BTreeMap<String, u32>)>);

impl Limit {
    fn may_pass(&self, key: &str, now: Timestamp) -> bool {
        let mut counted = locked(&self.0);
        let minute = now.as_second().div_euclid(60);
        if counted.0 != minute {
            *counted = (minute, BTreeMap::new());
        }
        if counted.1.len() >= COUNTED_MAX && !counted.1.contains_key(key) {
            return true;
        }
        let count = counted.1.entry(key.to_owned()).or_default();
        *count = count.saturating_add(1);
        *count <= PINGS_PER_MINUTE
    }
}

async fn ping(
    state: App,
    limit: Extension<Arc<Limit>>,
    Path(key): Path<String>,
    query: Query<PingQuery>,
    method: Method,
    body: Body,
) -> Answer {
    let path = Path((key, String::new()));
    ping_with(state, limit, path, query, method, body).await
}

async fn ping_with(
    State(state): App,
    Extension(limit): Extension<Arc<Limit>>,
    Path((key, action)): Path<(String, String)>,
    Query(query): Query<PingQuery>,
    method: Method,
    body: Body,
) -> Answer {
    let unknown = || {
        Problem::new(
            Code::NoSuchMonitor,
            both!("no monitor has this ping address", "没有监控使用此通知地址"),
        )
    };
    let key = key.to_ascii_lowercase();
    if !is_key(&key) {
        return Err(unknown());
    }
    let (kind, exit_status) = read_action(&action)?;
    let rid = query.rid.map(|rid| rid.to_ascii_lowercase());
    if rid.as_deref().is_some_and(|rid| !is_key(rid)) {
        return Err(Problem::new(
            Code::BadRequest,
            both!("rid must be a UUID", "rid 必须是 UUID"),
        ));
    }
    if !limit.may_pass(&key, state.clock.now()) {
        let detail = both!(
            "more than {PINGS_PER_MINUTE} pings of this monitor in a minute",
            "该监控一分钟内的通知超过 {PINGS_PER_MINUTE} 次"
        );
        return Err(Problem::new(Code::TooManyPings, detail));
    }
    let body = kept(body.into_data_stream()).await?;
    let arrival = Arrival {
        kind,
        exit_status,
        rid,
        method: method.as_str().to_owned(),
        body,
    };
    let key = MonitorKey::Ping(hash(&key));
    let heard = state.schedules.ping(&key, &arrival).await?;
    heard.ok_or_else(unknown)?;
    Ok("OK".into_response())
}

/// What the last part of the path reports.
fn read_action(action: &str) -> Result<(PingKind, Option<u8>)> {
    match action {
        "" => Ok((PingKind::Success, None)),
        "start" => Ok((PingKind::Start, None)),
        "fail" => Ok((PingKind::Fail, None)),
        "log" => Ok((PingKind::Log, None)),
        status => {
            let digits = status.bytes().all(|byte| byte.is_ascii_digit());
            let status: Option<u8> = status.parse().ok().filter(|_| digits);
            let status = status.ok_or_else(|| {
                let detail = both!(
                    "behind the key may be start, fail, log or an exit status, 0 to 255",
                    "key 之后可以是 start、fail、log，或 0 到 255 的退出状态"
                );
                Problem::new(Code::BadRequest, detail)
            })?;
            let kind = match status {
                0 => PingKind::Success,
                _ => PingKind::Fail,
            };
            Ok((kind, Some(status)))
        }
    }
}

/// The beginning of a body; what is longer is cut, not refused. No NUL: PostgreSQL keeps none.
async fn kept(mut body: BodyDataStream) -> Result<Option<String>> {
    let mut bytes = Vec::new();
    while let Some(part) = body.next().await {
        let unread = |_| {
            Problem::new(
                Code::BadRequest,
                both!(
                    "the body could not be read to its end",
                    "请求体未能完整读取"
                ),
            )
        };
        let part = part.map_err(unread)?;
        let room = PING_BODY_BYTES_MAX - bytes.len();
        bytes.extend_from_slice(&part[..part.len().min(room)]);
        if part.len() >= room {
            break;
        }
    }
    let text = String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}");
    let end = text.floor_char_boundary(PING_BODY_BYTES_MAX);
    Ok((!text.is_empty()).then(|| text[..end].to_owned()))
}

/// A badge, for everybody who knows its address.
async fn badge(State(state): App, Path(file): Path<String>) -> Answer {
    let unknown = || {
        Problem::new(
            Code::NoSuchMonitor,
            both!("no badge has this address", "没有徽章使用此地址"),
        )
    };
    let (key, form) = badge::parse(&file).ok_or_else(unknown)?;
    if !is_key(key) {
        return Err(unknown());
    }
    let watched = badged(&state, key).await?.ok_or_else(unknown)?;
    let (status, name) = (watched.status, watched.schedule.name.as_str());
    Ok(badge::answer(form, name, status.as_str(), colour(status)))
}

fn colour(status: MonitorStatus) -> Colour {
    match status {
        MonitorStatus::Up | MonitorStatus::Started => Colour::Good,
        MonitorStatus::Late => Colour::Late,
        MonitorStatus::Down => Colour::Bad,
        MonitorStatus::New | MonitorStatus::Paused => Colour::Idle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dp_23_what_is_behind_the_key_is_read_as_healthchecks_reads_it() {
        let read = |action| read_action(action).ok();
        for (action, expected) in [
            ("", Some((PingKind::Success, None))),
            ("start", Some((PingKind::Start, None))),
            ("fail", Some((PingKind::Fail, None))),
            ("log", Some((PingKind::Log, None))),
            ("0", Some((PingKind::Success, Some(0)))),
            ("1", Some((PingKind::Fail, Some(1)))),
            ("255", Some((PingKind::Fail, Some(255)))),
            ("256", None),
            ("-1", None),
            ("+1", None),
            ("Start", None),
            ("stop", None),
        ] {
            assert_eq!(read(action), expected, "{action}");
        }
    }

    #[test]
    fn dp_23_only_a_uuid_is_a_key() {
        for (text, is) in [
            ("5f0e6b1c-9a3d-4c55-8f0e-2b7f3a9c1d44", true),
            ("5F0E6B1C-9a3d-4c55-8f0e-2b7f3a9c1d44", false),
            ("5f0e6b1c9a3d4c558f0e2b7f3a9c1d44", false),
            ("5f0e6b1c-9a3d-4c55-8f0e-2b7f3a9c1d4", false),
            ("5f0e6b1c-9a3d-4c55-8f0e-2b7f3a9c1d44-", false),
            ("", false),
            ("../../../../etc/passwd", false),
        ] {
            assert_eq!(is_key(text), is, "{text}");
        }
    }

    #[tokio::test]
    async fn dp_23_what_is_too_long_is_cut_between_characters() {
        for (body, expected) in [
            (String::new(), None),
            ("ok".to_owned(), Some("ok".to_owned())),
            ("x".repeat(150_000), Some("x".repeat(PING_BODY_BYTES_MAX))),
            (
                format!("a{}", "é".repeat(60_000)),
                Some(format!("a{}", "é".repeat(49_999))),
            ),
        ] {
            let cut = kept(Body::from(body).into_data_stream()).await.unwrap();
            let cut = cut.map(|cut| cut.replace('\u{fffd}', ""));
            assert_eq!(cut, expected);
        }
    }

    #[test]
    fn sf_05_one_monitor_takes_so_many_pings_a_minute_and_others_as_many() {
        let limit = Limit::default();
        let at = |second| Timestamp::from_second(second).unwrap();
        let passed = (0..500).filter(|_| limit.may_pass("a", at(59))).count();
        assert_eq!(passed, 120);
        assert!(limit.may_pass("b", at(59)), "another's pings");
        assert!(limit.may_pass("a", at(60)), "the next minute");
    }
}
