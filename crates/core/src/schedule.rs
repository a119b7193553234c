//! Schedules: which instants an expression names.
//!
//! An expression is text that people write (`0 8 * * 1-5`, `@10s`). [`Expression::parse`] reads it
//! strictly and says where and why it refuses; [`Expression::compile`] turns it into a
//! [`Timetable`]: a few machine words in which the next occurrence is found by bit operations. A
//! [`Zone`] says what the wall clock shows at which instant. Nothing here knows the present time.
//!
//! What must stay true:
//!
//! - The next occurrence is strictly later, matches, and skips none; the previous one mirrors it.
//! - Occurrences depend on the expression, the schedule's name and the zone alone, so every node
//!   and every start of a node computes the same ones.
//! - Around a change of the clocks, a *fixed time* (second, minute and hour are values or lists of
//!   values) happens exactly once: at the end of a gap of at most three hours if the clocks skip
//!   it, in the first pass if they show it twice. An *interval* (any `*`, range or step among the
//!   three) follows the clock: skipped in a gap, in both passes of an overlap. A jump of more than
//!   three hours is no daylight saving: what it skips is skipped.
//! - Years run from 1970 to 2199. Whether an expression ever fires is decided by looking at every
//!   month of them, never by giving up after a few years.

mod change;
mod civil;
mod compile;
mod describe;
mod error;
mod expression;
mod field;
mod hash;
mod lint;
mod moved;
mod occurrence;
mod parse;
mod print;
mod search;
mod timetable;
mod zone;

pub use change::{ClockChange, Effect};
pub use error::{Error, Problem, Repair, Span};
pub use expression::Expression;
pub use field::Field;
pub(crate) use field::WEEKDAYS;
pub use hash::hash_of;
pub use lint::{Lint, Warning};
pub use moved::Moves;
pub use parse::Mode;
pub use timetable::Timetable;
pub use zone::Zone;

/// The first year an occurrence can fall in.
pub const YEAR_MIN: u16 = 1970;
/// The last year an occurrence can fall in.
pub const YEAR_MAX: u16 = 2199;
