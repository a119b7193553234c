//! Numeric filters: a field, a sign and a number.

use super::{Error, Sight};

/// What a filter compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The time in seconds.
    CreatedAt,
    /// The points; an item without them never passes.
    Points,
    /// The comments of a story.
    Comments,
}

/// How a filter compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `=`
    Equal,
    /// `>=`
    MoreOrEqual,
    /// `>`
    More,
}

/// One numeric filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// What.
    pub field: Field,
    /// How.
    pub comparison: Comparison,
    /// With what.
    pub value: i64,
}

impl Filter {
    fn parse(text: &str) -> Option<Self> {
        let start = text.find(['<', '>', '='])?;
        let (name, rest) = text.split_at(start);
        let field = match name.trim() {
            "created_at_i" => Field::CreatedAt,
            "points" => Field::Points,
            "num_comments" => Field::Comments,
            _ => return None,
        };
        // The longer ones first: `>` is also how `>=` begins.
        let (comparison, value) = [
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::MoreOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::More),
            ("=", Comparison::Equal),
        ]
        .into_iter()
        .find_map(|(sign, comparison)| Some((comparison, rest.strip_prefix(sign)?)))?;
        let value = value.trim().parse().ok()?;
        Some(Self {
            field,
            comparison,
            value,
        })
    }

    pub(super) fn passes(self, sight: Sight<'_>) -> bool {
        let held = match self.field {
            Field::CreatedAt => Some(sight.created_at_s),
            Field::Points => sight.points,
            Field::Comments => Some(sight.comments),
        };
        let Some(held) = held else { return false };
        match self.comparison {
            Comparison::Less => held < self.value,
            Comparison::LessOrEqual => held <= self.value,
            Comparison::Equal => held == self.value,
            Comparison::MoreOrEqual => held >= self.value,
            Comparison::More => held > self.value,
        }
    }
}

/// All of them, joined by commas.
pub(super) fn parse(text: &str) -> Result<Vec<Filter>, Error> {
    let parts = text.split(',').map(str::trim).filter(|it| !it.is_empty());
    let parsed = parts.map(|it| Filter::parse(it).ok_or_else(|| Error::Filter(it.to_owned())));
    parsed.collect()
}
