use almanack_core::secret::Secret;
use async_nats::{Client, ClientError, Event};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
};

use super::*;

/// Sends this first, and then only pongs. Returns its address.
async fn server(info: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("nats://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let (reading, mut writing) = stream.into_split();
        writing.write_all(info.as_bytes()).await.unwrap();
        let mut lines = BufReader::new(reading).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if line.starts_with("PING") {
                writing.write_all(b"PONG\r\n").await.unwrap();
            }
        }
    });
    url
}

async fn link(info: &'static str) -> Link {
    let connection = Connection {
        servers: vec![server(info).await],
        ..Connection::default()
    };
    connection.open().await.unwrap()
}

#[tokio::test]
async fn only_configured_servers_get_credentials() {
    let link = link("INFO {\"connect_urls\":[\"evil.example:4222\"]}\r\n").await;
    let client: Client = link.context().unwrap().client();
    let known = client.server_pool().await.unwrap();
    let known: Vec<String> = known.iter().map(|it| it.addr.host().to_owned()).collect();
    assert_eq!(known, ["127.0.0.1"]);
}

#[tokio::test]
async fn an_established_connection_is_used_whatever_events_came() {
    let link = link("INFO {}\r\n").await;
    let failed = ClientError::Other(ConnectErrorKind::Io.to_string());
    link.line.hear(&Event::ClientError(failed));
    assert!(link.line.trouble().is_some(), "that it is over got lost");
    assert!(link.context().is_ok());
    assert_eq!(link.describe("something else".to_owned()), "something else");
}

#[test]
fn a_pattern_covers_what_the_server_would_deliver() {
    for (pattern, subject, expected) in [
        ("articles", "articles", true),
        ("articles", "articles.eu", false),
        ("articles.*", "articles.eu", true),
        ("articles.*", "articles", false),
        ("articles.*", "articles.eu.x", false),
        ("articles.>", "articles.eu.x", true),
        ("articles.>", "articles", false),
        (">", "dead-letter.x", true),
        ("*.eu", "articles.eu", true),
        ("*.eu", "articles.us", false),
    ] {
        assert_eq!(covers(pattern, subject), expected, "{pattern} {subject}");
    }
}

#[tokio::test]
async fn no_secret_is_in_an_error() {
    let connection = Connection {
        servers: vec!["nats://127.0.0.1:9".to_owned()],
        tls: None,
        login: Login::Credentials(Secret::new("hunter2")),
    };
    assert!(!format!("{connection:?}").contains("hunter2"));
    let error_text = connection.open().await.err().map(|error| error.to_string());
    let error_text = error_text.expect("these are no credentials");
    assert!(
        !error_text.contains("hunter2") && error_text.contains("credentials"),
        "{error_text}"
    );
}
