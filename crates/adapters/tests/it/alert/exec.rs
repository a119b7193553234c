//! A local program as a channel.

use std::{collections::BTreeMap, fs, time::Duration};

use almanack_adapters::alert::{Language, Way, exec::Program};
use almanack_core::alert::port::{Notifier, Outcome};
use serde_json::Value;

use super::general::{channels, failing};

fn program(folder: &tempfile::TempDir, argv: &[&str], timeout: Duration) -> Way {
    Way::Exec(Program {
        argv: argv.iter().map(|&text| text.to_owned()).collect(),
        environment: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
        directory: folder.path().to_owned(),
        timeout,
    })
}

async fn notified(folder: &tempfile::TempDir, script: &str, timeout: Duration) -> Outcome {
    let argv = ["/bin/sh", "-c", script, "sh", "$HOME `id`"];
    let way = program(folder, &argv, timeout);
    let channels = channels(Language::English, vec![("exec", way)]);
    let mut answers = channels.notify(&[failing()]).await;
    answers.remove(0).outcome
}

#[tokio::test]
async fn a_program_reads_it_as_json_and_in_variables() {
    let folder = tempfile::tempdir().unwrap();
    let script = "cat > alerts; echo \"$ALMANACK_ALERT_NEWS|$ALMANACK_ALERT_RULE|$ALMANACK_ALERT_ABOUT|\
                  $ALMANACK_ALERT_SEVERITY|$ALMANACK_ALERT_COUNT|$ALMANACK_ALERT_TITLE|$HOME|$1\" > seen; echo sent";
    let outcome = notified(&folder, script, Duration::from_secs(30)).await;
    assert_eq!(outcome.as_str(), "taken", "{outcome:?}");
    assert!(outcome.detail().ends_with("sent"), "{outcome:?}");
    let seen = fs::read_to_string(folder.path().join("seen")).unwrap();
    let seen: String = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        seen,
        "opened|failing|schedule:nightly|critical|1|Almanack: schedule nightly keeps failing||$HOME `id`"
    );
    let body = fs::read_to_string(folder.path().join("alerts")).unwrap();
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["alerts"][0]["about"], "schedule:nightly");
}

#[tokio::test]
async fn one_that_fails_hangs_or_is_missing_did_not_take_it() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = notified(
        &folder,
        "echo no paper >&2; exit 3",
        Duration::from_secs(30),
    )
    .await;
    assert_eq!(outcome.as_str(), "failed");
    assert!(outcome.detail().contains("exit code 3"), "{outcome:?}");
    assert!(outcome.detail().contains("no paper"), "{outcome:?}");
    let outcome = notified(
        &folder,
        "exec tail -f /dev/null",
        Duration::from_millis(200),
    )
    .await;
    assert_eq!(outcome.as_str(), "failed");
    assert!(outcome.detail().contains("did not end"), "{outcome:?}");
    let way = program(&folder, &["/nowhere/page"], Duration::from_secs(30));
    let channels = channels(Language::English, vec![("exec", way)]);
    let answers = channels.notify(&[failing()]).await;
    assert_eq!(answers[0].outcome.as_str(), "refused");
}
