//! Publishers: what delivers editions to destinations, one file each (ED-34).
//!
//! Every publisher answers one question with care: does the destination have it? *Confirmed* and
//! *failed* are certain; a request without an answer is *unknown*, and is settled by looking or by
//! preference, never by guessing here (ED-12).
//!
//! | what happened | GitHub | Telegram | webhook | directory |
//! | --- | --- | --- | --- | --- |
//! | taken | confirmed: 2xx, or no change | confirmed: `ok` | confirmed: 2xx | confirmed |
//! | the budget is spent | failed, spent | failed, spent | failed, spent | – |
//! | not connected, no name | failed, transient | failed, transient | failed, transient | – |
//! | cut off, no answer in time | **unknown** | **unknown** | **unknown** | – |
//! | 5xx | **unknown** | transient if Telegram says so; else **unknown** | **unknown** | – |
//! | 408, 425 | 408 as 5xx | refused | failed, transient | – |
//! | 429; GitHub also 403 with a limit | failed, rate limited | the same | the same | – |
//! | 401 | credentials | credentials | credentials | – |
//! | 403 | credentials | refused | credentials | no permission: refused |
//! | 404 | refused, with a hint (of a read: absent) | credentials: no such bot | refused | – |
//! | 400, 3xx and the rest | refused | refused, in Telegram's words | refused | transient |
//! | 409, or 422 about `sha` | up to three writes; then transient | refused | refused | – |
//! | 2xx that cannot be read | confirmed | **unknown**, unusable | confirmed | – |
//!
//! Slack, Discord, Mastodon and Bluesky ([`post`]) answer as webhooks do.
//!
//! *Unknown* is transient unless the table says otherwise; *rate limited* has the wait. From
//! Telegram, a 504 is *unknown*, and so is a 5xx that is not its own answer.
//!
//! For GitHub and a directory, a look decides; a look that fails is a failure of the look. Telegram
//! cannot be looked at and goes by preference, once it answers again; a webhook's receiver
//! recognises the repetition by its key.
//!
//! INVARIANT: no detail of any failure holds a token, and none an address.

pub mod directory;
pub mod github;
pub mod post;
pub mod telegram;
pub mod template;
pub mod terminal;
pub mod webhook;

use almanack_core::edition::port::{Failure, FailureClass, Sent};

use crate::http;

/// What a request without an answer means.
pub(crate) fn unanswered(error: &http::Error) -> Failure {
    match error {
        http::Error::Spent(_) => Failure::spent(),
        _ if error.is_transient() => Failure::new(FailureClass::Transient, error.to_string()),
        _ => Failure::new(FailureClass::Refused, error.to_string()),
    }
}

/// The result of a request that got no answer.
pub(crate) fn unsent(error: &http::Error) -> Sent {
    let failure = unanswered(error);
    if error.may_have_arrived() {
        Sent::Unknown(failure)
    } else {
        Sent::Failed(failure)
    }
}
