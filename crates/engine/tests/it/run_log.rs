//! What runs print, on its way into the store.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use almanack_core::{
    run_log::{KnownSecrets, RunLogs, read_page},
    secret::Secret,
    store::{
        ClaimRequest, Claimed, Error, LogPage, LogPiece, LogWrite, PIECE_BYTES_MAX, Result, RunId,
        Store,
    },
    task::{TaskId, Term},
    time::Clock as _,
};
use almanack_engine::{
    node,
    retention::Retention,
    run_log::{CALL_BYTES_MAX, RunLogKeeper},
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    fixture::{PUBLISH, claim_request, put},
    layer::{Layer, Layered},
};
use async_trait::async_trait;
use jiff::SignedDuration;
use tokio_util::sync::CancellationToken;

use crate::node::{ports, settings};
use crate::virtual_time::{VirtualTime, pause};

const MIB: u64 = 1024 * 1024;

fn run(task: i64) -> RunId {
    RunId {
        task_id: TaskId(task),
        term: Term(1),
    }
}

/// Counts calls, holds them up, and refuses as many as a test wants.
#[derive(Clone, Default)]
struct Meter(Arc<Counts>);

#[derive(Default)]
struct Counts {
    /// Bytes of each call.
    calls: Mutex<Vec<usize>>,
    under_way: AtomicUsize,
    at_once_max: AtomicUsize,
    refused: AtomicUsize,
    /// Calls under way when a claim came.
    met_by_claims: Mutex<Vec<usize>>,
}

#[async_trait]
impl Layer for Meter {
    async fn append_run_logs(&self, below: &dyn Store, writes: Vec<LogWrite>) -> Result<()> {
        let counts = &*self.0;
        let at_once = counts.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        counts.at_once_max.fetch_max(at_once, Ordering::SeqCst);
        let bytes = writes.iter().map(|write| write.piece.text.len()).sum();
        counts.calls.lock().unwrap().push(bytes);
        pause(Duration::from_millis(3)).await;
        let is_refused = counts
            .refused
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            });
        let done = match is_refused {
            Ok(_) => Err(Error::Busy),
            Err(_) => below.append_run_logs(writes).await,
        };
        counts.under_way.fetch_sub(1, Ordering::SeqCst);
        done
    }

    async fn claim(&self, below: &dyn Store, request: ClaimRequest) -> Result<Claimed> {
        let under_way = self.0.under_way.load(Ordering::SeqCst);
        self.0.met_by_claims.lock().unwrap().push(under_way);
        below.claim(request).await
    }
}

struct Stage {
    store: Arc<dyn Store>,
    meter: Meter,
    keeper: RunLogKeeper,
    time: VirtualTime,
}

fn stage(bytes_max: u64) -> Stage {
    let meter = Meter::default();
    let below = Arc::new(SqliteStore::in_memory().unwrap());
    let store = Layered::over(below, meter.clone());
    let time = VirtualTime::start();
    let secrets = KnownSecrets::new([Secret::new("hunter2")]);
    let times = (Arc::new(time) as _, Arc::new(time) as _);
    let keeper = RunLogKeeper::new(Arc::clone(&store), times, bytes_max, secrets);
    Stage {
        store,
        meter,
        keeper,
        time,
    }
}

impl Stage {
    async fn kept(&self, run: RunId) -> (u64, String) {
        let page = LogPage {
            run,
            from: 0,
            pieces: 10_000,
        };
        let pieces = self.store.load_run_log(page).await.unwrap();
        let bytes = pieces.iter().map(|piece| piece.text.len() as u64).sum();
        (bytes, read_page(&pieces, 0, usize::MAX, true).text)
    }

    fn calls(&self) -> Vec<usize> {
        self.meter.0.calls.lock().unwrap().clone()
    }
}

