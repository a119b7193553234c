//! A durable pull consumer that acknowledges a message only once it is settled.
//!
//! Nodes share one durable: the server gives each message to one of them, and to another if it is
//! not acknowledged in time.

use std::{convert::Infallible, time::Duration};

use almanack_core::event::incoming::envelope::{Bus, Incoming, Reading};
use async_nats::jetstream::{self, AckKind};
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::{
    connection::{Connection, Link},
    dead_letters::DeadLetterQueue,
    durable,
    pull::{Next, Pull},
};
use crate::{
    Error, Ports,
    batch::{BYTES_MAX, Batch, MESSAGES_MAX},
    logged::LoggedOnce,
    measures,
    wait_backoff::{WaitBackoff, is_stopped},
};

/// Other nodes may have a message, but not before our own request for messages is gone: given back
/// at once, it would be delivered to that one, and stay unread until the server's ack wait ends.
const HANDED_BACK: AckKind = AckKind::Nak(Some(Duration::from_millis(500)));

/// The settings of a consumer.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How the server is reached.
    pub connection: Connection,
    /// The stream that holds the events.
    pub stream: String,
    /// Which of its subjects; `>` for all.
    pub subject: String,
    /// The consumer's name: nodes with the same one share the work.
    pub durable: String,
    /// Where invalid messages go.
    pub dead_letter: String,
    /// How long the server waits for a sign of life before it delivers a message again, and we for
    /// one from the server; see [`ACK_WITHIN`].
    pub ack_within: Duration,
    /// How messages are read.
    pub reading: Reading,
}

/// Shorter than the server's own 30 seconds: what a dead node had is to be read soon. A node that
/// works on messages says so three times within it. Those that came and are not looked at yet wait
/// for a batch to be settled, which rarely takes a second; where it takes this long they come
/// again, and harm nothing.
pub const ACK_WITHIN: Duration = Duration::from_secs(15);

pub struct Consumer {
    settings: Settings,
    ports: Ports,
}

/// Failures in a row, and what was logged about them.
#[derive(Default)]
struct Course {
    wait_backoff: WaitBackoff,
    logged: LoggedOnce,
}

impl Consumer {
    /// Reads by these settings.
    pub fn new(settings: Settings, ports: Ports) -> Self {
        Self { settings, ports }
    }

    /// Reads until `stop`. Waits for servers and stores that do not answer.
    pub async fn run(self, stop: CancellationToken) {
        let (mut link, mut course) = (None, Course::default());
        self.is_cut_off("not connected yet");
        loop {
            let prepared = tokio::select! {
                () = stop.cancelled() => break,
                prepared = self.prepare(&mut link) => prepared,
            };
            let ended = match prepared {
                Ok((pull, letters)) => self.session(pull, &letters, &stop, &mut course).await,
                Err(error) => Err(error.to_string()),
            };
            let Err(why) = ended else {
                break;
            };
            self.is_cut_off(&why);
            // The client reports its connection by itself.
            if !link.as_ref().is_some_and(Link::is_down) {
                self.complain(&why, &course.logged);
            }
            let again_at = course.wait_backoff.next(&self.ports);
            if is_stopped(&self.ports, again_at, &stop).await {
                break;
            }
        }
        if let Some(link) = link {
            link.flush().await;
        }
    }

    fn complain(&self, error: &str, logged: &LoggedOnce) {
        if logged.is_new(error) {
            tracing::warn!(events.bus = "nats", events.stream = %self.settings.stream, error, "cannot read events; retrying");
        }
    }

    /// The server serves us. Only then is all well: it may accept the setup and still refuse the
    /// request for messages.
    fn is_well(&self, course: &mut Course) {
        course.wait_backoff.renew();
        measures::note_link(&self.ports, Bus::Nats, Ok(()));
        if course.logged.forget() {
            tracing::info!(events.bus = "nats", events.stream = %self.settings.stream, "reading events again");
        }
    }

    /// It does not. How many messages wait there is unknown.
    fn is_cut_off(&self, why: &str) {
        measures::note_link(&self.ports, Bus::Nats, Err(why.to_owned()));
        self.lag(None);
    }

    fn lag(&self, waiting: Option<i64>) {
        let Settings {
            stream, durable, ..
        } = &self.settings;
        measures::lag(Bus::Nats, stream, durable, waiting);
    }

    /// Connects where there is no connection yet, makes everything ready there, and asks for
    /// messages.
    async fn prepare(&self, link: &mut Option<Link>) -> Result<(Pull, DeadLetterQueue), Error> {
        let link = match link {
            Some(link) => link.clone(),
            None => link.insert(self.settings.connection.open().await?).clone(),
        };
        let consumer = durable::prepare(&self.settings, &link).await?;
        let pull = Pull::begin(&consumer, &link, self.settings.ack_within).await;
        let what = "ask for messages";
        let pull = pull.map_err(|why| Error::Unavailable { what, why })?;
        let letters = DeadLetterQueue {
            link,
            subject: self.settings.dead_letter.clone(),
        };
        if let Err(why) = letters.prepare(&self.settings.stream).await {
            tracing::warn!(events.bus = "nats", why, "no stream keeps dead letters");
        }
        Ok((pull, letters))
    }

