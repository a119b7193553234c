//! A member of a consumer group that commits a message only once it is settled.
//!
//! One batch at a time: gather what is there, settle it, store and commit the offsets behind it.
//! While a batch cannot be settled the partitions are paused and the client is polled on, because a
//! member that does not poll is put out of its group and its messages would go to a node that has
//! the same trouble.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::event::incoming::envelope::{Bus, Incoming};
use futures_util::FutureExt as _;
use jiff::Timestamp;
use rdkafka::{
    Message, Offset, TopicPartitionList,
    consumer::{CommitMode, Consumer as _, StreamConsumer},
    error::KafkaError,
    message::{BorrowedMessage, Headers as _},
};
use tokio_util::sync::CancellationToken;

use super::{
    connection::{Trouble, created, describe, log_harmless, trouble},
    context::Context,
    dead_letters::DeadLetterQueue,
    settings::Settings,
    topic::place,
};
use crate::{
    Error, Ports,
    batch::{BYTES_MAX, Batch, MESSAGES_MAX},
    logged::LoggedOnce,
    measures,
    wait_backoff::{WaitBackoff, is_stopped},
};

pub struct Consumer {
    settings: Settings,
    ports: Ports,
}

type Client = StreamConsumer<Context>;

impl Consumer {
    /// Reads by these settings.
    pub fn new(settings: Settings, ports: Ports) -> Self {
        Self { settings, ports }
    }

    /// Reads until `stop`. Waits for brokers and stores that do not answer.
    pub async fn run(self, stop: CancellationToken) {
        let mut wait_backoff = WaitBackoff::default();
        measures::note_link(&self.ports, Bus::Kafka, Err("not connected yet".to_owned()));
        loop {
            let ended = match self.connect() {
                Ok((client, letters)) => self.session(client, letters, &stop).await,
                Err(error) => Err(error.to_string()),
            };
            let Err(error) = ended else {
                return;
            };
            measures::note_link(&self.ports, Bus::Kafka, Err(error.clone()));
            let again_at = wait_backoff.next(&self.ports);
            tracing::warn!(events.bus = "kafka", error, %again_at, "reading events failed; connecting again");
            if is_stopped(&self.ports, again_at, &stop).await {
                return;
            }
        }
    }

    fn connect(&self) -> Result<(Client, DeadLetterQueue), Error> {
        let Settings {
            connection,
            topic,
            group,
            dead_letter,
            silence,
            ..
        } = &self.settings;
        let mut config = connection.client();
        config.set("group.id", group);
        config.set("enable.auto.commit", "false");
        config.set("enable.auto.offset.store", "false");
        // A new group must not miss what was written before it.
        config.set("auto.offset.reset", "earliest");
        // Partitions that stay are not taken away and given back whenever a node comes or goes.
        config.set("partition.assignment.strategy", "cooperative-sticky");
        config.set("session.timeout.ms", silence.as_millis().to_string());
        let beat = silence.as_millis() / 4;
        config.set("heartbeat.interval.ms", beat.to_string());
        config.set("statistics.interval.ms", "5000");
        config.set("queued.max.messages.kbytes", "16384");
        let client: Client = created(config.create_with_context(Context::of(topic, &self.ports)))?;
        created(client.subscribe(&[topic]))?;
        Ok((client, DeadLetterQueue::new(connection, dead_letter)?))
    }

    async fn session(
        &self,
        client: Client,
        letters: DeadLetterQueue,
        stop: &CancellationToken,
    ) -> Result<(), String> {
        let session = Session {
            troubles: LoggedOnce::default(),
            settings: &self.settings,
            ports: &self.ports,
            client: Arc::new(client),
            letters,
            stop,
        };
        let ended = session.read().await;
        let client = session.client;
        // Both wait for the cluster, and the last one leaves the group.
        let closed = tokio::task::spawn_blocking(move || {
            log_harmless(
                client.commit_consumer_state(CommitMode::Sync),
                "last commit",
            );
            drop(client);
        });
        if let Err(error) = closed.await {
            tracing::warn!(events.bus = "kafka", %error, "leave the group");
        }
        ended
    }
}

struct Session<'a> {
    settings: &'a Settings,
    ports: &'a Ports,
    client: Arc<Client>,
    letters: DeadLetterQueue,
    stop: &'a CancellationToken,
    /// Warnings since events were last read.
    troubles: LoggedOnce,
}

/// Messages that were delivered and the offsets behind them.
#[derive(Default)]
struct PendingMessages {
    messages: Vec<Incoming>,
    bytes: usize,
    behind: BTreeMap<i32, i64>,
}

impl PendingMessages {
    fn push(&mut self, message: &BorrowedMessage<'_>) {
        let behind = self.behind.entry(message.partition()).or_insert(0);
        *behind = (*behind).max(message.offset() + 1);
        let message = owned(message);
        self.bytes += message.body.len();
        self.messages.push(message);
    }

    fn is_full(&self) -> bool {
        self.messages.len() >= MESSAGES_MAX || self.bytes >= BYTES_MAX
    }
}

