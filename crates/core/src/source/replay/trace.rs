//! Recorded publication times: lines of a source's id, a tab and seconds of the epoch.

use std::collections::BTreeMap;

/// The times of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub source: String,
    /// When it published, ascending, in seconds of the epoch.
    pub published_s: Vec<i64>,
}

/// Traces that are being read, line by line.
#[derive(Debug, Default)]
pub struct Traces(BTreeMap<String, Vec<i64>>);

/// Why a line is no entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    #[error("a line is `source<TAB>seconds`, and this one has no tab")]
    NoTab,
    /// Nothing before the tab.
    #[error("the source has no id")]
    NoSource,
    /// What follows the tab is no number of seconds.
    #[error("`{0}` is not a number of seconds since 1970")]
    NoTime(String),
}

/// Times of other centuries are no publication times: 1970 to 2199, as schedules know.
const LATEST_S: i64 = 7_258_118_400;

impl Traces {
    /// Reads one line. Empty lines and lines that begin with `#` say nothing.
    pub fn line(&mut self, line: &str) -> Result<(), BadLine> {
        let line = line.trim_end_matches(['\r', '\n']);
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let (source, time) = line.split_once('\t').ok_or(BadLine::NoTab)?;
        let source = source.trim();
        if source.is_empty() {
            return Err(BadLine::NoSource);
        }
        let bad = || BadLine::NoTime(time.chars().take(40).collect());
        let second: i64 = time.trim().parse().map_err(|_| bad())?;
        if !(0..LATEST_S).contains(&second) {
            return Err(bad());
        }
        match self.0.get_mut(source) {
            Some(times) => times.push(second),
            None => drop(self.0.insert(source.to_owned(), vec![second])),
        }
        Ok(())
    }

    /// All sources, by id, each in ascending order.
    pub fn finish(self) -> Vec<Trace> {
        let sorted = |(source, mut published_s): (String, Vec<i64>)| {
            published_s.sort_unstable();
            Trace {
                source,
                published_s,
            }
        };
        self.0.into_iter().map(sorted).collect()
    }
}
