//! Measures how many waiting tasks can be rescheduled per second, one call each.

use std::{sync::Arc, time::Duration};

use almanack_adapters::clock::Stopwatch;
use almanack_core::{
    reschedule::{Request, Rule},
    time::to_micros,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;

use super::{Bench, Error, Measured, Result, later, request};

/// Far enough that nothing becomes due during the measurement.
const FAR: Duration = Duration::from_hours(24);

/// Reschedules some of many waiting tasks, several clients at a time.
pub(crate) async fn moves(bench: &Bench) -> Result<Measured> {
    let load = &bench.load;
    let rescheduler = bench.rescheduler();
    let far = to_micros(later(&*bench.clock, FAR));
    let subjects: Vec<String> = (0..load.pending).map(|n| format!("move:{n}")).collect();
    for chunk in subjects.chunks(load.batch) {
        let requests = chunk
            .iter()
            .map(|subject| request(subject, far))
            .collect::<Result<Vec<_>, _>>()?;
        rescheduler.ask_all(requests, "bench").await?;
    }
    let step = (load.pending / load.moves.max(1)).max(1);
    let moved_to = far.saturating_add(FAR).unwrap_or(Timestamp::MAX);
    let requests: Vec<Request> = subjects
        .iter()
        .step_by(step)
        .take(load.moves)
        .map(|subject| request(subject, moved_to))
        .collect::<Result<_, _>>()?;
    let n = requests.len();
    let watch = Stopwatch::start();
    stream::iter(requests)
        .map(|request| {
            let rescheduler = Arc::clone(&rescheduler);
            async move {
                let receipt = rescheduler.ask(request, "bench").await?;
                match receipt.rule {
                    Rule::Updated if receipt.execute_at == moved_to => Ok(()),
                    rule => Err(Error::Wrong(format!("not updated but {}", rule.as_str()))),
                }
            }
        })
        .buffer_unordered(load.clients)
        .try_collect::<Vec<()>>()
        .await?;
    Ok(Measured {
        n,
        seconds: Some(watch.seconds()),
        how: format!(
            "one call per task, {} at a time; receipt and history kept",
            load.clients
        ),
        ..Measured::default()
    })
}
