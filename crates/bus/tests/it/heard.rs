//! The log of everything that runs on the thread of a test: such a test has one thread.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    sync::{Arc, Mutex},
};

use tracing::subscriber::DefaultGuard;

/// Keeps all lines from here on.
pub(crate) struct Heard {
    paper: Paper,
    _listening: DefaultGuard,
}

impl Heard {
    pub(crate) fn listen() -> Self {
        let paper = Paper::default();
        let written = paper.clone();
        let logging = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing::Level::DEBUG)
            .with_writer(move || written.clone())
            .finish();
        Self {
            paper,
            _listening: tracing::subscriber::set_default(logging),
        }
    }

    pub(crate) fn all(&self) -> String {
        let bytes = self.paper.0.lock().unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Each line with these words occurs once, and there are at most `max`: one trouble may have
    /// several names.
    pub(crate) fn assert_each_once(&self, words: &str, max: usize) {
        let all = self.all();
        let lines = all.lines().filter(|line| line.contains(words));
        // Without the instant in front.
        let found = lines.filter_map(|line| line.split_once(' '));
        let found: Vec<&str> = found.map(|(_, found)| found).collect();
        let distinct: BTreeSet<&str> = found.iter().copied().collect();
        assert_eq!(found.len(), distinct.len(), "each trouble once: {all}");
        assert!((1..=max).contains(&found.len()), "{all}");
    }

    /// How many lines have these words.
    pub(crate) fn count(&self, words: &str) -> usize {
        let all = self.all();
        all.lines().filter(|line| line.contains(words)).count()
    }
}

#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
