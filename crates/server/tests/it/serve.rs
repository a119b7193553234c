//! Slow and silent clients do not delay others (SF-01).

use std::{sync::Arc, time::Duration};

use almanack_server::serve::{Connections, serve};
use axum::{Router, body::Bytes, extract::ConnectInfo, routing::get};
use std::net::SocketAddr;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// Long enough that it never passes in a test.
const NEVER: Duration = Duration::from_hours(1);
/// Short enough that a test can wait for it.
const SOON: Duration = Duration::from_millis(20);
const LARGE: usize = 64 * 1024 * 1024;
/// How long a test waits for what must come before it gives up.
const WAIT_MAX: Duration = Duration::from_mins(1);

async fn within<T>(what: &str, coming: impl Future<Output = T>) -> T {
    let came = tokio::time::timeout(WAIT_MAX, coming).await;
    came.unwrap_or_else(|_| panic!("it never came about that {what}"))
}

struct Server {
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<()>,
    /// Lets the request at `/held` be answered.
    held: Arc<Notify>,
    /// Signals that a request is at `/held`.
    arrived: Arc<Notify>,
}

impl Server {
    async fn start(connections: Connections) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (held, arrived) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (waits, event_tasks) = (held.clone(), arrived.clone());
        let holding = move || {
            let (waits, event_tasks) = (waits.clone(), event_tasks.clone());
            async move {
                event_tasks.notify_one();
                waits.notified().await;
                "held"
            }
        };
        let whose = |ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() };
        let app = Router::new()
            .route("/", get(whose))
            .route("/held", get(holding))
            .route("/large", get(|| async { Bytes::from(vec![0; LARGE]) }));
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, app, connections, stop.clone()));
        Self {
            address,
            stop,
            serving,
            held,
            arrived,
        }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Ends when all connections have.
    async fn stops(self) {
        self.stop.cancel();
        within("all connections end", self.serving).await.unwrap();
    }
}

fn connections(max: usize) -> Connections {
    Connections {
        max,
        head_within: NEVER,
        stalled_after: NEVER,
    }
}

async fn ask(connection: &mut TcpStream, path: &str) {
    let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    connection.write_all(head.as_bytes()).await.unwrap();
}

/// The answer, up to the end of its short body.
async fn answer(connection: &mut TcpStream, ends_with: &str) -> String {
    let mut text = Vec::new();
    while !text.ends_with(ends_with.as_bytes()) {
        let mut bytes = [0; 1024];
        let read = within("it answers", connection.read(&mut bytes)).await;
        let read = read.unwrap();
        assert!(read > 0, "hung up after {}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&bytes[..read]);
    }
    String::from_utf8(text).unwrap()
}

/// Whether the other side has hung up, without another word.
async fn is_over(connection: &mut TcpStream) -> bool {
    let mut bytes = [0; 1];
    let read = within("it hangs up or speaks", connection.read(&mut bytes)).await;
    matches!(read, Ok(0) | Err(_))
}

#[tokio::test]
async fn a_request_is_answered_and_its_connection_kept() {
    let server = Server::start(connections(4)).await;
    let mut client = server.connect().await;
    let me = client.local_addr().unwrap().to_string();
    for _ in 0..2 {
        ask(&mut client, "/").await;
        let text = answer(&mut client, &me).await;
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        assert!(text.contains("content-length: "), "{text}");
    }
    server.stops().await;
}

#[tokio::test]
async fn sf_01_a_head_that_never_ends_is_hung_up_on() {
    let server = Server::start(Connections {
        head_within: SOON,
        ..connections(4)
    })
    .await;
    for said in ["", "GET / HTTP/1.1\r\nhost: loc"] {
        let mut client = server.connect().await;
        client.write_all(said.as_bytes()).await.unwrap();
        assert!(is_over(&mut client).await, "{said}");
    }
    let mut idle = server.connect().await;
    let me = idle.local_addr().unwrap().to_string();
    ask(&mut idle, "/").await;
    answer(&mut idle, &me).await;
    assert!(is_over(&mut idle).await, "idle after an answer");
}

#[tokio::test]
async fn sf_01_whoever_was_idle_for_the_longest_gives_way() {
    let server = Server::start(connections(2)).await;
    let mut first = server.connect().await;
    first.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    let mut second = server.connect().await;
    second.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    let mut third = server.connect().await;
    let me = third.local_addr().unwrap().to_string();
    ask(&mut third, "/").await;
    answer(&mut third, &me).await;
    assert!(is_over(&mut first).await);
    second.write_all(b"host: localhost\r\n\r\n").await.unwrap();
    let me = second.local_addr().unwrap().to_string();
    answer(&mut second, &me).await;
    server.stops().await;
}

#[tokio::test]
async fn a_request_under_way_never_gives_way() {
    let server = Server::start(connections(1)).await;
    let mut first = server.connect().await;
    ask(&mut first, "/held").await;
    within("a request arrives", server.arrived.notified()).await;
    let mut second = server.connect().await;
    ask(&mut second, "/").await;
    server.held.notify_one();
    answer(&mut first, "held").await;
    // Only now is the first one idle, and the second has its turn.
    assert!(is_over(&mut first).await);
    let me = second.local_addr().unwrap().to_string();
    answer(&mut second, &me).await;
    server.stops().await;
}

#[tokio::test]
async fn sf_01_an_answer_that_nobody_takes_is_given_up() {
    let server = Server::start(Connections {
        stalled_after: SOON,
        ..connections(4)
    })
    .await;
    let mut client = server.connect().await;
    ask(&mut client, "/large").await;
    let mut begun = [0; 1];
    client.read_exact(&mut begun).await.unwrap();
    // A request under way would be answered first; this one never could be.
    server.stops().await;
}

#[tokio::test]
async fn requests_under_way_are_answered_before_the_end() {
    let server = Server::start(connections(4)).await;
    let mut client = server.connect().await;
    let mut idle = server.connect().await;
    ask(&mut client, "/held").await;
    within("a request arrives", server.arrived.notified()).await;
    server.stop.cancel();
    assert!(is_over(&mut idle).await);
    server.held.notify_one();
    answer(&mut client, "held").await;
    server.stops().await;
}
