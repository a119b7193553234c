//! What a node reports to be wrong with itself: what no other row of the store shows.
//!
//! Every node writes its own troubles beside its heartbeat, and every node's watch reads those of
//! all. So every watching node finds the same, and a trouble is over when its node says so, or is
//! gone itself.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Rule;

/// Something that a node cannot do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The rule that is broken.
    pub rule: Rule,
    pub since: Timestamp,
    /// The facts, for people.
    pub detail: String,
}

/// The troubles of one run of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeTroubles {
    /// The node's name.
    pub node: String,
    /// When it sent its last heartbeat.
    pub seen_at: Timestamp,
    /// What is wrong with it.
    pub troubles: Vec<Trouble>,
}

#[derive(Serialize, Deserialize)]
struct TroubleRecord {
    rule: String,
    since: Timestamp,
    detail: String,
}

impl Trouble {
    /// All of a node's as one text.
    pub fn write_all(troubles: &[Self]) -> String {
        let written = troubles.iter().map(|it| TroubleRecord {
            rule: it.rule.as_str().to_owned(),
            since: it.since,
            detail: it.detail.clone(),
        });
        let written: Vec<TroubleRecord> = written.collect();
        // Texts and instants can always be written as JSON.
        serde_json::to_string(&written).unwrap_or_default()
    }

    /// Reads what [`Self::write_all`] wrote. Rules of newer versions are left out: a node of that
    /// version raises their alerts.
    pub fn read_all(text: &str) -> Result<Vec<Self>, serde_json::Error> {
        let written: Vec<TroubleRecord> = serde_json::from_str(text)?;
        let known = written.into_iter().filter_map(|it| {
            Some(Self {
                rule: Rule::parse(&it.rule)?,
                since: it.since,
                detail: it.detail,
            })
        });
        Ok(known.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn troubles_are_read_as_they_were_written_and_unknown_rules_are_left_out() {
        let troubles = vec![Trouble {
            rule: Rule::Disconnected,
            since: Timestamp::UNIX_EPOCH,
            detail: "nats: \"refused\"".to_owned(),
        }];
        let text = Trouble::write_all(&troubles);
        assert_eq!(Trouble::read_all(&text).unwrap(), troubles);
        let newer = text.replace("disconnected", "a_newer_rule");
        assert_eq!(Trouble::read_all(&newer).unwrap(), []);
        assert!(Trouble::read_all("{").is_err());
    }
}
