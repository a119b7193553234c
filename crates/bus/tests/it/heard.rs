//! What is said in the log, by everything that runs on the thread of a test: such a test has one thread.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use tracing::subscriber::DefaultGuard;

/// Keeps what is said from here on.
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
