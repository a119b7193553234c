//! Compression of bodies, fast enough for benchmarks.

use std::{cell::RefCell, io::Write as _};

use flate2::{Compress, Compression, Crc, FlushCompress};

/// Magic, method, no flags, no time, no extra flags, unknown system.
pub(in crate::feeds) const GZIP_HEAD: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255];
/// Deflate never makes more of less than this, whatever it is given.
const SPARE: usize = 1024;

thread_local! {
    /// Its tables weigh 300 kB: creating them for every response costs more than compressing a
    /// feed.
    static DEFLATE: RefCell<Compress> = RefCell::new(Compress::new(Compression::fast(), false));
}

/// Writing to memory cannot fail; if it did, the plain body is sent.
pub(in crate::feeds) fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut packed = Vec::with_capacity(bytes.len() + bytes.len() / 8 + SPARE);
    packed.extend(GZIP_HEAD);
    DEFLATE.with_borrow_mut(|deflate| {
        deflate.reset();
        let done = deflate.compress_vec(bytes, &mut packed, FlushCompress::Finish);
        done.ok()
            .filter(|status| *status == flate2::Status::StreamEnd)
    })?;
    let mut crc = Crc::new();
    crc.update(bytes);
    packed.extend(gzip_tail(&crc));
    Some(packed)
}

/// Checksum and length, as gzip ends with them.
pub(in crate::feeds) fn gzip_tail(crc: &Crc) -> [u8; 8] {
    let whole = u64::from(crc.sum()) | u64::from(crc.amount()) << 32;
    whole.to_le_bytes()
}

pub(super) fn brotli(bytes: &[u8]) -> Option<Vec<u8>> {
    // The fastest level, and a window no larger than a feed.
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 1, 16);
    encoder.write_all(bytes).ok()?;
    encoder.flush().ok()?;
    Some(encoder.into_inner())
}
