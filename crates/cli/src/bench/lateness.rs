//! Measures how late tasks start.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use almanack_adapters::clock::{Stopwatch, SystemClock, pause};
use almanack_core::{finish::Outcome, handler::Handler, task::ClaimedTask, time::Clock};
use almanack_engine::handlers::Handlers;
use almanack_lab::figures::rounded;
use async_trait::async_trait;

use super::{Bench, Measured, Result, instants, later, request};

/// A node of ordinary size: this measures single tasks, not throughput.
const SLOTS: usize = 64;
/// How long to wait for late tasks after the last instant.
const WAIT_MAX: Duration = Duration::from_secs(8);
/// Interval between two checks whether everything is done.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Records how late each task starts, by the clock that set its time.
struct Noting {
    clock: Arc<dyn Clock>,
    late_ms: Mutex<Vec<f64>>,
}

impl Noting {
    fn noted(&self) -> MutexGuard<'_, Vec<f64>> {
        self.late_ms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Handler for Noting {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let late = self.clock.now().duration_since(task.execute_at);
        self.noted().push(late.as_millis_f64());
        Outcome::Done { detail: None }
    }
}

/// Tasks at distinct instants, with the node already running.
pub(crate) async fn lateness(bench: &Bench) -> Result<Measured> {
    let load = &bench.load;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let handler = Arc::new(Noting {
        clock: clock.clone(),
        late_ms: Mutex::default(),
    });
    let node = bench.start_on(&bench.store, "bench", Handlers::new(handler.clone()), SLOTS);
    let node = node.await?;
    let [ahead, spread] = [load.late_lead_ms, load.late_spread_ms].map(Duration::from_millis);
    let times = instants(later(&*clock, ahead), spread, load.late_tasks).enumerate();
    let requests = times.map(|(n, at)| request(&format!("late:{n}"), at));
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    bench.rescheduler().ask_all(requests, "bench").await?;
    let watch = Stopwatch::start();
    let limit = (ahead + spread + WAIT_MAX).as_secs_f64();
    while handler.noted().len() < load.late_tasks && watch.seconds() < limit {
        pause(LOOK_EVERY).await;
    }
    node.stop().await?;
    let late_ms: Vec<f64> = handler.noted().iter().map(|ms| rounded(*ms, 2)).collect();
    Ok(Measured {
        n: late_ms.len(),
        late_ms: Some(late_ms),
        how: format!("{SLOTS} slots, woken by the next due time; no polling"),
        ..Measured::default()
    })
}
