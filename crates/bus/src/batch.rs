//! A batch of messages on its way to being settled.
//!
//! Each message is settled once the store has its effect, the dead letters have it, or it is about
//! something else. A round tries all that are not; the caller waits between rounds. Only a batch
//! that is settled as a whole may be committed, and only such a batch can be: an offset covers
//! everything before it.

use almanack_core::{
    event::incoming::{
        envelope::{Bus, Incoming, Reading, understand},
        intake::{Answer, ChangeRequest, Intake},
    },
    finish::Outcome,
    reschedule::Receipt,
};
use async_trait::async_trait;
use futures_util::future::join_all;
use jiff::Timestamp;

use crate::measures::{self, count};

/// Most messages in a batch: one commit of the store takes them all.
pub(crate) const MESSAGES_MAX: usize = 500;
/// Most bytes in a batch, so that large messages do not fill the memory.
pub(crate) const BYTES_MAX: usize = 8 << 20;

/// Headers of a dead letter, besides its own.
pub(crate) const REASON: &str = "almanack-reason";
/// Its original position, so that it can be found and compared.
pub(crate) const PLACE: &str = "almanack-place";
/// How long the body was of which a dead letter has only the beginning.
pub(crate) const CUT: &str = "almanack-cut";
/// How much of a body is kept where the whole is too large for the dead letters.
const KEPT_BYTES_MAX: usize = 64 << 10;
/// Longest reason: brokers bound headers, and a reason may quote what was sent.
const REASON_CHARS_MAX: usize = 1000;

/// Where invalid messages go.
#[async_trait]
pub(crate) trait DeadLetters: Send + Sync {
    /// Writes one; `Ok` means that it was confirmed. `cut` is the full length of its body, if it
    /// was cut.
    async fn bury(
        &self,
        message: &Incoming,
        reason: &str,
        cut: Option<usize>,
    ) -> Result<(), Refusal>;
}

/// Why a message was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Too large; a retry cannot help.
    TooLarge(String),
    /// Any other error; a retry may help.
    NotNow(String),
}

impl Refusal {
    /// What is too large stays so until an operator allows more; for everything else a retry may
    /// help.
    pub(crate) fn outcome(self, too_large: impl FnOnce() -> String) -> Outcome {
        match self {
            Self::TooLarge(_) => Outcome::give_up(too_large()),
            Self::NotNow(error) => Outcome::retry(error),
        }
    }

    fn text(self) -> String {
        match self {
            Self::TooLarge(why) | Self::NotNow(why) => why,
        }
    }
}

/// Why a batch is not settled yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unsettled {
    /// The intake postponed it.
    Store(String),
    /// The dead letters did not take one.
    DeadLetters(String),
}

impl Unsettled {
    pub(crate) fn warn(&self, bus: Bus, again_at: Timestamp) {
        let place = match bus {
            Bus::Kafka => "topic",
            Bus::Nats => "stream",
        };
        let bus = bus.as_str();
        match self {
            Self::Store(why) => {
                tracing::warn!(events.bus = bus, why, %again_at, "the store does not take events; they wait in their {place}");
            }
            Self::DeadLetters(why) => {
                tracing::error!(events.bus = bus, why, %again_at, "cannot write a dead letter; its {place} waits");
            }
        }
    }
}

struct Item {
    message: Incoming,
    state: State,
}

enum State {
    Asks(ChangeRequest),
    Dead { code: &'static str, reason: String },
    Settled,
}

/// Messages that were delivered together.
pub(crate) struct Batch {
    bus: Bus,
    items: Vec<Item>,
}

impl Batch {
    /// Reads what the messages ask for.
    pub(crate) fn read(bus: Bus, messages: Vec<Incoming>, reading: &Reading) -> Self {
        let items = messages.into_iter().map(|message| {
            let state = match understand(&message, reading) {
                Ok(Some(request)) => State::Asks(request),
                Ok(None) => {
                    count(bus, measures::Outcome::PassedOver, 1);
                    State::Settled
                }
                Err(error) => State::Dead {
                    code: error.code(),
                    reason: error.to_string(),
                },
            };
            Item { message, state }
        });
        Self {
            bus,
            items: items.collect(),
        }
    }

