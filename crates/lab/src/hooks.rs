//! A receiver of webhooks on loopback: partners that schedules call.
//!
//! Every hook is at `/hooks/NAME`. It accepts each call once, by its `Idempotency-Key`, and can
//! delay responses or refuse some calls, so that overlaps and retries can be seen. Accepted and
//! refused calls are counted by name.
//!
//! INVARIANT: a refused call has no effect, and an accepted key always gets the same response.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    time::Duration,
};

use axum::{
    Router,
    extract::{ConnectInfo, Path, State},
    http::HeaderMap,
    response::Response,
    routing::post,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

pub use crate::stand::{Error, start};
use crate::{
    chance::Chance,
    line::Met,
    reply::{Answer, Reply},
    stand::{self, Stand, Upstream},
};

/// A hook's behaviour (default: answers at once).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// Delay of a response, in real time.
    pub wait: Duration,
    /// Percentage of calls answered 503.
    pub refuse_percent: u8,
}

/// Configuration of the receiver.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Hooks with a special behaviour; any other name is a hook, too.
    pub behaviour: BTreeMap<String, Behaviour>,
    /// Seed of the refusals.
    pub seed: u64,
}

pub type Config = stand::Config<Hooks>;

impl Config {
    /// Hooks that answer at once.
    pub fn new(listen: SocketAddr) -> Self {
        Self::of(listen, Setup::default())
    }
}

/// The result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Accepted; each key once.
    Taken,
    /// Its key was accepted before.
    Repeated,
    Refused,
}

/// A call and its result; counted by both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Call {
    pub hook: String,
    /// Its result.
    pub outcome: Outcome,
}

#[derive(Debug, Default)]
pub struct Hooks {
    setup: Setup,
    keys: BTreeSet<String>,
    calls: u64,
}

impl Hooks {
    /// Decides a call's result; recorded at once, before any wait.
    fn decide(&mut self, hook: &str, key: Option<&str>) -> Outcome {
        self.calls += 1;
        let drawn = Chance::of(self.setup.seed, &[self.calls]).below(100);
        if drawn < u64::from(self.behaviour(hook).refuse_percent) {
            return Outcome::Refused;
        }
        if key.is_some_and(|key| !self.keys.insert(key.to_owned())) {
            Outcome::Repeated
        } else {
            Outcome::Taken
        }
    }

    fn behaviour(&self, hook: &str) -> Behaviour {
        let behaviour = self.setup.behaviour.get(hook);
        behaviour.copied().unwrap_or_default()
    }
}

/// Handle to a running receiver from the same process.
pub type Handle = Stand<Hooks>;
/// A running receiver.
pub type Running = stand::Running<Hooks>;

impl Handle {
    /// How many calls had this outcome, at all hooks.
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.count_where(|call| call.outcome == outcome)
    }

    /// How many calls had this outcome at one hook.
    pub fn count_at(&self, hook: &str, outcome: Outcome) -> u64 {
        self.count_where(|call| call.hook == hook && call.outcome == outcome)
    }

    /// Changes a hook's behaviour from now on.
    pub fn set_behaviour(&self, hook: &str, behaviour: Behaviour) {
        let hooks = &mut self.lock().state;
        hooks.setup.behaviour.insert(hook.to_owned(), behaviour);
    }
}

impl Running {
    /// The address of a hook.
    pub fn hook_url(&self, name: &str) -> String {
        format!("{}/hooks/{name}", self.url())
    }
}

impl Upstream for Hooks {
    const NAME: &'static str = "hooks";
    const WELCOME: &'static str = "POST /hooks/{name}; GET /_world/requests shows counts.\n";
    type Setup = Setup;
    type Matching = ();
    type Effect = ();
    type Kind = Call;
    type Facts = ();

    fn open(setup: &Setup, _: Timestamp) -> Self {
        Self {
            setup: setup.clone(),
            ..Self::default()
        }
    }

    fn routes(stand: Stand<Self>) -> Router {
        let routes = Router::new().route("/hooks/{name}", post(take));
        routes.with_state(stand)
    }
}

async fn take(
    State(stand): State<Handle>,
    ConnectInfo(met): ConnectInfo<Met>,
    Path(hook): Path<String>,
    headers: HeaderMap,
) -> Response {
    let key = headers.get("idempotency-key");
    let key = key.and_then(|key| key.to_str().ok());
    let (outcome, wait) = {
        let inside = &mut *stand.lock();
        let outcome = inside.state.decide(&hook, key);
        let wait = inside.state.behaviour(&hook).wait;
        inside.journal.note(stand.now(), Call { hook, outcome }, ());
        (outcome, wait)
    };
    let reply = if outcome == Outcome::Refused {
        let message = "injected fault of this hook";
        Reply::json(
            503,
            &json!({ "code": "intended_fault", "message": message }),
        )
    } else {
        Reply::json(200, &json!({ "result": "taken" }))
    };
    stand
        .send(&met, Answer::Reply(Reply { wait, ..reply }), ())
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_once() {
        let mut hooks = Hooks::default();
        let mut decide = |key| hooks.decide("paper", Some(key));
        assert_eq!(
            [decide("a"), decide("a"), decide("b")],
            [Outcome::Taken, Outcome::Repeated, Outcome::Taken]
        );
    }

    #[test]
    fn only_the_rude_refuse_and_what_is_refused_takes_no_effect() {
        let rude = Behaviour {
            refuse_percent: 50,
            ..Behaviour::default()
        };
        let mut hooks = Hooks::default();
        hooks.setup.behaviour.insert("flaky".to_owned(), rude);
        let refused = (0..1_000)
            .filter(|call| hooks.decide("flaky", Some(&call.to_string())) == Outcome::Refused);
        let refused = refused.count();
        assert!((430..570).contains(&refused), "half of 1000, but {refused}");
        assert_eq!(hooks.keys.len() + refused, 1_000);
        assert!((0..100).all(|_| hooks.decide("paper", None) == Outcome::Taken));
    }
}
