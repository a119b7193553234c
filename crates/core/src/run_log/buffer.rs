//! What of an attempt's output is still to be written, and what of it no longer needs to be.
//!
//! ```text
//!   0            head                          end - tail          end
//!   ├── written ──┤ cut: pieces in here are deleted ├── sealed ──┬─ open ─┤
//! ```
//!
//! Output becomes pieces. The last one is open: it is written again in its place as it grows, so
//! that a program that prints a line a second does not leave a row a second. Once it is long enough
//! it is sealed. INVARIANT: whatever is printed and however slow the store is, a buffer holds no
//! more than the limit and a piece, and no more than that is kept: the oldest piece of the end goes
//! as a whole.

use std::{collections::VecDeque, ops::Range};

use jiff::Timestamp;

use crate::store::{LogPiece, LogWrite, PIECE_BYTES_MAX, RunId};

/// An open piece that has so much when it is written is sealed: what is written again stays small.
const SEALED_FROM: usize = 8 * 1024;
/// A log has so many pieces at least before it is cut.
const PIECES_MIN: u64 = 16;

/// The output of one attempt on its way into the store.
#[derive(Debug)]
pub struct Buffer {
    run: RunId,
    piece_max: u64,
    /// Where the beginning that is kept ends.
    head: u64,
    /// How much of the end is kept.
    tail: u64,
    sealed: VecDeque<LogPiece>,
    open: LogPiece,
    /// Whether the open piece has what was not written yet.
    has_grown: bool,
    /// How far pieces behind the head were deleted.
    cut_to: u64,
}

impl Buffer {
    /// Of a run that has printed nothing yet.
    pub fn new(run: RunId, bytes_max: u64) -> Self {
        let piece_max = (bytes_max / PIECES_MIN).clamp(1, size(PIECE_BYTES_MAX));
        let head = bytes_max / 2;
        Self {
            run,
            piece_max,
            head,
            tail: bytes_max - head,
            sealed: VecDeque::new(),
            open: LogPiece {
                at: 0,
                text: Vec::new(),
            },
            has_grown: false,
            cut_to: head,
        }
    }

    /// Takes what was printed.
    pub fn push(&mut self, mut printed: &[u8]) {
        while !printed.is_empty() {
            let end = self.open.end();
            let mut room = self.piece_max.saturating_sub(size(self.open.text.len()));
            if end < self.head {
                // Pieces of the beginning end where it does.
                room = room.min(self.head - end);
            }
            let room = usize::try_from(room).unwrap_or(usize::MAX);
            let (now, later) = printed.split_at(room.min(printed.len()));
            self.open.text.extend_from_slice(now);
            self.has_grown |= !now.is_empty();
            printed = later;
            let is_full = size(self.open.text.len()) >= self.piece_max;
            if is_full || self.open.end() == self.head {
                self.seal();
            }
        }
        let cut = self.cut();
        self.sealed
            .retain(|piece| piece.at < cut.start || piece.end() > cut.end);
    }

    fn seal(&mut self) {
        let next = LogPiece {
            at: self.open.end(),
            text: Vec::new(),
        };
        let full = std::mem::replace(&mut self.open, next);
        self.sealed.push_back(full);
        self.has_grown = false;
    }

    /// Between the beginning and the end that are kept.
    fn cut(&self) -> Range<u64> {
        self.head..self.open.end().saturating_sub(self.tail).max(self.head)
    }

    /// How many bytes are still to be written.
    pub fn pending(&self) -> usize {
        let sealed: usize = self.sealed.iter().map(|piece| piece.text.len()).sum();
        let open = if self.has_grown {
            self.open.text.len()
        } else {
            0
        };
        sealed + open
    }

    /// Hands out what is to be written next, `bytes_max` or a piece more. The caller writes it, or
    /// tries until it is written.
    pub fn take(&mut self, bytes_max: usize, now: Timestamp) -> Vec<LogWrite> {
        let mut taken = Vec::new();
        let mut bytes = 0;
        while bytes < bytes_max {
            let Some(piece) = self.next() else { break };
            bytes += piece.text.len();
            taken.push(LogWrite {
                run: self.run,
                piece,
                cut: 0..0,
                written_at: now,
            });
        }
        let cut = self.cut();
        if let Some(last) = taken.last_mut()
            && cut.end > self.cut_to
        {
            self.cut_to = cut.end;
            last.cut = cut;
        }
        taken
    }