    /// Tries everything that is not settled, once.
    pub(crate) async fn round(
        &mut self,
        intake: &dyn Intake,
        letters: &dyn DeadLetters,
    ) -> Result<(), Unsettled> {
        let asked = self.ask(intake).await;
        let buried = self.bury(letters).await;
        asked.and(buried)
    }

    async fn ask(&mut self, intake: &dyn Intake) -> Result<(), Unsettled> {
        let asking = self.items.iter_mut();
        let asking: Vec<&mut Item> = asking.filter(|item| item.request().is_some()).collect();
        let requests: Vec<ChangeRequest> = asking
            .iter()
            .filter_map(|item| item.request().cloned())
            .collect();
        if requests.is_empty() {
            return Ok(());
        }
        let answers = intake.take(requests).await;
        let (mut taken, mut not_now) = (0, Vec::new());
        for (item, answer) in asking.into_iter().zip(answers) {
            match answer {
                Answer::Taken(receipt) => {
                    item.taken(self.bus, &receipt);
                    taken += 1;
                }
                Answer::Refused { reason } => {
                    let code = "refused";
                    item.state = State::Dead { code, reason };
                }
                Answer::NotNow { reason } => not_now.push(reason),
            }
        }
        count(self.bus, measures::Outcome::Taken, taken);
        count(self.bus, measures::Outcome::NotNow, not_now.len());
        match not_now.into_iter().next() {
            Some(why) => Err(Unsettled::Store(why)),
            // An intake that returns fewer answers than requests breaks its contract; ask again.
            None if self.items.iter().any(|item| item.request().is_some()) => {
                Err(Unsettled::Store("an answer is missing".to_owned()))
            }
            None => Ok(()),
        }
    }

    async fn bury(&mut self, letters: &dyn DeadLetters) -> Result<(), Unsettled> {
        let bus = self.bus;
        let burials = self.items.iter_mut().map(|item| item.bury(bus, letters));
        let failed = join_all(burials).await.into_iter().find_map(Result::err);
        failed.map_or(Ok(()), |why| Err(Unsettled::DeadLetters(why)))
    }
}

impl Item {
    fn request(&self) -> Option<&ChangeRequest> {
        match &self.state {
            State::Asks(request) => Some(request),
            State::Dead { .. } | State::Settled => None,
        }
    }

    /// Logged so that a message can be found by its sender's id.
    fn taken(&mut self, bus: Bus, receipt: &Receipt) {
        if let Some(request) = self.request() {
            tracing::debug!(events.bus = bus.as_str(), events.place = %self.message.place, events.id = ?request.id, rule = receipt.rule.as_str(), "message accepted");
        }
        self.state = State::Settled;
    }

    async fn bury(&mut self, bus: Bus, letters: &dyn DeadLetters) -> Result<(), String> {
        let State::Dead { code, reason } = &self.state else {
            return Ok(());
        };
        let reason: String = reason.chars().take(REASON_CHARS_MAX).collect();
        bury(letters, &self.message, &plain(&reason)).await?;
        // The reason may quote the message, so it is kept with the dead letter and not here.
        tracing::warn!(events.bus = bus.as_str(), events.place = %self.message.place, events.refused = code, "invalid message moved to the dead letters, with its reason");
        count(bus, measures::Outcome::DeadLetter, 1);
        self.state = State::Settled;
        Ok(())
    }
}

/// Tries with the whole message, with the beginning of its body, and with nothing but its position:
/// one that is refused for its size would hold up everything behind it for good.
async fn bury(letters: &dyn DeadLetters, message: &Incoming, reason: &str) -> Result<(), String> {
    match letters.bury(message, reason, None).await {
        Err(Refusal::TooLarge(_)) => {}
        done => return done.map_err(Refusal::text),
    }
    let cut = Some(message.body.len());
    let beginning = &message.body[..message.body.len().min(KEPT_BYTES_MAX)];
    let shorter = Incoming {
        body: beginning.to_vec(),
        ..message.clone()
    };
    match letters.bury(&shorter, reason, cut).await {
        Err(Refusal::TooLarge(_)) => {}
        done => return done.map_err(Refusal::text),
    }
    let bare = Incoming {
        headers: Vec::new(),
        key: None,
        body: Vec::new(),
        ..shorter
    };
    let done = letters.bury(&bare, reason, cut).await;
    done.map_err(Refusal::text)
}

/// A header must stay one line.
fn plain(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests;
