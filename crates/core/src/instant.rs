//! Instants and days as people write them: `2026-12-24T18:00:00Z`, `2026-12-24`.
//!
//! As of [`crate::duration`], a mistake is answered in the same words everywhere.

use jiff::{Timestamp, civil::Date};
use serde::{Deserialize as _, Deserializer};

use crate::{both, lang::reader::refuse, time::parse_instant};

/// Reads a field that may be absent; beside `#[serde(default)]`.
pub fn optional<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else {
        return Ok(None);
    };
    let read = parse_instant(&text).map_err(|_| {
        refuse(&both!(
            "`{text}` is not an instant; write it like 2026-12-24T18:00:00Z",
            "`{text}` 不是时刻；请写成 2026-12-24T18:00:00Z 的形式"
        ))
    });
    read.map(Some)
}

/// Reads a day.
pub fn day<'de, D: Deserializer<'de>>(from: D) -> Result<Date, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|_| {
        refuse(&both!(
            "`{text}` is not a day; write it like 2026-12-24",
            "`{text}` 不是日期；请写成 2026-12-24 的形式"
        ))
    })
}

#[cfg(test)]
mod tests {
    use crate::{calendar, plan};

    fn of_calendar(json: &str) -> String {
        let read = serde_json::from_str::<calendar::Definition>(json);
        read.unwrap_err().to_string()
    }

    fn of_schedule(field: &str) -> String {
        let json = format!(r#"{{"expression":"@daily",{field},"target":{{"type":"ping"}}}}"#);
        let read = serde_json::from_str::<plan::Definition>(&json);
        read.unwrap_err().to_string()
    }

    #[test]
    fn dp_21_a_mistake_in_a_day_is_answered_in_our_own_words() {
        for (json, expected) in [
            (
                r#"{"dates":[{"on":"2030-13-01"}]}"#,
                "`2030-13-01` is not a day; write it like 2026-12-24",
            ),
            (r#"{"dates":["2030-12-01"]}"#, "expected a day with its key"),
        ] {
            let said = of_calendar(json);
            assert!(said.contains(expected), "{said}");
        }
        for (field, expected) in [
            (
                r#""starts_at":"x""#,
                "`x` is not an instant; write it like 2026-12-24T18:00:00Z",
            ),
            (r#""ends_at":"2026-13-01T00:00:00Z""#, "is not an instant"),
            (
                r#""also":["@daily"]"#,
                "expected an expression with its key",
            ),
            (r#""run_timeout":"soon""#, "`soon` is not a duration"),
            (r#""jitter":"5""#, "did you mean \"5s\"?"),
        ] {
            let said = of_schedule(field);
            assert!(said.contains(expected), "{said}");
        }
    }
}