    fn next(&mut self) -> Option<LogPiece> {
        if let Some(piece) = self.sealed.pop_front() {
            return Some(piece);
        }
        if !self.has_grown {
            return None;
        }
        if self.open.text.len() >= SEALED_FROM {
            self.seal();
            return self.sealed.pop_front();
        }
        self.has_grown = false;
        Some(self.open.clone())
    }
}

fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::task::{TaskId, Term};

    const RUN: RunId = RunId {
        task_id: TaskId(1),
        term: Term(1),
    };

    fn now() -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    /// A store of one run.
    #[derive(Default)]
    struct Kept(BTreeMap<u64, Vec<u8>>);

    impl Kept {
        fn write(&mut self, writes: Vec<LogWrite>) {
            for LogWrite { piece, cut, .. } in writes {
                self.0.insert(piece.at, piece.text);
                self.0
                    .retain(|at, text| *at < cut.start || at + size(text.len()) > cut.end);
            }
        }

        fn bytes(&self) -> u64 {
            self.0.values().map(|text| size(text.len())).sum()
        }
    }

    fn printed(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|n| (n % 251).to_le_bytes()[0]).collect()
    }

    #[test]
    fn dp_20_a_line_a_second_leaves_few_pieces() {
        let mut buffer = Buffer::new(RUN, 1024 * 1024);
        let mut kept = Kept::default();
        for _ in 0..3_600 {
            buffer.push(b"working on it, one line a second\n");
            kept.write(buffer.take(usize::MAX, now()));
            assert_eq!(buffer.pending(), 0);
        }
        assert_eq!(kept.bytes(), 3_600 * 33);
        assert!(kept.0.len() <= 15, "{} pieces", kept.0.len());
    }

    #[test]
    fn dp_20_a_log_without_a_reader_of_its_buffer_stays_within_its_limit() {
        let limit = 1024 * 1024;
        let mut buffer = Buffer::new(RUN, limit);
        let chunk = printed(50_000);
        for _ in 0..1_000 {
            buffer.push(&chunk);
        }
        let most = limit + size(PIECE_BYTES_MAX);
        assert!(size(buffer.pending()) <= most, "{}", buffer.pending());
        let mut kept = Kept::default();
        kept.write(buffer.take(usize::MAX, now()));
        assert!((limit..=most).contains(&kept.bytes()), "{}", kept.bytes());
    }

    proptest! {
        /// Whatever comes between, all is kept byte for byte up to the limit; beyond it, the
        /// beginning and the end are, and the gap is one.
        #[test]
        fn dp_20_beginning_and_end_are_kept(
            limit in 64u64 * 1024..200_000,
            chunks in prop::collection::vec((1usize..30_000, any::<bool>()), 1..30),
            batch in prop::sample::select(vec![1usize, 10_000, 262_144]),
        ) {
            let all = printed(chunks.iter().map(|(bytes, _)| bytes).sum());
            let mut buffer = Buffer::new(RUN, limit);
            let mut kept = Kept::default();
            let mut from = 0;
            for (bytes, is_flushed) in chunks {
                buffer.push(&all[from..from + bytes]);
                from += bytes;
                if is_flushed {
                    kept.write(buffer.take(batch, now()));
                }
            }
            while buffer.pending() > 0 {
                kept.write(buffer.take(batch, now()));
            }
            let (mut end, mut gaps) = (0, 0);
            for (at, text) in &kept.0 {
                gaps += usize::from(*at != end);
                end = at + size(text.len());
                let (from, to) = (usize::try_from(*at).unwrap(), usize::try_from(end).unwrap());
                prop_assert_eq!(&all[from..to], &text[..]);
            }
            prop_assert_eq!(end, size(all.len()), "the end is kept");
            prop_assert!(kept.bytes() <= limit + limit / PIECES_MIN);
            if size(all.len()) <= limit {
                prop_assert_eq!(gaps, 0);
            } else {
                prop_assert!(gaps <= 1 && kept.bytes() >= limit);
            }
        }
    }
}
