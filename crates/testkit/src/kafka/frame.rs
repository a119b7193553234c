//! As much of Kafka's wire as a proxy has to read: frames, the head of a request, and the list of
//! what can be asked.

use std::io::{self, Error, ErrorKind};

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// More than a test sends.
const FRAME_BYTES_MAX: usize = 16 << 20;

/// The next frame, without its length.
pub(super) async fn read_frame(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let bytes = from.read_u32().await?;
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    if bytes > FRAME_BYTES_MAX {
        return Err(Error::new(ErrorKind::InvalidData, "too long for a frame"));
    }
    let mut frame = vec![0; bytes];
    from.read_exact(&mut frame).await?;
    Ok(frame)
}

/// With its length before it.
pub(super) fn framed(frame: &[u8]) -> Vec<u8> {
    let bytes = u32::try_from(frame.len()).unwrap();
    [&bytes.to_be_bytes(), frame].concat()
}

/// The number by which a response names its request.
pub(super) fn number(response: &[u8]) -> io::Result<i32> {
    let mut rest = response;
    Ok(i32::from_be_bytes(taken(&mut rest)?))
}

/// A request's head, and what follows it.
pub(super) struct Request<'a> {
    pub(super) api: i16,
    pub(super) version: i16,
    pub(super) number: i32,
    rest: &'a [u8],
}

impl<'a> Request<'a> {
    pub(super) fn read(frame: &'a [u8]) -> io::Result<Self> {
        let mut rest = frame;
        let mut request = Self {
            api: i16::from_be_bytes(taken(&mut rest)?),
            version: i16::from_be_bytes(taken(&mut rest)?),
            number: i32::from_be_bytes(taken(&mut rest)?),
            rest: &[],
        };
        request.rest = rest;
        // The client's name for itself.
        request.text()?;
        Ok(request)
    }

    /// A text of at most 32 KiB; none counts as an empty one.
    pub(super) fn text(&mut self) -> io::Result<&'a [u8]> {
        let bytes = i16::from_be_bytes(taken(&mut self.rest)?);
        self.cut(bytes.into())
    }

    /// Bytes of any length.
    pub(super) fn bytes(&mut self) -> io::Result<&'a [u8]> {
        let bytes = i32::from_be_bytes(taken(&mut self.rest)?);
        self.cut(bytes)
    }

    fn cut(&mut self, bytes: i32) -> io::Result<&'a [u8]> {
        let bytes = usize::try_from(bytes).unwrap_or(0);
        let (cut, rest) = self.rest.split_at_checked(bytes).ok_or_else(broken)?;
        self.rest = rest;
        Ok(cut)
    }
}

fn taken<const N: usize>(rest: &mut &[u8]) -> io::Result<[u8; N]> {
    let (taken, left) = rest.split_first_chunk().ok_or_else(broken)?;
    *rest = left;
    Ok(*taken)
}

fn broken() -> Error {
    Error::new(ErrorKind::InvalidData, "a message that ends too early")
}

/// Adds requests, in their versions 0 and 1, to an answer about versions: its number, a code, and a
/// counted list of three numbers each, as up to version 2, which is the newest that the mock
/// cluster knows.
pub(super) fn offer_sasl(response: &mut Vec<u8>, apis: &[i16]) -> io::Result<()> {
    const COUNT: usize = 6;
    const ENTRY: usize = 6;
    let mut rest = response.get(COUNT..).ok_or_else(broken)?;
    let many = u32::from_be_bytes(taken(&mut rest)?);
    let end = COUNT + 4 + ENTRY * usize::try_from(many).unwrap_or(0);
    if many == 0 || end > response.len() {
        return Ok(());
    }
    let added = apis.iter().flat_map(|api| [*api, 0, 1]);
    let added: Vec<u8> = added.flat_map(i16::to_be_bytes).collect();
    let many = many + u32::try_from(apis.len()).unwrap();
    response[COUNT..COUNT + 4].copy_from_slice(&many.to_be_bytes());
    response.splice(end..end, added);
    Ok(())
}

/// Replaces one text by another of the same length, wherever it occurs.
pub(super) fn replace(response: &mut [u8], old: &[u8], new: &[u8]) {
    assert_eq!(old.len(), new.len(), "nothing else must move");
    let mut from = 0;
    while let Some(at) = response[from..]
        .windows(old.len())
        .position(|window| window == old)
    {
        response[from + at..][..new.len()].copy_from_slice(new);
        from += at + new.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_about_versions_offers_more_and_keeps_what_follows() {
        let mut response = vec![0, 0, 0, 9, 0, 0, 0, 0, 0, 1, 0, 3, 0, 0, 0, 9, 0, 0, 0, 7];
        offer_sasl(&mut response, &[17, 36]).unwrap();
        let expected = [
            0, 0, 0, 9, 0, 0, 0, 0, 0, 3, 0, 3, 0, 0, 0, 9, 0, 17, 0, 0, 0, 1, 0, 36, 0, 0, 0, 1,
            0, 0, 0, 7,
        ];
        assert_eq!(response, expected);
    }

    #[test]
    fn a_text_is_replaced_wherever_it_occurs() {
        let mut text = *b"ab--ab-aab";
        replace(&mut text, b"ab", b"cd");
        assert_eq!(&text, b"cd--cd-acd");
    }
}
