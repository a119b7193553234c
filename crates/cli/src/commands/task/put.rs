//! `almanack task put KIND SUBJECT --at TIME`

use std::io::Read;

use almanack_core::{
    reschedule::{Put, Request},
    store::OnceKey,
    task::{Invalid, Payload, Priority, parse_max_retry, parse_revision},
};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::{super::parse_identity, Desk, refused, tell};
use crate::{
    args::PutArguments,
    config::{layer::Raw, value},
    failure::{Exit, Failure},
    output::Output,
    when,
};

/// Longest callback address; the API's limit too.
const CALLBACK_BYTES_MAX: usize = 2000;
/// A file may end its only line, with `\n` or `\r\n`.
const LINE_END_BYTES: usize = 2;
/// What to do about a payload over the limit.
const TOO_LARGE: &str = "hand on a reference instead of the thing itself, or raise \
     limits.payload_bytes where this command and the nodes read it";

/// Creates a task or changes its time.
pub(super) async fn run(
    desk: &Desk,
    given: &PutArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let limit = desk.settings.limits.payload_bytes;
    let payload = given
        .payload
        .as_deref()
        .map(|text| load_payload(text, limit))
        .transpose()?;
    let put = read(given, payload.as_deref(), desk.clock.now(), limit)?;
    let identity = put.identity.clone();
    let rescheduler = desk.rescheduler();
    let answer = match &given.idempotency_key {
        None => rescheduler.ask(Request::Put(put), &desk.origin).await,
        Some(key) => {
            let key = once_key(key, given, payload.as_deref(), &desk.origin)?;
            let receipts = rescheduler
                .ask_once(key, vec![Request::Put(put)], &desk.origin)
                .await;
            receipts.and_then(|mut receipts| {
                receipts
                    .pop()
                    .ok_or(almanack_engine::reschedule::Error::KeyReused)
            })
        }
    };
    let receipt = answer.map_err(|error| Failure::from(error).during("put task"))?;
    tell(desk, &identity, &receipt, output)
}

fn read(
    given: &PutArguments,
    payload: Option<&str>,
    now: Timestamp,
    limit: usize,
) -> Result<Put, Failure> {
    let (kind, subject) = (given.kind.as_deref(), given.subject.as_deref());
    let identity = parse_identity(kind.unwrap_or(""), subject.unwrap_or("")).map_err(refused)?;
    let at = when::parse_at(given.at.as_deref().unwrap_or("now"), now)
        .map_err(|unclear| Failure::new(Exit::Usage, unclear.what).hint(unclear.hint))?;
    let payload = payload.map(|text| Payload::parse(text, limit)).transpose();
    let callback_url = given.callback_url.as_deref().map(callback_url).transpose();
    Ok(Put {
        identity,
        execute_at: at,
        payload: payload.map_err(|invalid| match invalid {
            Invalid::PayloadTooLarge { .. } => refused(invalid).hint(TOO_LARGE),
            _ => refused(invalid)
                .hint("JSON text stands in double quotes: --payload '{\"lang\":\"en\"}'"),
        })?,
        callback_url: callback_url.map_err(|(what, hint)| {
            Failure::new(Exit::Usage, format!("--callback-url: {what}")).hint(hint)
        })?,
        max_retry: given
            .max_retry
            .map(parse_max_retry)
            .transpose()
            .map_err(refused)?,
        priority: given
            .priority
            .map(Priority::new)
            .transpose()
            .map_err(refused)?,
        revision: given
            .revision
            .map(parse_revision)
            .transpose()
            .map_err(refused)?,
    })
}

/// Accepts an address to call, or says what is wrong with it and what to write.
pub(super) fn callback_url(text: &str) -> Result<String, (String, String)> {
    if text.len() > CALLBACK_BYTES_MAX {
        let what = format!("an address has at most {CALLBACK_BYTES_MAX} bytes");
        return Err((what, "use a shorter one".to_owned()));
    }
    match value::web_address(&Raw::Bare(text.to_owned())) {
        Ok(_) => Ok(text.to_owned()),
        Err(complaint) => Err((complaint.what, complaint.hint.unwrap_or_default())),
    }
}

/// The payload itself, from `@FILE` or standard input where that was asked for. Reads no more than
/// it takes to see that it is too large, which leaves its true size unknown.
fn load_payload(text: &str, limit: usize) -> Result<String, Failure> {
    let most = limit.saturating_add(LINE_END_BYTES + 1);
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let (done, place) = match text.strip_prefix('@') {
        Some(path) => {
            let file = std::fs::File::open(path);
            let read = file.and_then(|file| file.take(most).read_to_end(&mut bytes));
            (read, path)
        }
        None if text == "-" => {
            let read = std::io::stdin().take(most).read_to_end(&mut bytes);
            (read, "standard input")
        }
        None => return Ok(text.to_owned()),
    };
    let failed = |why: &dyn std::fmt::Display| {
        Failure::new(Exit::Usage, format!("read payload from {place}: {why}"))
    };
    done.map_err(|error| failed(&error))?;
    let payload = bytes.trim_ascii_end();
    if payload.len() > limit || bytes.len() > limit + LINE_END_BYTES {
        let what = format!("it has more than {limit} bytes, the limit");
        return Err(failed(&what).hint(TOO_LARGE));
    }
    let text = std::str::from_utf8(payload).map_err(|_| failed(&"it is not UTF-8"))?;
    Ok(text.to_owned())
}

/// The same key must come with the same request. The time counts as it was written: `+10m` asked
/// again a minute later is the same request.
fn once_key(
    key: &str,
    given: &PutArguments,
    payload: Option<&str>,
    origin: &str,
) -> Result<OnceKey, Failure> {
    if !(1..=200).contains(&key.len()) || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        let what = "--idempotency-key must have 1 to 200 visible ASCII characters";
        return Err(Failure::new(Exit::Usage, what));
    }
    let numbers = [given.max_retry, given.priority, given.revision];
    let request = serde_json::json!([
        given.kind,
        given.subject,
        given.at,
        payload,
        given.callback_url,
        numbers
    ]);
    let digest = format!("{:x}", Sha256::digest(request.to_string().as_bytes()));
    Ok(OnceKey {
        key: format!("{origin}:{key}"),
        digest,
    })
}
