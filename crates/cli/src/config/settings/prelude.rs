//! The words that tables of settings are written with.

pub(super) use std::path::PathBuf;

pub(super) use almanack_core::secret::Secret;
pub(super) use jiff::SignedDuration;

pub(super) use super::super::{
    key::KeyPath,
    layer::Raw,
    reader::{Reader, Show},
    report::{Place, Problem, Severity},
    table::{
        Choice, Form, Group, Listed, Section, Shape, address, choice, count, days, duration, hours,
        kept, kept_as, millis, minutes, names, path, seconds, secret, sections, settings, text,
        text_as, texts, truth, words, words_of,
    },
    value::{self, Read, fitting},
};
