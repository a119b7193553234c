//! A node under a service manager: its notifications, and when they come.

use std::{os::unix::net::UnixDatagram, time::Duration};

use crate::{
    harness::Home,
    process::{Process, free_address},
};

/// The manager's end of the socket.
struct Manager(UnixDatagram);

impl Manager {
    /// Waits for a message that holds these lines; others may come before it.
    fn hears(&self, lines: &[&str]) -> String {
        let mut buffer = [0; 1_000];
        loop {
            let length = self.0.recv(&mut buffer).expect(lines[0]);
            let text = String::from_utf8(buffer[..length].to_vec()).unwrap();
            if lines.iter().all(|line| text.lines().any(|it| it == *line)) {
                return text;
            }
        }
    }
}

#[tokio::test]
async fn a_service_manager_is_reported_of_every_turn() {
    let home = Home::new();
    let socket = home.path().join("notify.sock");
    let manager = Manager(UnixDatagram::bind(&socket).unwrap());
    let wait_max = Some(Duration::from_mins(1));
    manager.0.set_read_timeout(wait_max).unwrap();
    let home = home
        .set("NOTIFY_SOCKET", socket.to_str().unwrap())
        .set("WATCHDOG_USEC", "1000000");
    // A lease of 3 s makes a round every half second; a watchdog of one second is too short for
    // four of them.
    let mut node = Process::node(&home, free_address(), &["--node-name", "n1"]);
    let ready = manager.hears(&["READY=1"]);
    assert!(
        ready.contains("STATUS=node n1 listens on 127.0.0.1:"),
        "{ready}"
    );
    manager.hears(&["WATCHDOG_USEC=2000000"]);
    for _ in 0..3 {
        manager.hears(&["WATCHDOG=1"]);
    }
    node.tool("kill", &["-HUP"]);
    let reloading = manager.hears(&["RELOADING=1"]);
    assert!(reloading.contains("MONOTONIC_USEC="), "{reloading}");
    manager.hears(&["READY=1"]);
    node.terminate();
    manager.hears(&["STOPPING=1"]);
    assert_eq!(node.exit_code().await, Some(0), "{}", node.notes());
}
