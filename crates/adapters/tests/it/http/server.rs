//! Servers on loopback that send exactly what a test wants, and names that change their addresses.

use std::{
    collections::{BTreeMap, VecDeque},
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_adapters::http::{Client, NoName, Resolve, Settings};
use almanack_core::address::{Guard, parse_net};
use async_trait::async_trait;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// What a TLS connection begins with.
const TLS_HANDSHAKE: u8 = 0x16;

/// One thing that a server does.
#[derive(Clone)]
pub(super) enum Act {
    Say(Vec<u8>),
    /// Sends this so many times.
    Repeat(Vec<u8>, usize),
    /// Sends nothing more and does not hang up.
    Hang,
}

/// The answer to a request's head, and then the connection ends.
pub(super) type Script = dyn Fn(&str) -> Vec<Act> + Send + Sync;

/// A server of one request per connection.
pub(super) struct Server {
    pub(super) at: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Listens at 127.0.0.1.
    pub(super) async fn start(script: impl Fn(&str) -> Vec<Act> + Send + Sync + 'static) -> Self {
        Self::start_at([127, 0, 0, 1].into(), 0, script).await
    }

    pub(super) async fn start_at(
        ip: IpAddr,
        port: u16,
        script: impl Fn(&str) -> Vec<Act> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((ip, port)).await.unwrap();
        let at = listener.local_addr().unwrap();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let script: Arc<Script> = Arc::new(script);
        tokio::spawn(serve(listener, script, Arc::clone(&heads)));
        Self { at, heads }
    }

    /// Sends `answer` to every client.
    pub(super) async fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |_| vec![Act::Say(answer.clone())]).await
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }

    /// The heads of all requests so far.
    pub(super) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

async fn serve(listener: TcpListener, script: Arc<Script>, heads: Arc<Mutex<Vec<String>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (script, heads) = (Arc::clone(&script), Arc::clone(&heads));
        tokio::spawn(async move {
            let _ = converse(stream, script.as_ref(), &heads).await;
        });
    }
}

async fn converse(
    mut stream: TcpStream,
    script: &Script,
    heads: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    // A TLS client waits for an answer before any head could end.
    while !head.ends_with(b"\r\n\r\n") && head.first() != Some(&TLS_HANDSHAKE) {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    heads.lock().unwrap().push(head.clone());
    for act in script(&head) {
        match act {
            Act::Say(bytes) => stream.write_all(&bytes).await?,
            Act::Repeat(bytes, times) => {
                for _ in 0..times {
                    stream.write_all(&bytes).await?;
                }
            }
            Act::Hang => std::future::pending().await,
        }
    }
    stream.shutdown().await
}

/// `200 OK` with these headers and this body.
pub(super) fn ok(headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
    )
    .into_bytes();
    answer.extend_from_slice(body);
    answer
}

pub(super) fn moved(status: u16, location: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
    .into_bytes()
}

/// The path of a request.
pub(super) fn path(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or("")
}

/// Names and what they lead to, one answer after the other; the last one stays.
#[derive(Default)]
pub(super) struct Names(Mutex<BTreeMap<String, VecDeque<Vec<IpAddr>>>>);

impl Names {
    pub(super) fn with(names: &[(&str, &[&[&str]])]) -> Arc<Self> {
        let ips = |ips: &&[&str]| ips.iter().map(|ip| ip.parse().unwrap()).collect();
        let known = names.iter().map(|(name, answers)| {
            let answers = answers.iter().map(ips).collect();
            ((*name).to_owned(), answers)
        });
        Arc::new(Self(Mutex::new(known.collect())))
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, NoName> {
        let mut names = self.0.lock().unwrap();
        let unknown = || NoName {
            why: "no such name".to_owned(),
        };
        let answers = names.get_mut(host).ok_or_else(unknown)?;
        match answers.len() {
            1 => Ok(answers[0].clone()),
            _ => Ok(answers.pop_front().unwrap()),
        }
    }
}

/// A client that may go where `allow` says, and knows these names only.
pub(super) fn client(allow: &[&str], names: Arc<Names>) -> Client {
    let allow = allow.iter().map(|net| parse_net(net).unwrap()).collect();
    Client::new(&Settings {
        connect_timeout: Duration::from_secs(5),
        resolver: names,
        ..Settings::new(Guard::new(allow, "sources.allow"))
    })
    .unwrap()
}

/// A client that may go to 127.0.0.1 and nowhere else.
pub(super) fn home() -> Client {
    client(&["127.0.0.1"], Names::with(&[]))
}
