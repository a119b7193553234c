//! A receiver of webhooks on loopback: partners whom schedules fire at, patient and impatient.
//!
//! Every hook is at `/hooks/NAME`. It takes each call once, known by its `Idempotency-Key`, and can
//! be told to take its time or to refuse some calls, so that overlaps and retries can be seen. What
//! it took and refused is counted by name.
//!
//! INVARIANT: a call that is refused takes no effect, and a key that was taken is answered alike for
//! ever.

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
    stand::{self, Noted, Stand, Upstream},
};

/// How a hook treats its callers. The default answers at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// How long an answer takes, in real time.
    pub wait: Duration,
    /// Of a hundred calls, so many are answered 503.
    pub refuse_percent: u8,
}

/// What the receiver needs to know.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Hooks with a behaviour of their own; any other name is a hook, too.
    pub behaviour: BTreeMap<String, Behaviour>,
    /// Where the chance of refusals comes from.
    pub seed: u64,
}

pub type Config = stand::Config<Hooks>;

impl Config {
    /// Hooks that answer at once.
    pub fn new(listen: SocketAddr) -> Self {
        Self::of(listen, Setup::default())
    }
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Taken; each key once.
    Taken,
    /// Its key had been taken before.
    Repeated,
    Refused,
}

/// A call and what became of it; counted just so.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Call {
    pub hook: String,
    /// What became of it.
    pub outcome: Outcome,
}

impl Noted for Call {
    type Kind = Self;

    fn kind(&self) -> Self {
        self.clone()
    }
}

#[derive(Debug, Default)]
pub struct Hooks {
    seed: u64,
    behaviour: BTreeMap<String, Behaviour>,
    keys: BTreeSet<String>,
    calls: u64,
}

impl Hooks {
    /// What becomes of a call; noted at once, before any wait.
    fn decide(&mut self, hook: &str, key: Option<&str>) -> Outcome {
        self.calls += 1;
        let drawn = Chance::of(self.seed, &[self.calls]).below(100);
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
        self.behaviour.get(hook).copied().unwrap_or_default()
    }
}

/// Reaches into a running receiver from the same process.
pub type Handle = Stand<Hooks>;
/// A receiver that runs.
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

    /// From now on a hook treats its callers so.
    pub fn set_behaviour(&self, hook: &str, behaviour: Behaviour) {
        let hooks = &mut self.lock().state;
        hooks.behaviour.insert(hook.to_owned(), behaviour);
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
    const WELCOME: &'static str = "POST /hooks/{name}; GET /_world/requests counts what came.\n";
    type Setup = Setup;
    type Matching = ();
    type Effect = ();
    type Request = Call;

    fn open(setup: &Setup, _: Timestamp) -> Self {
        Self {
            seed: setup.seed,
            behaviour: setup.behaviour.clone(),
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
        inside.journal.note(Call { hook, outcome });
        (outcome, wait)
    };
    let reply = if outcome == Outcome::Refused {
        let message = "this hook was told to misbehave";
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
        let mut hooks = Hooks {
            behaviour: BTreeMap::from([("flaky".to_owned(), rude)]),
            ..Hooks::default()
        };
        let refused = (0..1_000)
            .filter(|call| hooks.decide("flaky", Some(&call.to_string())) == Outcome::Refused);
        let refused = refused.count();
        assert!((430..570).contains(&refused), "half of 1000, but {refused}");
        assert_eq!(hooks.keys.len() + refused, 1_000);
        assert!((0..100).all(|_| hooks.decide("paper", None) == Outcome::Taken));
    }
}
