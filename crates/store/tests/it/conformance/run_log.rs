//! What runs printed.

use std::sync::Arc;

use almanack_core::{
    store::{LogPage, LogPiece, LogWrite, PIECE_BYTES_MAX, RunId, Store},
    task::{TaskId, Term},
};
use almanack_testkit::fixture::START;
use jiff::{SignedDuration, Timestamp};

const RUN: RunId = RunId {
    task_id: TaskId(7),
    term: Term(2),
};

fn write(run: RunId, at: u64, text: &[u8]) -> LogWrite {
    LogWrite {
        run,
        piece: LogPiece {
            at,
            text: text.to_vec(),
        },
        cut: 0..0,
        written_at: START,
    }
}

async fn append(store: &dyn Store, writes: Vec<LogWrite>) {
    store.append_run_logs(writes).await.unwrap();
}

async fn pieces(store: &dyn Store, run: RunId, from: u64) -> Vec<(u64, Vec<u8>)> {
    let pieces = 1_000;
    let loaded = store.load_run_log(LogPage { run, from, pieces }).await;
    let loaded = loaded.unwrap().into_iter();
    loaded.map(|piece| (piece.at, piece.text)).collect()
}

/// Bytes that repeat in no simple way, zeros and broken characters among them.
fn noise(bytes: usize) -> Vec<u8> {
    let byte = |n: usize| (n.wrapping_mul(2_654_435_761) >> 7).to_le_bytes()[0];
    (0..bytes).map(byte).collect()
}

/// Whatever was printed: nothing, zeros, half a character, as much as fits.
pub(crate) async fn dp_20_a_run_log_comes_back_byte_for_byte(store: Arc<dyn Store>) {
    append(&*store, Vec::new()).await;
    let texts = [
        b"one\n".to_vec(),
        vec![0, 255, 0xe2, 0x82],
        noise(PIECE_BYTES_MAX),
    ];
    let mut at = 0;
    let mut expected = Vec::new();
    for text in texts {
        append(&*store, vec![write(RUN, at, &text)]).await;
        expected.push((at, text.clone()));
        at += text.len() as u64;
    }
    assert_eq!(pieces(&*store, RUN, 0).await, expected);
    let extents = store.load_run_log_extents(RUN.task_id).await.unwrap();
    let [extent] = extents[..] else {
        panic!("{extents:?}");
    };
    assert_eq!((extent.term, extent.kept, extent.end), (RUN.term, at, at));
    assert_eq!(extent.written_at, START);
}

/// From the middle of a piece that piece is read too; so many pieces are read, and no more.
pub(crate) async fn dp_20_a_log_is_read_from_anywhere_in_it(store: Arc<dyn Store>) {
    let full = noise(PIECE_BYTES_MAX);
    let size = PIECE_BYTES_MAX as u64;
    let writes = (0..4).map(|n| write(RUN, n * size, &full)).collect();
    append(&*store, writes).await;
    for (from, first) in [
        (0, Some(0)),
        (1, Some(0)),
        (size - 1, Some(0)),
        (size, Some(size)),
        (3 * size + 5, Some(3 * size)),
        (4 * size, None),
        (u64::MAX, None),
    ] {
        let found = pieces(&*store, RUN, from).await;
        assert_eq!(found.first().map(|(at, _)| *at), first, "from {from}");
    }
    let page = LogPage {
        run: RUN,
        from: size,
        pieces: 2,
    };
    let found = store.load_run_log(page).await.unwrap();
    let places: Vec<u64> = found.iter().map(|piece| piece.at).collect();
    assert_eq!(places, [size, 2 * size]);
}

/// Asked again after a lost reply, nothing is there twice.
pub(crate) async fn dp_20_the_piece_that_grows_is_written_in_its_place(store: Arc<dyn Store>) {
    for text in ["working", "working.", "working.", "working. done\n"] {
        let grown = write(RUN, 4, text.as_bytes());
        append(&*store, vec![write(RUN, 0, b"sync"), grown]).await;
    }
    let expected = [(0, b"sync".to_vec()), (4, b"working. done\n".to_vec())];
    assert_eq!(pieces(&*store, RUN, 0).await, expected);
}

pub(crate) async fn dp_20_what_is_cut_is_no_longer_kept_and_its_place_is_seen(
    store: Arc<dyn Store>,
) {
    let writes = (0..5).map(|n| write(RUN, n * 10, b"0123456789")).collect();
    append(&*store, writes).await;
    let mut last = write(RUN, 50, b"the end");
    // A piece that is only partly inside is kept whole.
    last.cut = 10..39;
    append(&*store, vec![last]).await;
    let places: Vec<u64> = pieces(&*store, RUN, 0)
        .await
        .iter()
        .map(|it| it.0)
        .collect();
    assert_eq!(places, [0, 30, 40, 50]);
    let extents = store.load_run_log_extents(RUN.task_id).await.unwrap();
    assert_eq!((extents[0].kept, extents[0].end), (37, 57));
}

