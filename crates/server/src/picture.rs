//! Pictures: a source's week as a separate file for the API and the command line ([`week`]), and
//! the pictures of the dashboard.
//!
//! A small chart module: every picture is a pure function of plain values, the reader's language
//! and zone; time is an argument. Pages embed the drawings, styled by the classes of one style
//! sheet that follows the reader's light or dark scheme (`picture.css`, part of the dashboard's).
//! `svg` writes all of them, including those of the command line. `figure` (caption, sentence,
//! drawing, table) and `outcome` (shapes and colours) contain what pictures on pages share; `axis`,
//! `clock` and `span` handle positions, instants and durations.

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

/// What every picture is made of.
mod prelude {
    pub(super) use jiff::tz::TimeZone;
    pub(super) use maud::{Markup, Render, html};

    pub(super) use super::axis::{Scale, TimeScale, number_axis};
    pub(super) use super::figure::{self, Cell, Figure, Frame, Marks, mark};
    pub(super) use super::outcome::{Counts, Outcome, icon, legend};
    pub(super) use super::svg::{
        self, Px, across, at, disc, down, finite, fit, path, real, rect, rounded, rungs, text,
        titled,
    };
    pub(super) use super::{clock, span};
    pub(super) use crate::prelude::*;
    pub(super) use almanack_core::{lang::Lang, say, words};
}

#[cfg(test)]
mod tests;
