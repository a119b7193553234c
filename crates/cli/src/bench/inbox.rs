//! Measures how soon a node takes in what a service wrote in its own transaction.

use std::time::Duration;

use almanack_adapters::clock::Stopwatch;
use almanack_lab::figures::rounded;
use almanack_store::scratch::InboxClient;

use super::{KIND, Measured, Result, wrong};

/// One request after another: each is committed, and then asked for until its answer is there.
pub(crate) async fn inbox(
    service: &InboxClient,
    requests: usize,
    cap: Duration,
) -> Result<Measured> {
    let mut late_ms = Vec::with_capacity(requests);
    let whole = Stopwatch::start();
    for n in 0..requests {
        let number = service.put(KIND, &format!("inbox:{n}")).await?;
        let watch = Stopwatch::start();
        // Without a pause between two looks: a timer is coarser than what is measured.
        while !service.is_answered(number).await? {
            if whole.seconds() > cap.as_secs_f64() {
                return Err(wrong(format!("no answer to request {number} in the inbox")));
            }
        }
        late_ms.push(rounded(watch.seconds() * 1_000.0, 2));
        if whole.seconds() > cap.as_secs_f64() {
            break;
        }
    }
    Ok(Measured {
        n: late_ms.len(),
        late_ms: Some(late_ms),
        how: "one request after another, from its commit to its receipt".to_owned(),
        ..Measured::default()
    })
}
