//! Bodies that explode, drip, break off or never end.

use std::{fmt, io::Write, time::Duration};

use almanack_adapters::http::{Error, Limits, Phase, Request};
use flate2::{Compression, write::GzEncoder};

use super::server::{Act, Server, home, ok};

const MB: usize = 1024 * 1024;

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn brotli(plain: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut writer = brotli::CompressorWriter::new(&mut packed, 4_096, 5, 22);
    writer.write_all(plain).unwrap();
    drop(writer);
    packed
}

/// Text that shrinks like honest text does.
fn honest(bytes: usize) -> Vec<u8> {
    let lines =
        (0u64..).map(|n| format!("<item id=\"{}\"/>\n", n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let mut text: Vec<u8> = lines.flat_map(String::into_bytes).take(bytes).collect();
    text.shrink_to_fit();
    text
}

/// A body; a failing test shows its size and not its megabytes.
#[derive(PartialEq)]
struct Body(Vec<u8>);

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} bytes)", self.0.len())
    }
}

async fn ask(server: &Server, body_bytes: usize) -> Result<Body, Error> {
    let limits = Limits {
        body_bytes,
        ..Limits::default()
    };
    let request = Request::get(server.url("/?token=s3cr3t")).limits(limits);
    let answer = home().send(request).await;
    if let Err(error) = &answer {
        assert!(!error.to_string().contains("s3cr3t"), "{error}");
    }
    answer.map(|answer| Body(answer.body))
}

#[tokio::test]
async fn ss_14_packed_bodies_are_unpacked() {
    let text = honest(3 * MB);
    for (coding, packed) in [
        ("gzip", gzip(&text)),
        ("X-GZIP", gzip(&text)),
        ("br", brotli(&text)),
        ("identity", text.clone()),
    ] {
        let server = Server::saying(ok(&format!("content-encoding: {coding}\r\n"), &packed)).await;
        let read = ask(&server, 4 * MB).await.unwrap();
        assert!(read.0 == text, "{coding}");
        let error = ask(&server, 3 * MB - 1).await.unwrap_err();
        assert_eq!(
            error,
            Error::TooLarge {
                bytes_max: 3 * MB - 1
            },
            "{coding}"
        );
        assert!(ask(&server, 3 * MB).await.is_ok(), "{coding}: just fits");
    }
    for coding in ["zstd", "deflate", "gzip, gzip", "what?"] {
        let server = Server::saying(ok(&format!("content-encoding: {coding}\r\n"), b"x")).await;
        assert_eq!(ask(&server, MB).await, Err(Error::Coding), "{coding}");
    }
    let bodiless =
        "HTTP/1.1 304 Not Modified\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n";
    let server = Server::saying(bodiless).await;
    assert_eq!(ask(&server, MB).await, Ok(Body(Vec::new())), "304");
}

#[tokio::test]
async fn ss_14_a_bomb_is_stopped_at_the_limit() {
    let zeros = vec![0; 40 * MB];
    for (coding, packed) in [("gzip", gzip(&zeros)), ("br", brotli(&zeros))] {
        assert!(packed.len() < 100_000, "{coding} is small on the wire");
        let server = Server::saying(ok(&format!("content-encoding: {coding}\r\n"), &packed)).await;
        let error = ask(&server, MB).await.unwrap_err();
        assert_eq!(error, Error::TooLarge { bytes_max: MB }, "{coding}");
        let error = ask(&server, 100 * MB).await.unwrap_err();
        assert_eq!(error, Error::Inflated { ratio_max: 200 }, "{coding}");
    }
}

#[tokio::test]
async fn ss_14_a_body_of_200_mb_is_not_read_to_its_end() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 209715200\r\n\r\n".to_vec();
    let endless = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
    for head in [head, endless] {
        let server =
            Server::start(move |_| vec![Act::Say(head.clone()), Act::Repeat(vec![b'x'; MB], 200)])
                .await;
        let error = ask(&server, MB).await.unwrap_err();
        assert_eq!(error, Error::TooLarge { bytes_max: MB });
    }
}

#[tokio::test]
async fn ss_14_what_breaks_off_is_not_taken_for_whole() {
    let packed = |coding: &str, mut body: Vec<u8>| {
        body.truncate(body.len() / 2);
        ok(&format!("content-encoding: {coding}\r\n"), &body)
    };
    let text = honest(10_000);
    for (answer, why) in [
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345".to_vec(),
            "length",
        ),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12345\r\n".to_vec(),
            "chunks",
        ),
        (packed("gzip", gzip(&text)), "gzip"),
        (packed("br", brotli(&text)), "brotli"),
        (
            ok(
                "content-encoding: gzip\r\n",
                &gzip(&text)[..gzip(&text).len() - 4],
            ),
            "gzip's sum",
        ),
    ] {
        let server = Server::saying(answer).await;
        assert_eq!(ask(&server, MB).await, Err(Error::Truncated), "{why}");
    }
    for coding in ["gzip", "br"] {
        let headers = format!("content-encoding: {coding}\r\n");
        let server = Server::saying(ok(&headers, b"\xffthis was never packed")).await;
        assert_eq!(ask(&server, MB).await, Err(Error::Unpacked), "{coding}");
    }
}

#[tokio::test]
async fn ss_14_who_drips_is_not_waited_for() {
    let hanging = |head: &'static str| move |_: &str| vec![Act::Say(head.into()), Act::Hang];
    let body = Server::start(hanging("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n1")).await;
    let head = Server::start(hanging("HTTP/1.1 200 OK\r\ncontent-le")).await;
    let brief = Duration::from_millis(200);
    let long = Duration::from_hours(1);
    for (server, total, idle, expected) in [
        (&body, long, brief, Phase::Idle),
        (&body, brief, long, Phase::Whole),
        (&head, brief, long, Phase::Answer),
    ] {
        let limits = Limits {
            total,
            idle,
            ..Limits::default()
        };
        let error = home()
            .send(Request::get(server.url("/")).limits(limits))
            .await;
        let Err(Error::Timeout { phase, after }) = error else {
            panic!("{expected:?}: {error:?}");
        };
        assert_eq!((phase, after), (expected, brief));
    }
}

#[tokio::test]
async fn ss_14_what_is_not_http_is_broken() {
    let many = "x-one: of many\r\n".repeat(2_000);
    let long = format!("x: {}\r\n", "y".repeat(2 * MB));
    for (answer, why) in [
        (Vec::new(), "hangs up at once"),
        (b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(), "another protocol"),
        (b"HTTP/1.1 200".to_vec(), "half a line"),
        (ok(&many, b"x"), "2,000 headers"),
        (ok(&long, b"x"), "a header of 2 MB"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: nine\r\n\r\n".to_vec(),
            "no number",
        ),
    ] {
        let server = Server::saying(answer).await;
        let error = ask(&server, MB).await.unwrap_err();
        assert!(matches!(error, Error::Broken { .. }), "{why}: {error:?}");
        assert!(error.may_have_arrived(), "{why}");
    }
}
