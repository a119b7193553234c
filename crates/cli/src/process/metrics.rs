//! Metrics of the process, and what keeps them from growing.
//!
//! An observation waits in memory until the metrics are read. There may be no reader, and
//! observations arrive for as long as the process lives. So they are folded into their histograms
//! every few seconds, read or not; CPU, memory and files are measured at the same interval.

mod table;

use std::time::Duration;

use almanack_adapters::{clock::pause, resources};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use tokio_util::sync::CancellationToken;

use crate::{
    config::Settings,
    failure::{Failure, Result},
};

/// Bounds of the histograms, in seconds: from "at once" to "an hour late".
const SECONDS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0, 3600.0,
];

/// How often observations are folded into the metrics.
const FOLD_EVERY: Duration = Duration::from_secs(5);

/// Metrics are the process's, not the app's: one start in a process counts.
pub(super) fn install(counted: bool, settings: &Settings) -> Result<PrometheusHandle> {
    let recorder = recorder()?;
    let handle = recorder.handle();
    if !counted {
        return Ok(handle);
    }
    if metrics::set_global_recorder(recorder).is_err() {
        // `bench` starts several nodes, one after another: what the later ones do is not counted.
        return Ok(handle);
    }
    table::export();
    table::export_configured(settings);
    let version = env!("CARGO_PKG_VERSION");
    metrics::gauge!("almanack_build_info", "version" => version).set(1.0);
    show_resources();
    Ok(handle)
}

fn recorder() -> Result<PrometheusRecorder> {
    let bounded = PrometheusBuilder::new().set_buckets(&SECONDS);
    let failed = |error| Failure::failed(format!("start metrics: {error}"));
    Ok(bounded.map_err(failed)?.build_recorder())
}

/// Folds waiting observations: without a reader of the metrics they would wait forever.
pub(super) async fn fold(metrics: &PrometheusHandle, drained: &CancellationToken) {
    while drained
        .run_until_cancelled(pause(FOLD_EVERY))
        .await
        .is_some()
    {
        metrics.run_upkeep();
        show_resources();
    }
}

#[expect(clippy::cast_precision_loss, reason = "gauges")]
fn show_resources() {
    let Some(taken) = resources::measure() else {
        return;
    };
    metrics::counter!("process_cpu_seconds_total").absolute(taken.cpu_seconds);
    metrics::gauge!("process_resident_memory_bytes").set(taken.resident_bytes as f64);
    metrics::gauge!("process_virtual_memory_bytes").set(taken.virtual_bytes as f64);
    metrics::gauge!("process_threads").set(taken.threads as f64);
    if let Some(open) = taken.open_files {
        metrics::gauge!("process_open_fds").set(open as f64);
    }
    if let Some(most) = taken.max_files {
        metrics::gauge!("process_max_fds").set(most as f64);
    }
    if let Some(started_at) = taken.started_at_seconds {
        metrics::gauge!("process_start_time_seconds").set(started_at as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a histogram holds this many observations, by the recorder's debug output: reading
    /// the metrics would fold them.
    fn holds(metrics: &PrometheusHandle, observations: usize) -> bool {
        format!("{metrics:?}").contains(&format!("Histogram {{ count: {observations},"))
    }

    #[tokio::test(start_paused = true)]
    async fn observations_are_folded_while_the_metrics_are_not_read() {
        let recorder = recorder().unwrap();
        let (metrics, drained) = (recorder.handle(), CancellationToken::new());
        let observe = || metrics::histogram!("lateness").record(0.5);
        let living = async {
            for round in 1..=3 {
                metrics::with_local_recorder(&recorder, observe);
                assert!(!holds(&metrics, round), "{metrics:?}");
                pause(FOLD_EVERY).await;
                // Both woke at the same instant, in whichever order.
                tokio::task::yield_now().await;
                assert!(holds(&metrics, round), "{metrics:?}");
            }
            drained.cancel();
        };
        tokio::join!(living, fold(&metrics, &drained));
    }
}
