//! A host with feeds that notes when it is asked, and by how many at once.

use std::{
    fmt::Write as _,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use almanack_adapters::clock::{SystemClock, pause};
use almanack_core::time::Clock as _;
use axum::{Router, extract::State, http::header, response::IntoResponse, routing::get};
use jiff::Timestamp;
use tokio::{net::TcpListener, task::JoinHandle};

const FEED: &str = "<rss version=\"2.0\"><channel><title>Feed</title><link>http://news.test/</link>\
    <item><title>Entry</title><guid>1</guid></item></channel></rss>";

/// The host. It goes with its handle.
pub(super) struct Host {
    address: SocketAddr,
    book: Arc<Book>,
    serving: JoinHandle<()>,
}

struct Book {
    takes: Duration,
    asked: Mutex<Vec<Timestamp>>,
    inside: AtomicUsize,
    inside_most: AtomicUsize,
}

/// Somebody is inside, until there is an answer for them or they are gone. Leaving is noted before
/// the answer is sent, so whoever was made room for comes later.
struct Inside<'a>(&'a Book);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Host {
    /// A host of its own address, whose every answer takes so long.
    pub(super) async fn start(address: &str, takes: Duration) -> Self {
        let book = Arc::new(Book {
            takes,
            asked: Mutex::default(),
            inside: AtomicUsize::new(0),
            inside_most: AtomicUsize::new(0),
        });
        let app = Router::new()
            .route("/{feed}", get(answer))
            .with_state(Arc::clone(&book));
        let listener = TcpListener::bind((address, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self {
            address,
            book,
            serving,
        }
    }

    /// So many of its feeds, as a list of subscriptions has them.
    pub(super) fn feeds(&self, count: usize) -> String {
        let mut list = String::new();
        for number in 0..count {
            let address = self.address;
            let feed = format!("<outline type=\"rss\" xmlUrl=\"http://{address}/{number}\"/>");
            writeln!(list, "{feed}").unwrap();
        }
        list
    }

    /// When it was asked, in order.
    pub(super) fn asked(&self) -> Vec<Timestamp> {
        self.book.asked.lock().unwrap().clone()
    }

    /// By how many at once, at most.
    pub(super) fn inside_most(&self) -> usize {
        self.book.inside_most.load(Ordering::Relaxed)
    }
}

async fn answer(State(book): State<Arc<Book>>) -> impl IntoResponse {
    let inside = book.inside.fetch_add(1, Ordering::Relaxed) + 1;
    let _inside = Inside(&book);
    book.inside_most.fetch_max(inside, Ordering::Relaxed);
    book.asked.lock().unwrap().push(SystemClock.now());
    pause(book.takes).await;
    ([(header::CONTENT_TYPE, "application/rss+xml")], FEED)
}