/// An attempt that was given up for dead and still prints changes nothing of the next one's log.
pub(crate) async fn dp_20_attempts_have_logs_of_their_own(store: Arc<dyn Store>) {
    let run = |task, term| RunId {
        task_id: TaskId(task),
        term: Term(term),
    };
    let mine = [run(7, 1), run(7, 2), run(8, 1)];
    let writes = mine.map(|run| write(run, 0, format!("{run:?}").as_bytes()));
    append(&*store, writes.to_vec()).await;
    for run in mine {
        let expected = [(0, format!("{run:?}").into_bytes())];
        assert_eq!(pieces(&*store, run, 0).await, expected);
    }
    let terms = |id| {
        let store = Arc::clone(&store);
        async move {
            let extents = store.load_run_log_extents(TaskId(id)).await.unwrap();
            extents.iter().map(|it| it.term.0).collect::<Vec<i64>>()
        }
    };
    assert_eq!(terms(7).await, [1, 2]);
    assert_eq!(terms(8).await, [1]);
    assert_eq!(terms(9).await, [0; 0]);
}

/// Each is there once and whole, whatever the order.
pub(crate) async fn dp_20_reports_of_several_nodes_follow_each_other(store: Arc<dyn Store>) {
    let mut nodes = Vec::new();
    for node in 0..4 {
        let store = Arc::clone(&store);
        nodes.push(tokio::spawn(async move {
            for count in 0..5 {
                let text = format!("node {node}: {count}\n");
                let kept = store.report_to_run_log(RUN, text.as_bytes(), 10_000, START);
                assert!(kept.await.unwrap());
            }
        }));
    }
    for node in nodes {
        node.await.unwrap();
    }
    let found = pieces(&*store, RUN, 0).await;
    let mut end = 0;
    for (at, text) in &found {
        assert_eq!(*at, end, "one follows the other");
        end += text.len() as u64;
    }
    let mut lines: Vec<String> = found
        .into_iter()
        .map(|(_, text)| String::from_utf8(text).unwrap())
        .collect();
    lines.sort();
    let all = (0..4).flat_map(|node| (0..5).map(move |count| format!("node {node}: {count}\n")));
    assert_eq!(lines, all.collect::<Vec<_>>());
}

pub(crate) async fn dp_20_reports_end_where_the_log_is_full(store: Arc<dyn Store>) {
    let mut kept = Vec::new();
    for text in ["12345", "678", "901", "2"] {
        let done = store.report_to_run_log(RUN, text.as_bytes(), 9, START);
        kept.push(done.await.unwrap());
    }
    assert_eq!(kept, [true, true, true, false]);
    assert_eq!(pieces(&*store, RUN, 0).await.len(), 3);
}

pub(crate) async fn dp_20_old_pieces_are_deleted_oldest_first(store: Arc<dyn Store>) {
    let at = |hours| -> Timestamp { START + SignedDuration::from_hours(hours) };
    let hours: [(u64, i64); 4] = [(0, 3), (1, 1), (2, 2), (3, 4)];
    for (number, hour) in hours {
        let mut piece = write(RUN, number, b"x");
        piece.written_at = at(hour);
        append(&*store, vec![piece]).await;
    }
    let mut left = Vec::new();
    for (before, limit, deleted) in [(at(1), 9, 0), (at(4), 2, 2), (at(4), 9, 1), (at(4), 9, 0)] {
        assert_eq!(store.prune_run_logs(before, limit).await.unwrap(), deleted);
        let places = pieces(&*store, RUN, 0).await;
        left.push(places.iter().map(|it| it.0).collect::<Vec<u64>>());
    }
    assert_eq!(left, [vec![0, 1, 2, 3], vec![0, 3], vec![3], vec![3]]);
}

pub(crate) async fn dp_20_a_piece_that_is_too_long_changes_nothing(store: Arc<dyn Store>) {
    let long = vec![b'x'; PIECE_BYTES_MAX + 1];
    let writes = vec![write(RUN, 0, b"short"), write(RUN, 5, &long)];
    store.append_run_logs(writes).await.unwrap_err();
    store
        .report_to_run_log(RUN, &long, u64::MAX, START)
        .await
        .unwrap_err();
    assert_eq!(pieces(&*store, RUN, 0).await, []);
}