    /// Reads until stopped, or until it fails; why.
    async fn session(
        &self,
        mut pull: Pull,
        letters: &DeadLetterQueue,
        stop: &CancellationToken,
        course: &mut Course,
    ) -> Result<(), String> {
        loop {
            let next = tokio::select! {
                biased;
                () = stop.cancelled() => {
                    answer(&pull.all_at_once(), HANDED_BACK).await;
                    return Ok(());
                }
                next = pull.next() => next,
            };
            let first = match next? {
                Next::Message(first) => *first,
                Next::Nothing => {
                    self.is_well(course);
                    self.lag(pull.waiting().await);
                    continue;
                }
                Next::Down(why) => {
                    self.is_cut_off(&why);
                    continue;
                }
            };
            self.is_well(course);
            let mut batch = batch_of(first, &mut pull);
            self.measure(&batch);
            if !self.settle((&batch, &pull), letters, stop).await {
                batch.extend(pull.all_at_once());
                answer(&batch, HANDED_BACK).await;
                return Ok(());
            }
        }
    }

    /// Tries a batch until it is settled, then acknowledges it. Returns whether it was; otherwise
    /// we were stopped.
    async fn settle(
        &self,
        (messages, pull): (&[jetstream::Message], &Pull),
        letters: &DeadLetterQueue,
        stop: &CancellationToken,
    ) -> bool {
        let stream = &self.settings.stream;
        let incoming = messages.iter().map(|message| owned(message, stream));
        let batch = Batch::read(Bus::Nats, incoming.collect(), &self.settings.reading);
        let settled = tokio::select! {
            settled = self.work(batch, letters, stop) => settled,
            never = self.hold(messages, pull) => match never {},
        };
        if settled {
            answer(messages, AckKind::Ack).await;
        }
        settled
    }

    /// Round after round, until nothing is left to settle. A round that is under way is never
    /// cancelled.
    async fn work(
        &self,
        mut batch: Batch,
        letters: &DeadLetterQueue,
        stop: &CancellationToken,
    ) -> bool {
        let mut wait_backoff = WaitBackoff::default();
        while let Err(why) = batch.round(self.ports.intake.as_ref(), letters).await {
            let again_at = wait_backoff.next(&self.ports);
            why.warn(Bus::Nats, again_at);
            if is_stopped(&self.ports, again_at, stop).await {
                return false;
            }
        }
        true
    }

    /// Reports regularly that these are being worked on, or the server would give them to another
    /// node that has the same trouble.
    async fn hold(&self, messages: &[jetstream::Message], pull: &Pull) -> Infallible {
        loop {
            let now = self.ports.clock.now();
            let next_at = now.saturating_add(self.settings.ack_within / 3);
            let next_at = next_at.unwrap_or(now);
            self.ports.sleeper.until(next_at).await;
            answer(messages, AckKind::Progress).await;
            // What waits grows while nothing is taken.
            self.lag(pull.waiting().await);
        }
    }

    fn measure(&self, messages: &[jetstream::Message]) {
        let infos = messages.iter().filter_map(|message| message.info().ok());
        let redelivered = infos.clone().filter(|info| info.delivered > 1).count();
        measures::count_redelivered(Bus::Nats, redelivered);
        if let Some(last) = infos.last() {
            self.lag(Some(i64::try_from(last.pending).unwrap_or(i64::MAX)));
        }
    }
}

/// A message and what came with it, as much as one batch takes.
fn batch_of(first: jetstream::Message, pull: &mut Pull) -> Vec<jetstream::Message> {
    let mut bytes = first.payload.len();
    let mut batch = vec![first];
    while batch.len() < MESSAGES_MAX
        && bytes < BYTES_MAX
        && let Some(message) = pull.next_at_once()
    {
        bytes += message.payload.len();
        batch.push(message);
    }
    batch
}

/// One answer for all. A lost one is no harm: the server delivers again.
async fn answer(messages: &[jetstream::Message], kind: AckKind) {
    let sent = messages.iter().map(|message| message.ack_with(kind));
    let failed = join_all(sent).await.into_iter().find_map(Result::err);
    if let Some(error) = failed {
        tracing::debug!(events.bus = "nats", %error, "acknowledge");
    }
}

fn owned(message: &jetstream::Message, stream: &str) -> Incoming {
    let headers = message.headers.iter().flat_map(|headers| headers.iter());
    let headers = headers.flat_map(|(name, values)| {
        let name = name.to_string();
        let values = values.iter();
        values.map(move |value| (name.clone(), value.as_str().as_bytes().to_vec()))
    });
    let number = message.info().map_or(0, |info| info.stream_sequence);
    Incoming {
        bus: Bus::Nats,
        channel: stream.to_owned(),
        place: format!("{stream}@{number}"),
        headers: headers.collect(),
        // NATS has no keys; the end of the subject's name serves as one.
        key: Some(message.subject.as_str().as_bytes().to_vec()),
        body: message.payload.to_vec(),
    }
}
