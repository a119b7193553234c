//! Pictures: of a source's week, as a file of its own that the API and the command line give ([`week`]), and
//! those of the dashboard's pages.
//!
//! A small chart module of our own: every picture is a pure function of plain values, the reader's language and
//! zone; time is an argument. Pages hold the drawings themselves, styled by the classes of one style sheet, which
//! follows the reader's light or dark scheme (`picture.css`, a part of the dashboard's). All of them, and those of
//! the command line, are written by `svg`; what the ones on pages have in common stands in `figure` (a caption, a
//! sentence, the drawing, the numbers as a table) and `outcome` (shapes and colours); `axis`, `clock` and `span`
//! know about places, instants and lengths.

pub mod svg;
pub mod week;

pub(crate) mod against;
pub(crate) mod axis;
pub(crate) mod burn;
pub(crate) mod clock;
pub(crate) mod figure;
pub(crate) mod grid;
pub(crate) mod heat;
pub(crate) mod histogram;
mod hours;
pub(crate) mod life;
pub(crate) mod outcome;
pub(crate) mod ribbon;
pub(crate) mod span;
pub(crate) mod spark;
pub(crate) mod steps;
pub(crate) mod strip;

#[cfg(test)]
mod tests;
