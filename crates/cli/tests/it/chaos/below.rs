//! What breaks below the nodes while they work: the database server, and the disk.
//!
//! `almanack chaos` has the world, the promises and the judge; nobody but a test can break a server or fill a disk, so it does that meanwhile.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use almanack_testkit::postgres::{number, run};
use serde_json::Value;

use super::{QUICK, assert_held};
use crate::{failures::postgres::Cluster, harness::Home, process::eventually};

/// A run of chaos under way. Its nodes go with it.
struct Running {
    child: Child,
    verdict: PathBuf,
    notes: PathBuf,
}

impl Running {
    fn start(home: &Home, mut command: Command) -> Self {
        let (verdict, notes) = (home.path().join("verdict"), home.path().join("notes"));
        command
            .stdin(Stdio::null())
            .stdout(File::create(&verdict).unwrap())
            .stderr(File::create(&notes).unwrap());
        Self {
            child: command.spawn().unwrap(),
            verdict,
            notes,
        }
    }

    fn notes(&self) -> String {
        fs::read_to_string(&self.notes).unwrap()
    }

    async fn until_up(&mut self) {
        eventually("all nodes are up", async || {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended: {ended:?}\n{}", self.notes());
            self.notes().contains("all nodes are up").then_some(())
        })
        .await;
    }

    /// Waits for its end, and what it says.
    fn verdict(mut self) -> Value {
        let ended = self.child.wait().unwrap();
        let reported = fs::read_to_string(&self.verdict).unwrap();
        assert!(ended.success(), "{reported}{}", self.notes());
        serde_json::from_str(&reported).unwrap()
    }
}

impl Drop for Running {
    /// It ends its nodes if it is asked to end; killed, it could not.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let pid = self.child.id().to_string();
            let _ = Command::new("kill").args(["-TERM", &pid]).status();
            let _ = self.child.wait();
        }
    }
}

/// Waits until nodes have written slots into the ledger. A server that has crashed counts from nothing.
async fn until_slots(server: &str) {
    let count =
        "select coalesce(sum(n_tup_ins), 0)::bigint from pg_stat_all_tables where relname = 'slot'";
    eventually("slots are in the ledger", async || {
        (number(server, count).await >= 3).then_some(())
    })
    .await;
}

/// The primary commits only what its standby has, so nothing is lost with it; and what it has, no crash takes away.
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
    assert_held(&running.verdict(), &[]);
}

/// Files beyond this cannot be written. The store is larger from its beginning.
const FULL: &str = "--fsize=65536:";

/// A limit on the size of files stands in for a full disk: it can be set and lifted while the node runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_08_dp_16_a_full_disk_loses_and_doubles_nothing() {
    let home = Home::new();
    let scratch = home.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let home = home.set("TMPDIR", scratch.to_str().unwrap());
    let further = ["--minutes", "0.18", "--faults", "none"];
    let plain = home.command(&[&QUICK[..], &further].concat());
    // Who passes the limit gets a signal that would end it; ignored, the write fails as on a full disk.
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
    assert_held(&running.verdict(), &[]);
}

fn limit(process: &str, what: &str) {
    let done = Command::new("prlimit")
        .args([what, "--pid", process])
        .status();
    assert!(done.unwrap().success(), "prlimit {what}");
}

/// The one process that another has started.
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
