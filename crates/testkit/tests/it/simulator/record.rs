//! What happened, in order, and the first thing that should not have.

use std::{
    fmt::Display,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::time::TrueClock;

/// The log of one simulation. It ends at the first violation: what happens afterwards explains
/// nothing.
pub(super) struct Record {
    truth: TrueClock,
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    lines: Vec<String>,
    broken: Option<String>,
}

impl Record {
    pub(super) fn new(truth: TrueClock) -> Self {
        let pages = Mutex::default();
        Self { truth, pages }
    }

    pub(super) fn note(&self, who: &str, what: impl Display) {
        let at = self.truth.elapsed().as_secs_f64();
        let mut pages = self.pages();
        if pages.broken.is_none() {
            pages.lines.push(format!("{at:>9.3}  {who:<10} {what}"));
        }
    }

    /// Something happened that must not. Only the first such thing is kept.
    pub(super) fn broke(&self, what: impl Display) {
        self.note("CHECK", &what);
        self.pages().broken.get_or_insert(what.to_string());
    }

    /// [`Record::broke`], for checks that answer with what is wrong.
    pub(super) fn check(&self, checked: Result<(), String>) {
        if let Err(what) = checked {
            self.broke(what);
        }
    }

    pub(super) fn broken(&self) -> Option<String> {
        self.pages().broken.clone()
    }

    pub(super) fn is_broken(&self) -> bool {
        self.pages().broken.is_some()
    }

    pub(super) fn take_lines(&self) -> Vec<String> {
        std::mem::take(&mut self.pages().lines)
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
