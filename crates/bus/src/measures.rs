//! What is counted about messages, under the same names for every bus.

use almanack_core::event::incoming::envelope::Bus;

use crate::Ports;

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The store has its effect.
    Taken,
    /// It was about something else.
    PassedOver,
    /// It is among the dead letters.
    DeadLetter,
    /// It has to wait; counted every time.
    NotNow,
}

/// Counts messages that came to an outcome.
pub(crate) fn count(bus: Bus, outcome: Outcome, many: usize) {
    let outcome = match outcome {
        Outcome::Taken => "taken",
        Outcome::PassedOver => "passed_over",
        Outcome::DeadLetter => "dead_letter",
        Outcome::NotNow => "not_now",
    };
    metrics::counter!("almanack_events_total", "bus" => bus.as_str(), "outcome" => outcome)
        .increment(many as u64);
}

/// Counts messages that the bus says it has delivered before.
pub(crate) fn count_redelivered(bus: Bus, many: usize) {
    metrics::counter!("almanack_events_redelivered_total", "bus" => bus.as_str())
        .increment(many as u64);
}

/// A bus is connected and serves us, or why not.
pub(crate) fn note_link(ports: &Ports, bus: Bus, state: Result<(), String>) {
    let connected = f64::from(u8::from(state.is_ok()));
    metrics::gauge!("almanack_bus_connected", "bus" => bus.as_str()).set(connected);
    ports.links.note(bus, ports.clock.now(), state);
}

/// How many messages wait for us. Where that is unknown, an old number would look as if nothing
/// came; what is not a number is not shown.
pub(crate) fn lag(bus: Bus, topic: &str, partition: &str, waiting: Option<i64>) {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a gauge: beyond 2^53 messages it need not be exact"
    )]
    let waiting = waiting.map_or(f64::NAN, |waiting| waiting as f64);
    metrics::gauge!("almanack_events_lag", "bus" => bus.as_str(), "topic" => topic.to_owned(), "partition" => partition.to_owned())
        .set(waiting);
}
