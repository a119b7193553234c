//! Bodies: decompressed by us, so that both sides of the decompression are counted.
//!
//! A few kilobytes can decompress to gigabytes. Decompressed bytes go into a sink with a limit, so
//! no more is ever held or even decompressed than the caller asked for.

use std::{
    io::{self, Write},
    pin::Pin,
    time::Duration,
};

use brotli_decompressor::DecompressorWriter;
use flate2::write::MultiGzDecoder;
use reqwest::header::CONTENT_ENCODING;

use super::{Error, Limits, Phase, error};
use crate::clock::pause;

/// The codings we can decompress, as a header value.
pub(super) const CODINGS: &str = "gzip, br";
/// How many times larger than what came a body may be. Feeds and pages shrink to a tenth, very
/// repetitive ones to a fiftieth; only what was made to explode does better.
const RATIO_MAX: usize = 200;
/// Decompressed bytes that are allowed at any ratio.
const RATIO_FREE_BYTES: usize = 1024 * 1024;
/// The step in which brotli is decompressed.
const BROTLI_STEP_BYTES: usize = 16 * 1024;

/// The end of one exchange's time.
pub(super) struct Deadline {
    total: Duration,
    over: Pin<Box<dyn Future<Output = ()> + Send + Sync>>,
}

impl Deadline {
    /// Time runs from the first wait on.
    pub(super) fn start(total: Duration) -> Self {
        let over = Box::pin(pause(total));
        Self { total, over }
    }

    /// Waits for `work`, but not beyond the end.
    pub(super) async fn bound<T>(
        &mut self,
        phase: Phase,
        work: impl Future<Output = T>,
    ) -> Result<T, Error> {
        let after = self.total;
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = &mut self.over => Err(Error::Timeout { phase, after }),
        }
    }
}

/// Reads and decompresses a body within `limits`; `taken_bytes` is what came of it, however it ends.
pub(super) async fn read(
    response: &mut reqwest::Response,
    limits: Limits,
    taken_bytes: &mut u64,
) -> Result<Vec<u8>, Error> {
    let mut unpacking = Unpacking::of(response, limits.body_bytes)?;
    loop {
        let chunk = tokio::time::timeout(limits.idle, response.chunk()).await;
        let chunk = chunk.map_err(|_| Error::Timeout {
            phase: Phase::Idle,
            after: limits.idle,
        })?;
        match chunk.map_err(error::from_body)? {
            Some(chunk) => {
                *taken_bytes += chunk.len() as u64;
                unpacking.take(&chunk)?;
            }
            None => return unpacking.finish(),
        }
    }
}

/// Where decompressed bytes go. Once it has refused, it refuses for good.
struct Sink {
    unpacked: Vec<u8>,
    taken_bytes: usize,
    bytes_max: usize,
}

/// Why a sink takes no more.
#[derive(Debug, Clone, Copy, thiserror::Error)]
enum Full {
    #[error("larger than allowed")]
    TooLarge,
    #[error("grows too much")]
    Inflated,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let size = self.unpacked.len() + bytes.len();
        if size > self.bytes_max {
            return Err(io::Error::other(Full::TooLarge));
        }
        if size > RATIO_FREE_BYTES && size / RATIO_MAX > self.taken_bytes {
            return Err(io::Error::other(Full::Inflated));
        }
        self.unpacked.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A body on its way from the wire to the sink.
enum Unpacking {
    Plain(Sink),
    Gzip(Box<MultiGzDecoder<Sink>>),
    Brotli(Box<DecompressorWriter<Sink>>),
}

impl Unpacking {
    fn of(response: &reqwest::Response, bytes_max: usize) -> Result<Self, Error> {
        let sink = Sink {
            unpacked: Vec::new(),
            taken_bytes: 0,
            bytes_max,
        };
        let coding = response.headers().get(CONTENT_ENCODING);
        let coding = coding.map_or(Ok(""), |coding| coding.to_str());
        let coding = coding.unwrap_or("?").trim().to_ascii_lowercase();
        match coding.as_str() {
            "" | "identity" | "none" => Ok(Self::Plain(sink)),
            "gzip" | "x-gzip" => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(sink)))),
            "br" => {
                let writer = DecompressorWriter::new(sink, BROTLI_STEP_BYTES);
                Ok(Self::Brotli(Box::new(writer)))
            }
            _ => Err(Error::Coding),
        }
    }

    fn sink(&mut self) -> &mut Sink {
        match self {
            Self::Plain(sink) => sink,
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Brotli(decoder) => decoder.get_mut(),
        }
    }

    fn take(&mut self, chunk: &[u8]) -> Result<(), Error> {
        self.sink().taken_bytes += chunk.len();
        let taken = match self {
            Self::Plain(sink) => sink.write_all(chunk),
            Self::Gzip(decoder) => decoder.write_all(chunk),
            Self::Brotli(decoder) => decoder.write_all(chunk),
        };
        taken.map_err(|error| self.why(&error, Error::Unpacked))
    }

    fn finish(mut self) -> Result<Vec<u8>, Error> {
        // An answer without a body (304, HEAD) may still name a coding.
        if self.sink().taken_bytes > 0 {
            let finished = match &mut self {
                Self::Plain(_) => Ok(()),
                Self::Gzip(decoder) => decoder.try_finish(),
                Self::Brotli(decoder) => decoder.close(),
            };
            finished.map_err(|error| self.why(&error, Error::Truncated))?;
        }
        Ok(std::mem::take(&mut self.sink().unpacked))
    }

    fn why(&mut self, error: &io::Error, otherwise: Error) -> Error {
        let full = error.get_ref().and_then(|inner| inner.downcast_ref());
        match full {
            Some(Full::TooLarge) => Error::TooLarge {
                bytes_max: self.sink().bytes_max,
            },
            Some(Full::Inflated) => Error::Inflated {
                ratio_max: RATIO_MAX,
            },
            None => otherwise,
        }
    }
}
