//! A checksum of a table, whatever the order of its rows.
//!
//! The two databases sort texts differently, so no order is common to both. Each row has its own
//! digest, and these are added up: two tables with the same rows have the same sum, in any order,
//! and a row that is lost, doubled or altered changes it. It is a guard against mistakes, not
//! against an attacker.

use std::fmt;

use rusqlite::types::Value;
use sha2::{Digest as _, Sha256};

/// How many rows a table has, and the sum of their digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    pub rows: u64,
    /// Their digests added up.
    pub checksum: u128,
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows, {:032x}", self.rows, self.checksum)
    }
}

impl Sum {
    /// With one more row. Every value is preceded by what it is and how long it is: two rows that
    /// differ only in where one text ends and the next begins must not look alike.
    pub(super) fn add(&mut self, row: &[Value]) {
        let mut hash = Sha256::new();
        for value in row {
            match value {
                Value::Null => hash.update([0]),
                Value::Integer(number) => {
                    hash.update([1]);
                    hash.update(number.to_be_bytes());
                }
                Value::Real(number) => {
                    hash.update([2]);
                    hash.update(number.to_bits().to_be_bytes());
                }
                Value::Text(text) => counted(&mut hash, 3, text.as_bytes()),
                Value::Blob(bytes) => counted(&mut hash, 4, bytes),
            }
        }
        let mut half = [0; 16];
        half.copy_from_slice(&hash.finalize()[..16]);
        self.checksum = self.checksum.wrapping_add(u128::from_be_bytes(half));
        self.rows += 1;
    }
}

impl Sum {
    pub(super) fn extend(&mut self, rows: &[Vec<Value>]) {
        for row in rows {
            self.add(row);
        }
    }
}

fn counted(hash: &mut Sha256, kind: u8, bytes: &[u8]) {
    hash.update([kind]);
    hash.update((bytes.len() as u64).to_be_bytes());
    hash.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn sum(rows: &[Vec<Value>]) -> Sum {
        let mut sum = Sum::default();
        for row in rows {
            sum.add(row);
        }
        sum
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_everything_else_does() {
        let one = vec![Value::Integer(1), text("ab"), text("c")];
        let two = vec![Value::Integer(2), Value::Null, Value::Real(0.5)];
        let both = sum(&[one.clone(), two.clone()]);
        assert_eq!(both, sum(&[two.clone(), one.clone()]));
        for (why, other) in [
            ("a row is lost", vec![one.clone()]),
            (
                "a row is doubled",
                vec![one.clone(), one.clone(), two.clone()],
            ),
            (
                "a text ends elsewhere",
                vec![vec![Value::Integer(1), text("a"), text("bc")], two.clone()],
            ),
            (
                "a number became a text",
                vec![vec![text("1"), text("ab"), text("c")], two],
            ),
        ] {
            assert_ne!(both, sum(&other), "{why}");
        }
    }
}
