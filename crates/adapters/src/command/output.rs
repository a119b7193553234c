//! A command's output: all of it into its log, and its end, where programs report errors, into the
//! attempt's detail.

use std::{collections::VecDeque, io};

use almanack_core::{finish::DETAIL_BYTES_MAX, run_log::RunLog};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::supervise::not_started;

/// How much is read at once.
const CHUNK_BYTES: usize = 4 * 1024;
/// Marks that output before it was cut.
const CUT: char = '…';

/// The last bytes of an output, as many as a detail can hold. Bounded, however much is printed.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    is_cut: bool,
}

/// Where a command's output goes.
pub(super) struct Output {
    log: Box<dyn RunLog>,
    tail: Tail,
}

impl Output {
    pub(super) fn into_log(log: Box<dyn RunLog>) -> Self {
        let tail = Tail::default();
        Self { log, tail }
    }

    /// Reads some more and returns whether more may follow. Cancel-safe: nothing is lost.
    pub(super) async fn listen(&mut self, pipe: &mut (impl AsyncRead + Unpin)) -> bool {
        let mut chunk = [0; CHUNK_BYTES];
        match pipe.read(&mut chunk).await {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                let clean = self.log.write(&chunk[..count]);
                self.tail.keep(&clean);
                true
            }
        }
    }

    /// Nothing follows.
    pub(super) async fn end(mut self) -> Tail {
        let rest = self.log.end().await;
        self.tail.keep(&rest);
        self.tail
    }
}

impl Tail {
    fn keep(&mut self, heard: &[u8]) {
        self.bytes.extend(heard);
        let over = self.bytes.len().saturating_sub(DETAIL_BYTES_MAX);
        self.is_cut |= over > 0;
        self.bytes.drain(..over);
    }

    /// Why a supervisor that ended with `code` could not start its command, if that is what it
    /// says.
    pub(super) fn not_started(&self, code: i32) -> Option<io::Error> {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        not_started(code, &String::from_utf8_lossy(&bytes))
    }

    /// `what` happened, followed by as much of the end of the output as fits.
    pub(super) fn after(&self, what: &str) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        // The first character may have lost its beginning.
        let text = text.trim_end().trim_start_matches('\u{fffd}');
        if text.trim().is_empty() {
            return what.to_owned();
        }
        let room = DETAIL_BYTES_MAX.saturating_sub(what.len() + ": ".len() + CUT.len_utf8());
        let from = text.ceil_char_boundary(text.len().saturating_sub(room));
        if self.is_cut || from > 0 {
            format!("{what}: {CUT}{}", &text[from..])
        } else {
            format!("{what}: {text}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(heard: &[&[u8]]) -> Tail {
        let mut tail = Tail::default();
        for chunk in heard {
            tail.keep(chunk);
        }
        tail
    }

    #[test]
    fn a_short_output_is_kept_whole_and_an_empty_one_is_left_out() {
        assert_eq!(
            tail(&[b"one\n", b"two\n"]).after("exit code 1"),
            "exit code 1: one\ntwo"
        );
        assert_eq!(tail(&[b" \n"]).after("exit code 1"), "exit code 1");
    }

    #[test]
    fn of_a_long_output_the_end_is_kept_and_it_always_fits() {
        let long = "ü".repeat(40_000) + "the reason";
        for split in [1, 7, 4_096] {
            let chunks: Vec<&[u8]> = long.as_bytes().chunks(split).collect();
            let text = tail(&chunks).after("exit code 1");
            assert!(text.len() <= DETAIL_BYTES_MAX, "{}", text.len());
            assert!(text.starts_with("exit code 1: …ü"), "{text}");
            assert!(text.ends_with("the reason"), "{text}");
        }
    }
}