#[tokio::test(start_paused = true)]
async fn dp_20_output_is_kept_while_it_is_printed() {
    let stage = stage(MIB);
    let mut log = stage.keeper.begin(run(1));
    assert_eq!(log.write(b"first\n"), b"first\n");
    pause(Duration::from_millis(1_200)).await;
    assert_eq!(stage.kept(run(1)).await.1, "first\n", "after a second");
    log.write(&vec![b'x'; PIECE_BYTES_MAX]);
    pause(Duration::from_millis(200)).await;
    assert_eq!(
        stage.kept(run(1)).await.0,
        6 + PIECE_BYTES_MAX as u64,
        "at once"
    );
    log.write(b"last");
    log.end().await;
    assert!(
        stage.kept(run(1)).await.1.ends_with("xlast"),
        "with its end"
    );
    pause(Duration::from_mins(10)).await;
    assert_eq!(stage.calls().len(), 3, "a log that rests costs nothing");
}

/// However much is printed, calls are bounded, follow each other with a rest, and are never two at
/// once: a claim that comes meanwhile finds at most one of them before it.
#[tokio::test(start_paused = true)]
async fn dp_20_ten_megabytes_of_output_do_not_slow_a_claim() {
    let stage = stage(64 * MIB);
    let due = stage.time.now();
    let changes = (0..50).map(|number| {
        let request =
            almanack_core::reschedule::Request::Put(put(&format!("a:{number}"), PUBLISH, due));
        almanack_core::reschedule::decide(None, &request, "test", due).unwrap()
    });
    stage.store.apply(changes.collect()).await.unwrap();
    let printing = async {
        let mut logs: Vec<_> = (1..=2).map(|task| stage.keeper.begin(run(task))).collect();
        for _ in 0..1_280 {
            for log in &mut logs {
                log.write(&[b'a'; 4 * 1024]);
            }
            tokio::task::yield_now().await;
        }
        for log in &mut logs {
            log.end().await;
        }
    };
    let claiming = async {
        for number in 0..50 {
            let request = claim_request(number, stage.time.now(), 1);
            let claimed = stage.store.claim(request).await.unwrap();
            assert_eq!(claimed.tasks.len(), 1);
            pause(Duration::from_millis(40)).await;
        }
    };
    let began_at = stage.time.now();
    tokio::join!(printing, claiming);
    let calls = stage.calls();
    let most = CALL_BYTES_MAX + PIECE_BYTES_MAX;
    assert_eq!(
        calls.iter().sum::<usize>(),
        10 * 1024 * 1024,
        "all of it, once"
    );
    assert!(calls.iter().all(|bytes| *bytes <= most), "{calls:?}");
    assert!(
        calls.len() <= 10 * 1024 * 1024 / CALL_BYTES_MAX + 3,
        "{calls:?}"
    );
    let counts = &stage.meter.0;
    assert_eq!(counts.at_once_max.load(Ordering::SeqCst), 1);
    let met = counts.met_by_claims.lock().unwrap().clone();
    assert_eq!(met.len(), 50);
    assert!(met.iter().all(|under_way| *under_way <= 1), "{met:?}");
    let took = stage.time.now().duration_since(began_at);
    let rests = SignedDuration::from_millis(50) * i32::try_from(calls.len() - 1).unwrap();
    assert!(took >= rests, "{} calls in {took:?}", calls.len());
    for task in 1..=2 {
        assert_eq!(stage.kept(run(task)).await.0, 5 * MIB);
    }
}

