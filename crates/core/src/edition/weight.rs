//! Weights: how much the stories of a source count beside those of others.

use std::{collections::BTreeMap, str::FromStr};

/// Least and most, in hundredths: a tenth, and ten times.
const BOUNDS: std::ops::RangeInclusive<u64> = 10..=1_000;

/// How much a source counts, in hundredths; without one, a source counts once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(u64);

impl Weight {
    /// In hundredths.
    pub fn hundredths(self) -> u64 {
        self.0
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self(100)
    }
}

/// Why a weight cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a weight is between 0.1 and 10, with at most two digits after the point")]
pub struct BadWeight;

impl FromStr for Weight {
    type Err = BadWeight;

    fn from_str(text: &str) -> Result<Self, BadWeight> {
        let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), "0"));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if part.len() > 2 || !digits(whole) || !digits(part) {
            return Err(BadWeight);
        }
        let hundredths: u64 = format!("{whole}{part:0<2}")
            .parse()
            .map_err(|_| BadWeight)?;
        let fits = BOUNDS.contains(&hundredths);
        fits.then_some(Self(hundredths)).ok_or(BadWeight)
    }
}

/// Weights of sources, by their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Weights(BTreeMap<String, Weight>);

impl Weights {
    /// Reads `NAME=WEIGHT`, one for each source.
    pub fn parse<T: AsRef<str>>(lines: &[T]) -> Result<Self, BadWeight> {
        let read = |line: &T| {
            let (name, weight) = line.as_ref().rsplit_once('=').ok_or(BadWeight)?;
            Ok((name.trim().to_owned(), weight.parse()?))
        };
        lines.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The weight of the source of this name.
    pub fn of(&self, name: Option<&str>) -> Weight {
        let known = name.and_then(|name| self.0.get(name));
        known.copied().unwrap_or_default()
    }

    /// All that are set.
    pub fn set(&self) -> impl Iterator<Item = (&str, Weight)> {
        self.0.iter().map(|(name, weight)| (name.as_str(), *weight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_a_number_with_two_digits_after_the_point() {
        for (text, expected) in [
            ("2", Some(200)),
            ("0.5", Some(50)),
            ("1.25", Some(125)),
            ("10", Some(1_000)),
            (".5", Some(50)),
            ("0.05", None),
            ("10.01", None),
            ("1.234", None),
            ("-1", None),
            ("1e3", None),
            ("", None),
        ] {
            let read: Result<Weight, BadWeight> = text.parse();
            assert_eq!(read.ok().map(Weight::hundredths), expected, "{text}");
        }
        let weights = Weights::parse(&["A=B = 2"]).unwrap();
        assert_eq!(weights.of(Some("A=B")).hundredths(), 200);
        assert_eq!(weights.of(None), Weight::default());
        assert_eq!(Weights::parse(&["A"]), Err(BadWeight));
    }
}