impl Session<'_> {
    /// Batch after batch, until stopped or until the client has failed for good.
    async fn read(&self) -> Result<(), String> {
        let mut held = PendingMessages::default();
        let mut wait_backoff = WaitBackoff::default();
        loop {
            if let Some((code, why)) = self.client.client().fatal_error() {
                return Err(format!("{code}: {why}"));
            }
            if held.messages.is_empty() {
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => return Ok(()),
                    got = self.client.recv() => match got {
                        Ok(message) => held.push(&message),
                        Err(error) => {
                            self.complain(&error);
                            let until = wait_backoff.next(self.ports);
                            if self.wait(until, &mut held).await { return Ok(()) }
                            self.turn(Flow::Resume);
                            continue;
                        }
                    },
                }
            }
            self.gather(&mut held);
            self.relieve();
            wait_backoff.renew();
            let batch = std::mem::take(&mut held);
            if !self.settle(batch, &mut held).await {
                return Ok(());
            }
        }
    }

    /// Adds what is there already, without waiting.
    fn gather(&self, held: &mut PendingMessages) {
        while !held.is_full() {
            match self.client.recv().now_or_never() {
                Some(Ok(message)) => held.push(&message),
                Some(Err(error)) => return self.complain(&error),
                None => return,
            }
        }
    }

    /// Tries a batch until it is settled, then commits it. Returns whether it was; otherwise we
    /// were stopped.
    async fn settle(&self, gathered: PendingMessages, held: &mut PendingMessages) -> bool {
        let PendingMessages {
            messages, behind, ..
        } = gathered;
        let mut batch = Batch::read(Bus::Kafka, messages, &self.settings.reading);
        let (intake, mut wait_backoff) = (self.ports.intake.as_ref(), WaitBackoff::default());
        let mut paused = false;
        while let Err(why) = batch.round(intake, &self.letters).await {
            let again_at = wait_backoff.next(self.ports);
            why.warn(Bus::Kafka, again_at);
            paused = true;
            if self.wait(again_at, held).await {
                return false;
            }
        }
        self.forget(&behind);
        if paused {
            tracing::info!(events.bus = "kafka", "the store takes events again");
            self.turn(Flow::Resume);
        }
        true
    }

    /// Waits with all partitions paused, polling on. Returns whether we were stopped.
    async fn wait(&self, until: Timestamp, held: &mut PendingMessages) -> bool {
        self.turn(Flow::Pause);
        let sleep = self.ports.sleeper.until(until);
        tokio::pin!(sleep);
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return true,
                () = &mut sleep => return false,
                got = self.client.recv() => {
                    // From a partition that was given to us meanwhile: it waits its turn.
                    if let Ok(message) = got { held.push(&message) }
                    self.turn(Flow::Pause);
                }
            }
        }
    }

    /// Pauses or resumes whatever we have been given.
    fn turn(&self, flow: Flow) {
        let turned = self.client.assignment().and_then(|given| match flow {
            Flow::Pause => self.client.pause(&given),
            Flow::Resume => self.client.resume(&given),
        });
        log_harmless(turned, "pause or resume");
    }

    /// Stores and commits the offsets behind a settled batch. A partition that moved to another
    /// node refuses, rightly.
    fn forget(&self, behind: &BTreeMap<i32, i64>) {
        for (partition, offset) in behind {
            let mut list = TopicPartitionList::new();
            let added = list.add_partition_offset(
                &self.settings.topic,
                *partition,
                Offset::Offset(*offset),
            );
            if let Err(error) = added.and_then(|()| self.client.store_offsets(&list)) {
                tracing::debug!(
                    events.bus = "kafka",
                    partition,
                    error = describe(&error),
                    "store offset"
                );
            }
        }
        log_harmless(
            self.client.commit_consumer_state(CommitMode::Async),
            "commit",
        );
    }

    fn complain(&self, error: &KafkaError) {
        // Brokers that all refuse count as "down", too; that would only hide the reason.
        if trouble(error) == Some(Trouble::Unreachable) && !self.troubles.is_empty() {
            return;
        }
        let error = describe(error);
        self.client.context().hear(&error);
        if self.troubles.is_new(&error) {
            tracing::warn!(events.bus = "kafka", events.topic = %self.settings.topic, error, "cannot read events; retrying");
        }
    }

    /// Logs that all trouble is over, if there was any.
    fn relieve(&self) {
        if self.troubles.forget() {
            self.client.context().relieve();
            tracing::info!(events.bus = "kafka", events.topic = %self.settings.topic, "reading events again");
        }
    }
}

#[derive(Clone, Copy)]
enum Flow {
    Pause,
    Resume,
}

fn owned(message: &BorrowedMessage<'_>) -> Incoming {
    let headers = message.headers().map(|headers| {
        let headers = headers.iter();
        let owned = headers.map(|header| {
            let value = header.value.unwrap_or_default();
            (header.key.to_owned(), value.to_vec())
        });
        owned.collect()
    });
    Incoming {
        bus: Bus::Kafka,
        channel: message.topic().to_owned(),
        place: place(message.topic(), message.partition(), message.offset()),
        headers: headers.unwrap_or_default(),
        key: message.key().map(<[u8]>::to_vec),
        body: message.payload().unwrap_or_default().to_vec(),
    }
}
