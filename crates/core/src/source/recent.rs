//! The last looks at a source, in its own row.
//!
//! A source is looked at for ever, so a history row per look would grow without end. The newest few
//! are what people ask about; they fit into a few hundred bytes that are written with the row
//! anyway.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use super::check::FailureClass;

/// How many looks are remembered.
pub const RECENT_MAX: usize = 24;
/// Bytes of one look: when (8), how long (4), what (1), how many (1).
const LOOK_BYTES: usize = 14;
/// What marks a look that failed; the class comes after.
const FAILED: u8 = 16;

/// The outcome of a look, for the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    /// New entries: so many, counted to 255.
    New(u8),
    /// A document with nothing new.
    Nothing,
    /// "Not modified".
    Unchanged,
    /// A failure of this class.
    Failed(FailureClass),
}

impl CheckOutcome {
    /// The name used in the API and the metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New(_) => "new",
            Self::Nothing => "nothing",
            Self::Unchanged => "unchanged",
            Self::Failed(class) => class.as_str(),
        }
    }
}

/// The outcome of a look, on the wire.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = CheckResult))]
struct CheckOutcomeOnWire {
    /// `new`, `nothing`, `unchanged`, or the kind of failure.
    outcome: &'static str,
    /// How many new entries, counted to 255.
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<u8>,
}

impl Serialize for CheckOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (outcome, entries) = match self {
            Self::New(count) => ("new", Some(*count)),
            other => (other.as_str(), None),
        };
        CheckOutcomeOnWire { outcome, entries }.serialize(serializer)
    }
}

/// One look that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PastLook {
    /// When it was made.
    pub at: Timestamp,
    /// How long it took, in milliseconds.
    pub took_ms: u32,
    /// Its outcome.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schema(value_type = CheckOutcomeOnWire))]
    pub outcome: CheckOutcome,
}

/// The last looks, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recent(Vec<PastLook>);

impl Recent {
    /// Adds a look; the oldest makes room.
    pub fn add(&mut self, look: PastLook) {
        self.0.push(look);
        let over = self.0.len().saturating_sub(RECENT_MAX);
        self.0.drain(..over);
    }

    /// All of them, oldest first.
    pub fn looks(&self) -> &[PastLook] {
        &self.0
    }

    /// As the store keeps it.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.len() * LOOK_BYTES);
        for look in &self.0 {
            let (what, count) = match look.outcome {
                CheckOutcome::New(count) => (0, count),
                CheckOutcome::Nothing => (1, 0),
                CheckOutcome::Unchanged => (2, 0),
                CheckOutcome::Failed(class) => (FAILED, class as u8),
            };
            bytes.extend(look.at.as_microsecond().to_be_bytes());
            bytes.extend(look.took_ms.to_be_bytes());
            bytes.extend([what, count]);
        }
        bytes
    }

    /// What the store kept. A look that cannot be read is left out: this is for people to see, and
    /// not worth losing a source over.
    pub fn decode(bytes: &[u8]) -> Self {
        let (looks, _) = bytes.as_chunks::<LOOK_BYTES>();
        Self(looks.iter().filter_map(decode_look).collect())
    }
}

fn decode_look(bytes: &[u8; LOOK_BYTES]) -> Option<PastLook> {
    let (at, rest) = bytes.split_first_chunk::<8>()?;
    let (took_ms, rest) = rest.split_first_chunk::<4>()?;
    let &[what, count] = rest else { return None };
    let outcome = match what {
        0 => CheckOutcome::New(count),
        1 => CheckOutcome::Nothing,
        2 => CheckOutcome::Unchanged,
        FAILED => CheckOutcome::Failed(*FailureClass::ALL.get(usize::from(count))?),
        _ => return None,
    };
    Some(PastLook {
        at: Timestamp::from_microsecond(i64::from_be_bytes(*at)).ok()?,
        took_ms: u32::from_be_bytes(*took_ms),
        outcome,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_looks_survive_the_store() {
        let mut recent = Recent::default();
        let classes = FailureClass::ALL.into_iter().map(CheckOutcome::Failed);
        let others = [
            CheckOutcome::New(7),
            CheckOutcome::Nothing,
            CheckOutcome::Unchanged,
        ];
        for (n, outcome) in others.into_iter().chain(classes).chain(others).enumerate() {
            recent.add(PastLook {
                at: Timestamp::from_second(i64::try_from(n).unwrap()).unwrap(),
                took_ms: u32::MAX,
                outcome,
            });
        }
        assert_eq!(Recent::decode(&recent.encode()), recent);
        assert_eq!(recent.looks().len(), 22);
    }

    #[test]
    fn the_oldest_look_makes_room_and_damage_costs_only_what_is_damaged() {
        let mut recent = Recent::default();
        for second in 0..100 {
            recent.add(PastLook {
                at: Timestamp::from_second(second).unwrap(),
                took_ms: 1,
                outcome: CheckOutcome::Nothing,
            });
        }
        assert_eq!(recent.looks().len(), RECENT_MAX);
        assert_eq!(recent.looks()[0].at.as_second(), 100 - 24);
        let mut bytes = recent.encode();
        bytes[12] = 99;
        assert_eq!(Recent::decode(&bytes).looks().len(), RECENT_MAX - 1);
        assert_eq!(Recent::decode(&[1, 2, 3]), Recent::default());
    }
}