#[tokio::test(start_paused = true)]
async fn dp_20_what_is_too_long_keeps_its_beginning_and_its_end() {
    let stage = stage(MIB);
    let mut log = stage.keeper.begin(run(1));
    log.write(b"the beginning\n");
    for _ in 0..200 {
        log.write(&vec![b'.'; 50_000]);
    }
    log.write(b"\nthe end");
    log.end().await;
    let (bytes, _) = stage.kept(run(1)).await;
    assert!((MIB..=MIB + MIB / 16).contains(&bytes), "{bytes}");
    let extents = stage.store.load_run_log_extents(TaskId(1)).await.unwrap();
    assert_eq!(extents[0].end, 14 + 200 * 50_000 + 8, "all is counted");
    let calls = stage.calls();
    assert!(
        calls.len() < 12,
        "what would be cut is not written: {calls:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn dp_20_a_secret_reaches_no_store_in_whatever_parts_it_is_printed() {
    let stage = stage(MIB);
    let mut log = stage.keeper.begin(run(1));
    for part in ["password: hun", "ter", "2\n"] {
        log.write(part.as_bytes());
        pause(Duration::from_secs(2)).await;
        let (_, text) = stage.kept(run(1)).await;
        assert!(!text.contains("hun"), "{text}");
    }
    log.end().await;
    assert_eq!(stage.kept(run(1)).await.1, "password: ***\n");
    stage.keeper.report(run(2), "HTTP 200\nhunter2").await;
    assert_eq!(stage.kept(run(2)).await.1, "HTTP 200\n***\n");
}

/// A store that is away for a while costs neither the run nor its output.
#[tokio::test(start_paused = true)]
async fn dp_20_output_waits_for_a_store_that_is_away() {
    let stage = stage(MIB);
    stage.meter.0.refused.store(3, Ordering::SeqCst);
    let mut log = stage.keeper.begin(run(1));
    log.write(b"one\n");
    pause(Duration::from_secs(3)).await;
    log.write(b"two\n");
    assert_eq!(stage.kept(run(1)).await.0, 0);
    log.end().await;
    assert_eq!(stage.kept(run(1)).await.1, "one\ntwo\n");
    // One that stays away does not keep the attempt.
    stage.meter.0.refused.store(1_000, Ordering::SeqCst);
    let mut log = stage.keeper.begin(run(2));
    log.write(b"lost?\n");
    let began_at = stage.time.now();
    log.end().await;
    let waited = stage.time.now().duration_since(began_at);
    assert_eq!(waited.as_secs(), 10);
    drop(log);
    stage.meter.0.refused.store(0, Ordering::SeqCst);
    pause(Duration::from_secs(5)).await;
    assert_eq!(stage.kept(run(2)).await.1, "lost?\n", "it is kept late");
}

/// Whatever the number of pieces, by their own age; and never later than tasks.
#[tokio::test(start_paused = true)]
async fn dp_20_old_run_logs_are_deleted_and_young_ones_stay() {
    let hours = SignedDuration::from_hours;
    let rows = [
        (Retention::After(hours(48)), Retention::Keep, 2),
        (
            Retention::After(hours(24 * 365)),
            Retention::After(hours(48)),
            2,
        ),
        (Retention::Keep, Retention::After(hours(1)), 1),
        (Retention::Keep, Retention::Keep, 202),
    ];
    for (tasks, run_logs, left) in rows.map(|(logs, tasks, left)| (tasks, logs, left)) {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
        let time = VirtualTime::start();
        let piece = |place: u64, age: i64| LogWrite {
            run: run(1),
            piece: LogPiece {
                at: place,
                text: b"x".to_vec(),
            },
            cut: 0..0,
            written_at: time.now() - hours(age),
        };
        let old = (0..200).map(|place| piece(place, 72));
        let young = [piece(200, 2), piece(201, 0)];
        let writes = old.chain(young).collect();
        store.append_run_logs(writes).await.unwrap();
        let ports = ports(store.clone(), time, 1, Duration::ZERO);
        let mut node = node::admit(ports, settings(SignedDuration::ZERO))
            .await
            .unwrap();
        (node.keep.tasks, node.keep.run_logs) = (tasks, run_logs);
        let stop = CancellationToken::new();
        let running = tokio::spawn(node.run(stop.clone()));
        pause(Duration::from_mins(2)).await;
        let extents = store.load_run_log_extents(TaskId(1)).await.unwrap();
        assert_eq!(extents[0].kept, left, "{tasks:?} {run_logs:?}");
        stop.cancel();
        running.await.unwrap();
    }
}
