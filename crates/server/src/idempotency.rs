//! Runs requests, at most once if they carry a key.
//!
//! With an `Idempotency-Key`, the requests of a call and the key are stored in one transaction, or
//! not at all. The same key with the same request returns the stored answer; with a different
//! request it is refused. Keys belong to the token that used them. Requests are equal if their
//! method, target, body and (for binary events) `ce-` headers are equal, byte for byte. A client
//! whose body differs between attempts (for example because it resolves a relative time) sends
//! `Idempotency-Digest` to identify the request.

use almanack_core::both;
use std::collections::BTreeSet;

use almanack_core::reschedule::{Receipt, Request};
use almanack_core::{store::OnceKey, task::Identity};
use axum::{http::request::Parts, http::uri::PathAndQuery};
use sha2::{Digest, Sha256};

use crate::prelude::*;
use crate::{access::Requester, problem::ItemProblem};

const KEY_BYTES_MAX: usize = 200;

/// The idempotency key of a request, with the digest that distinguishes it from others.
pub(crate) fn key(parts: &Parts, requester: &Requester, body: &[u8]) -> Result<Option<OnceKey>> {
    let Some(given) = parts.headers.get("idempotency-key") else {
        return Ok(None);
    };
    let fits = (1..=KEY_BYTES_MAX).contains(&given.len());
    let visible = given.as_bytes().iter().all(u8::is_ascii_graphic);
    let text = given.to_str().ok().filter(|_| fits && visible);
    let text = text.ok_or_else(|| {
        let detail = both!(
            "Idempotency-Key must be 1 to {KEY_BYTES_MAX} visible ASCII characters",
            "Idempotency-Key 必须为 1 到 {KEY_BYTES_MAX} 个可见的 ASCII 字符"
        );
        Problem::new(Code::InvalidIdempotencyKey, detail)
    })?;
    let key = format!("{}:{text}", requester.name());
    Ok(Some(OnceKey {
        key,
        digest: digest(parts, body),
    }))
}

/// No line of the head contains a line break, so the parts cannot run together.
fn digest(parts: &Parts, body: &[u8]) -> String {
    let mut digest = Sha256::new();
    let mut line = |part: &[u8]| {
        digest.update(part);
        digest.update(b"\n");
    };
    line(parts.method.as_str().as_bytes());
    line(
        parts
            .uri
            .path_and_query()
            .map_or("/", PathAndQuery::as_str)
            .as_bytes(),
    );
    let event = parts
        .headers
        .iter()
        .filter(|(name, _)| name.as_str().starts_with("ce-"));
    let event: BTreeSet<_> = event
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    for (name, value) in event {
        line(name.as_bytes());
        line(value);
    }
    line(b"");
    let own = parts.headers.get("idempotency-digest");
    digest.update(own.map_or(body, |own| own.as_bytes()));
    format!("{:x}", digest.finalize())
}

/// Runs one request.
pub(crate) async fn ask(
    state: &AppState,
    call: &Call,
    request: Request,
    origin: &str,
) -> Result<Receipt> {
    let receipt = match &call.once {
        None => state.rescheduler.ask(request, origin).await?,
        Some(key) => {
            let receipts = state
                .rescheduler
                .ask_once(key.clone(), vec![request], origin)
                .await?;
            let missing = || {
                Problem::new(
                    Code::Internal,
                    both!("the stored answer has no receipt", "保存的应答中没有回执"),
                )
            };
            receipts.into_iter().next().ok_or_else(missing)?
        }
    };
    count(&receipt);
    Ok(receipt)
}

/// The parsed requests; `Err` is the problem with that item.
pub(crate) type ChangeRequests = Vec<Result<Request>>;
/// The result of each, in order, with its identity.
pub(crate) type Answers = Vec<Result<(Identity, Receipt)>>;

/// Runs many requests: each separately, or with a key all or none.
pub(crate) async fn ask_all(
    state: &AppState,
    call: &Call,
    requests: ChangeRequests,
    origin: &str,
) -> Result<Answers> {
    let answers = match &call.once {
        None => ask_each(state, requests, origin).await?,
        Some(key) => {
            let requests = all_or_nothing(requests)?;
            let identities: Vec<Identity> = requests.iter().map(|w| w.identity().clone()).collect();
            let receipts = state
                .rescheduler
                .ask_once(key.clone(), requests, origin)
                .await?;
            identities.into_iter().zip(receipts).map(Ok).collect()
        }
    };
    answers
        .iter()
        .flatten()
        .for_each(|(_, receipt)| count(receipt));
    Ok(answers)
}

async fn ask_each(state: &AppState, requests: ChangeRequests, origin: &str) -> Result<Answers> {
    let mut readable = Vec::with_capacity(requests.len());
    let sort = |request: Result<Request>| {
        let request = request?;
        let identity = request.identity().clone();
        readable.push(request);
        Ok(identity)
    };
    let asked: Vec<Result<Identity>> = requests.into_iter().map(sort).collect();
    let mut answers = state
        .rescheduler
        .ask_all(readable, origin)
        .await?
        .into_iter();
    let answer = |asked: Result<Identity>| {
        let identity = asked?;
        let missing = || {
            Problem::new(
                Code::Internal,
                both!("the answer to this item is missing", "缺少对此条目的应答"),
            )
        };
        let receipt = answers.next().ok_or_else(missing)??;
        Ok((identity, receipt))
    };
    Ok(asked.into_iter().map(answer).collect())
}

/// All requests, if all are readable and no two share an identity: within one transaction the
/// second would be decided from a row that the first is about to change.
fn all_or_nothing(requests: ChangeRequests) -> Result<Vec<Request>> {
    let mut readable = Vec::with_capacity(requests.len());
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, request) in requests.into_iter().enumerate() {
        match request {
            Ok(request) if seen.insert(request.identity().clone()) => readable.push(request),
            Ok(request) => errors.push(ItemProblem {
                index,
                error: twice(request.identity()),
            }),
            Err(error) => errors.push(ItemProblem { index, error }),
        }
    }
    if errors.is_empty() {
        Ok(readable)
    } else {
        Err(Problem::items(errors))
    }
}

fn twice(identity: &Identity) -> Problem {
    let detail = both!(
        "{identity} appears twice; with an Idempotency-Key it may appear only once",
        "{identity} 出现了两次；带 Idempotency-Key 时只能出现一次"
    );
    Problem::new(Code::InvalidValue, detail)
}

/// Counts answers: a replay counts, although nothing changed.
pub(crate) fn count(receipt: &Receipt) {
    metrics::counter!("almanack_reschedule_total", "rule" => receipt.rule.as_str()).increment(1);
}
