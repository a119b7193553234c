//! Faults below the nodes while they work: the database server and the disk.
//!
//! `almanack chaos` simulates the world and checks the promises. It cannot break a server or fill a
//! disk, so the test does that meanwhile.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use almanack_testkit::postgres::{number, run};
use serde_json::Value;

use super::{QUICK, assert_held};
use crate::{failures::postgres::Cluster, harness::Home, process::eventually};

/// A running `chaos`. Its nodes end with it.
struct Running {
    child: Child,
    report: PathBuf,
    notes: PathBuf,
}

impl Running {
    fn start(home: &Home, mut command: Command) -> Self {
        let (report, notes) = (home.path().join("report"), home.path().join("notes"));
        command
            .stdin(Stdio::null())
            .stdout(File::create(&report).unwrap())
            .stderr(File::create(&notes).unwrap());
        Self {
            child: command.spawn().unwrap(),
            report,
            notes,
        }
    }

    fn notes(&self) -> String {
        fs::read_to_string(&self.notes).unwrap()
    }

    async fn until_up(&mut self) {
        eventually("all nodes are running", async || {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "it exited: {ended:?}\n{}", self.notes());
            self.notes().contains("All nodes are running").then_some(())
        })
        .await;
    }

    /// Waits for its end and returns its report.
    fn report(mut self) -> Value {
        let ended = self.child.wait().unwrap();
        let report = fs::read_to_string(&self.report).unwrap();
        assert!(ended.success(), "{report}{}", self.notes());
        serde_json::from_str(&report).unwrap()
    }
}

impl Drop for Running {
    /// Stopped by SIGTERM it stops its nodes; killed, it could not.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let pid = self.child.id().to_string();
            let _ = Command::new("kill").args(["-TERM", &pid]).status();
            let _ = self.child.wait();
        }
    }
}

/// Waits until nodes have written slots into the ledger. After a crash the server counts from zero.
async fn until_slots(server: &str) {
    let count =
        "select coalesce(sum(n_tup_ins), 0)::bigint from pg_stat_all_tables where relname = 'slot'";
    eventually("slots are in the ledger", async || {
        (number(server, count).await >= 3).then_some(())
    })
    .await;
}

/// The primary commits only what its standby has, so a failover loses nothing; a crash loses no
/// commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_08_dp_16_a_crash_and_then_a_failover_of_postgres_lose_and_double_nothing() {
    let primary = Cluster::start();
    let standby = primary.standby();
    run(
        &primary.url,
        "alter system set synchronous_standby_names = '*'",
    )
    .await;
    run(&primary.url, "select pg_reload_conf()").await;
    let both = format!("{},{}", primary.server(), standby.server());
    let database = primary.url.replace(primary.server(), &both);
    let home = Home::new();
    let further = ["--minutes", "0.25", "--faults", "none", "--database"];
    let command = home.command(&[&QUICK[..], &further, &[&database]].concat());
    let mut running = Running::start(&home, command);
    running.until_up().await;
    until_slots(&primary.url).await;
    primary.pause();
    primary.resume();
    until_slots(&primary.url).await;
    primary.pause();
    standby.promote();
    assert_held(&running.report(), &[]);
}

/// Largest writable file size. The store is larger from the start.
const FULL: &str = "--fsize=65536:";

/// A file size limit simulates a full disk: it can be set and removed while the node runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_08_dp_16_a_full_disk_loses_and_doubles_nothing() {
    let home = Home::new();
    let scratch = home.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let home = home.set("TMPDIR", scratch.to_str().unwrap());
    let further = ["--minutes", "0.18", "--faults", "none"];
    let plain = home.command(&[&QUICK[..], &further].concat());
    // A process over the limit gets a signal that would end it; ignored, the write fails as on a
    // full disk.
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(home.path())
        .env("TMPDIR", &scratch);
    let mut running = Running::start(&home, command);
    running.until_up().await;
    let node = child_of(running.child.id());
    limit(&node, FULL);
    eventually("the node cannot write", async || {
        let folder = fs::read_dir(&scratch).unwrap().next().unwrap().unwrap();
        let log = fs::read_to_string(folder.path().join("chaos-1.log")).unwrap();
        log.contains("the keeper's round failed").then_some(())
    })
    .await;
    limit(&node, "--fsize=unlimited:");
    assert_held(&running.report(), &[]);
}

fn limit(process: &str, what: &str) {
    let done = Command::new("prlimit")
        .args([what, "--pid", process])
        .status();
    assert!(done.unwrap().success(), "prlimit {what}");
}

/// The only child process of another.
fn child_of(parent: u32) -> String {
    let line = format!("PPid:\t{parent}");
    let mut processes = fs::read_dir("/proc").unwrap().flatten();
    let child = processes.find(|process| {
        let status = fs::read_to_string(process.path().join("status"));
        status.is_ok_and(|status| status.lines().any(|it| it == line))
    });
    let child = child.expect("it has a node");
    child.file_name().into_string().unwrap()
}
