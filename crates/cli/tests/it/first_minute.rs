//! What somebody meets first: where the dashboard is, and whose node holds the port.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::harness::Home;

/// A node with this log that is asked to stop when it is dropped.
struct Served {
    child: Child,
    /// The first line of its notes.
    first: String,
}

impl Served {
    fn new(home: &Home, further: &[&str]) -> Self {
        let serve = ["serve", "--listen", "127.0.0.1:0"];
        let mut child = home
            .command(&[&serve[..], further].concat())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = notes.find(|line| line.as_ref().unwrap().contains("Listening on"));
        Self {
            child,
            first: first.unwrap().unwrap(),
        }
    }

    fn address(&self) -> &str {
        let (_, behind) = self.first.split_once("http://").unwrap();
        behind.split_once("/ui").unwrap().0
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let _ = self.child.wait();
    }
}

#[test]
fn the_address_of_the_dashboard_is_printed_however_quiet_the_log_is() {
    let served = Served::new(&Home::new(), &["--set", "log.level=error"]);
    assert!(
        served.first.starts_with("Listening on http://127.0.0.1:"),
        "{}",
        served.first
    );
}

#[test]
fn the_doctor_distinguishes_its_own_node_from_that_of_another_database() {
    let (own, other) = (Home::new(), Home::new());
    let served = Served::new(&own, &["--node-name", "news-1"]);
    let listen = format!("server.listen={}", served.address());
    let port = |home: &Home| {
        let ran = home.run(&["doctor", "--json", "--offline", "--set", &listen]);
        let reported: Value = serde_json::from_str(&ran.data).unwrap();
        let findings = reported["findings"].as_array().unwrap();
        let found = findings.iter().find(|it| it["check"] == "port").unwrap();
        (found["verdict"].clone(), found["what"].to_string())
    };
    let (verdict, what) = port(&own);
    assert_eq!(verdict, "ok", "{what}");
    for filled in [false, true] {
        if filled {
            assert_eq!(
                other.run(&["token", "create", "a", "--scope", "read"]).code,
                0
            );
        }
        let (verdict, what) = port(&other);
        assert_eq!(verdict, "failed", "{filled}: {what}");
        assert!(what.contains("`news-1`"), "{what}");
    }
}
