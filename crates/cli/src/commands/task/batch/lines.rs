//! The lines of a batch, however long the file is and however little sense it makes.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
};

use crate::commands::prelude::*;

/// Lines put in one go: enough to share commits, few enough to show progress.
const CHUNK_LINES: usize = 1_000;
/// Bytes put in one go, unless one line is longer: a body of the API holds twice as many.
const CHUNK_BYTES: usize = 8 * 1024 * 1024;
/// Longest line: what a body of the API holds.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A line of the file.
pub(super) struct Line {
    /// From 1; blank lines count.
    pub(super) number: usize,
    pub(super) text: String,
}

/// Opens a file, or standard input for `-`; with its size, where that is known.
pub(super) fn open(file: &str) -> Result<(Box<dyn BufRead>, Option<u64>)> {
    if file == "-" {
        return Ok((Box::new(BufReader::new(io::stdin())), None));
    }
    let opened =
        File::open(file).map_err(|error| Failure::usage(format!("open `{file}`: {error}")))?;
    let bytes = opened
        .metadata()
        .ok()
        .map(|about| about.len())
        .filter(|bytes| *bytes > 0);
    Ok((Box::new(BufReader::new(opened)), bytes))
}

/// The lines of a file, however long it is and however little sense it makes.
pub(super) struct Lines {
    input: Box<dyn BufRead>,
    number: usize,
}

impl Lines {
    /// Starts at the first line.
    pub(super) fn new(input: Box<dyn BufRead>) -> Self {
        Self { input, number: 0 }
    }

    /// Up to [`CHUNK_LINES`] lines with something on them; none at the end.
    pub(super) fn next_chunk(&mut self) -> Result<Vec<Line>> {
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        while chunk.len() < CHUNK_LINES && bytes < CHUNK_BYTES {
            let Some(text) = self.next_line()? else {
                break;
            };
            bytes += text.len();
            if !text.trim().is_empty() {
                chunk.push(Line {
                    number: self.number,
                    text,
                });
            }
        }
        Ok(chunk)
    }

    fn next_line(&mut self) -> Result<Option<String>> {
        let mut bytes = Vec::new();
        let most = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
        let read = self.input.by_ref().take(most).read_until(b'\n', &mut bytes);
        self.number += 1;
        let at_line = |what: &str| Failure::usage(format!("read line {}: {what}", self.number));
        match read.map_err(|error| at_line(&error.to_string()))? {
            0 => Ok(None),
            length if length >= LINE_BYTES_MAX && !bytes.ends_with(b"\n") => {
                Err(at_line(&format!("longer than {LINE_BYTES_MAX} bytes")))
            }
            _ => String::from_utf8(bytes)
                .map(Some)
                .map_err(|_| at_line("not UTF-8")),
        }
    }
}
