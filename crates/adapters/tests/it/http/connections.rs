//! Connections, and how long they are kept.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use almanack_adapters::http::{Client, Request, Settings};
use almanack_core::address::{Guard, parse_net};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

/// Answers all requests of a connection; it is for the client to end it.
async fn converse(stream: TcpStream) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while stream.read_line(&mut line).await? > 0 {
        if line == "\r\n" {
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
            stream.write_all(answer).await?;
        }
        line.clear();
    }
    Ok(())
}

#[tokio::test]
async fn who_keeps_no_idle_connections_makes_one_for_every_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let made = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&made);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(converse(stream));
        }
    });
    let allow = vec![parse_net("127.0.0.1").unwrap()];
    let client = Client::new(&Settings {
        idle_max: 0,
        ..Settings::new(Guard::new(allow, "sources.allow"))
    })
    .unwrap();
    for _ in 0..5 {
        let answer = client.send(Request::get(url.clone())).await.unwrap();
        assert_eq!(answer.body, b"ok");
    }
    assert_eq!(made.load(Ordering::Relaxed), 5);
}
