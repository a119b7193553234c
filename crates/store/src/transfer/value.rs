//! One value in both databases.
//!
//! SQLite has five kinds of values and PostgreSQL many. What a column holds is defined by
//! PostgreSQL; values travel as SQLite knows them, and are written as the text that PostgreSQL's
//! `copy` reads.

use std::fmt::Write as _;

use rusqlite::types::Value;
use tokio_postgres::Row;

/// What PostgreSQL keeps in a column. Another type than these is refused by its name before
/// anything is moved: guessing how it is written would be worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `boolean`; 0 and 1 in SQLite.
    Boolean,
    /// `smallint`, `integer`
    Short,
    Integer,
    /// `bigint`
    Long,
    /// `double precision`
    Real,
    /// `text`
    Text,
    /// `bytea`
    Bytes,
    /// `bigint[]`; a JSON array in SQLite.
    Numbers,
}

impl Kind {
    /// By the name that PostgreSQL gives it.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "boolean" => Self::Boolean,
            "smallint" => Self::Short,
            "integer" => Self::Integer,
            "bigint" => Self::Long,
            "double precision" => Self::Real,
            "text" | "character varying" => Self::Text,
            "bytea" => Self::Bytes,
            "bigint[]" => Self::Numbers,
            _ => return None,
        })
    }

    /// The value of a row's column.
    pub(super) fn read(self, row: &Row, at: usize) -> Result<Value, tokio_postgres::Error> {
        let value = match self {
            Self::Boolean => row
                .try_get::<_, Option<bool>>(at)?
                .map(|is| Value::Integer(is.into())),
            Self::Short => row
                .try_get::<_, Option<i16>>(at)?
                .map(|n| Value::Integer(n.into())),
            Self::Integer => row
                .try_get::<_, Option<i32>>(at)?
                .map(|n| Value::Integer(n.into())),
            Self::Long => row.try_get::<_, Option<i64>>(at)?.map(Value::Integer),
            Self::Real => row.try_get::<_, Option<f64>>(at)?.map(Value::Real),
            Self::Text => row.try_get::<_, Option<String>>(at)?.map(Value::Text),
            Self::Bytes => row.try_get::<_, Option<Vec<u8>>>(at)?.map(Value::Blob),
            Self::Numbers => row.try_get::<_, Option<Vec<i64>>>(at)?.map(|it| array(&it)),
        };
        Ok(value.unwrap_or(Value::Null))
    }

    /// The same value in the one way we write it, or what is wrong with it. SQLite keeps whatever
    /// it was given: a JSON array may have blanks, and a number may stand where a text should.
    pub(super) fn settle(self, value: Value) -> Result<Value, String> {
        match (self, value) {
            (_, Value::Null) => Ok(Value::Null),
            (Self::Numbers, Value::Text(text)) => match serde_json::from_str::<Vec<i64>>(&text) {
                Ok(numbers) => Ok(array(&numbers)),
                Err(error) => Err(format!("a list of numbers cannot be read: {error}")),
            },
            // Whole numbers are kept as such until they are read.
            #[expect(
                clippy::cast_precision_loss,
                reason = "what SQLite itself does on reading"
            )]
            (Self::Real, Value::Integer(number)) => Ok(Value::Real(number as f64)),
            (Self::Text, Value::Text(text)) if text.contains('\0') => {
                Err("a text contains a null byte, which PostgreSQL cannot store".to_owned())
            }
            (Self::Boolean, value @ Value::Integer(0 | 1))
            | (Self::Short | Self::Integer | Self::Long, value @ Value::Integer(_))
            | (Self::Real, value @ Value::Real(_))
            | (Self::Text, value @ Value::Text(_))
            | (Self::Bytes, value @ Value::Blob(_)) => Ok(value),
            (kind, value) => Err(format!(
                "a value has type {}; expected {kind:?}",
                value.data_type()
            )),
        }
    }

    /// Appends the value as `copy` reads it: a backslash is an escape, a tab ends a column, a line
    /// end a row.
    pub(super) fn write(self, value: &Value, line: &mut String) {
        // Writing into a string cannot fail.
        let _ = match value {
            Value::Null => write!(line, "\\N"),
            Value::Integer(number) if self == Self::Boolean => {
                write!(line, "{}", if *number == 0 { 'f' } else { 't' })
            }
            Value::Integer(number) => write!(line, "{number}"),
            // Rust writes the shortest text that reads back as the same number.
            Value::Real(number) => write!(line, "{number:?}"),
            Value::Text(text) if self == Self::Numbers => {
                write!(line, "{{{}}}", text.trim_matches(['[', ']']))
            }
            Value::Text(text) => {
                escape(text, line);
                Ok(())
            }
            Value::Blob(bytes) => {
                line.push_str("\\\\x");
                bytes.iter().try_for_each(|byte| write!(line, "{byte:02x}"))
            }
        };
    }
}

fn array(numbers: &[i64]) -> Value {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    Value::Text(format!("[{}]", numbers.join(",")))
}

fn escape(text: &str, line: &mut String) {
    for character in text.chars() {
        match character {
            '\\' => line.push_str("\\\\"),
            '\t' => line.push_str("\\t"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            other => line.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: Kind, value: Value) -> Result<String, String> {
        let mut line = String::new();
        kind.write(&kind.settle(value)?, &mut line);
        Ok(line)
    }

    #[test]
    fn values_are_written_as_copy_reads_them() {
        let text = |text: &str| Value::Text(text.to_owned());
        for (kind, value, expected) in [
            (Kind::Text, Value::Null, "\\N"),
            (Kind::Text, text("\\N"), "\\\\N"),
            (Kind::Text, text("a\tb\nc\r\\"), "a\\tb\\nc\\r\\\\"),
            (Kind::Boolean, Value::Integer(1), "t"),
            (Kind::Long, Value::Integer(i64::MIN), "-9223372036854775808"),
            (Kind::Real, Value::Real(0.1), "0.1"),
            (Kind::Real, Value::Integer(3), "3.0"),
            (Kind::Bytes, Value::Blob(vec![0, 255]), "\\\\x00ff"),
            (Kind::Numbers, text("[1, 2]"), "{1,2}"),
            (Kind::Numbers, text("[]"), "{}"),
        ] {
            assert_eq!(written(kind, value).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_the_other_database_cannot_hold_is_refused() {
        for (kind, value) in [
            (Kind::Text, Value::Text("a\0".to_owned())),
            (Kind::Text, Value::Integer(1)),
            (Kind::Boolean, Value::Integer(2)),
            (Kind::Long, Value::Text("1".to_owned())),
            (Kind::Numbers, Value::Text("{}".to_owned())),
        ] {
            assert!(written(kind, value.clone()).is_err(), "{value:?}");
        }
    }
}
