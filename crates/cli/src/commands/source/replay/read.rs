//! Reading traces: plain or gzipped, files or standard input, every mistake with its place.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
};

use almanack_core::source::replay::{Trace, Traces};
use flate2::bufread::MultiGzDecoder;

use crate::commands::prelude::*;

/// What a gzipped file begins with.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// No line of a trace is longer; more is something else.
const LINE_MAX: u64 = 4_096;

/// Reads all files into one set of sources.
pub(super) fn traces(names: &[String]) -> Result<Vec<Trace>> {
    let mut traces = Traces::default();
    for name in names {
        if name == "-" {
            file(&mut traces, "standard input", BufReader::new(io::stdin()))?;
        } else {
            let open = File::open(name).map_err(|error| unreadable(name, &error))?;
            file(&mut traces, name, BufReader::new(open))?;
        }
    }
    Ok(traces.finish())
}

fn file(traces: &mut Traces, name: &str, mut from: impl BufRead) -> Result<()> {
    let begin = from.fill_buf().map_err(|error| unreadable(name, &error))?;
    if begin.starts_with(&GZIP) {
        lines(traces, name, BufReader::new(MultiGzDecoder::new(from)))
    } else {
        lines(traces, name, from)
    }
}

fn lines(traces: &mut Traces, name: &str, mut from: impl BufRead) -> Result<()> {
    let mut bytes = Vec::new();
    for number in 1_u64.. {
        bytes.clear();
        let read = from.by_ref().take(LINE_MAX).read_until(b'\n', &mut bytes);
        if read.map_err(|error| unreadable(name, &error))? == 0 {
            break;
        }
        let bad = |what: String| {
            Failure::failed(format!("{name}:{number}: {what}"))
                .hint("each line is a source's id, a tab, and seconds since 1970")
        };
        let line = str::from_utf8(&bytes).map_err(|_| bad("not UTF-8".to_owned()))?;
        traces.line(line).map_err(|line| bad(line.to_string()))?;
    }
    Ok(())
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    let exit = match error.kind() {
        io::ErrorKind::NotFound => Exit::NotFound,
        _ => Exit::Failed,
    };
    Failure::new(exit, format!("read `{name}`: {error}"))
}
