//! Locks over the git command line: on a path, and on a server.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use almanack_adapters::{
    entropy::OsEntropy,
    lock::git::{GitLock, GitSettings},
};
use almanack_core::lock::{Acquired, Error, SlotLock};
use almanack_testkit::lock::{Place, key};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};

/// An empty repository to keep locks in, and scratch repositories for as many nodes as ask.
struct Forge {
    directory: TempDir,
    nodes: AtomicUsize,
}

impl Forge {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let made = Command::new("git")
            .args(["init", "--quiet", "--bare", "--template="])
            .arg(directory.path().join("locks.git"))
            .status();
        assert!(made.unwrap().success());
        let nodes = AtomicUsize::new(0);
        Self { directory, nodes }
    }

    fn repository(&self) -> std::path::PathBuf {
        self.directory.path().join("locks.git")
    }

    fn file_url(&self) -> String {
        format!("file://{}", self.repository().display())
    }

    fn node(&self, url: &str, timeout: Duration) -> GitLock {
        let number = self.nodes.fetch_add(1, Ordering::Relaxed);
        let settings = GitSettings {
            url: url.to_owned(),
            scratch: self.directory.path().join(format!("scratch-{number}")),
            timeout,
            environment: BTreeMap::new(),
        };
        GitLock::new(Arc::new(OsEntropy::default()), settings).unwrap()
    }

    /// Runs `script` on the server at every push.
    fn hook(&self, name: &str, script: &str) {
        let hooks = self.repository().join("hooks");
        fs::create_dir_all(&hooks).unwrap();
        let path = hooks.join(name);
        fs::write(
            &path,
            format!(
                "#!/bin/sh\ncd {}\n{script}\n",
                self.directory.path().display()
            ),
        )
        .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

const PATIENT: Duration = Duration::from_mins(1);

mod on_a_path {
    use std::future::{Ready, ready};

    use super::*;

    fn place() -> Ready<Place> {
        let forge = Arc::new(Forge::new());
        let kept = Arc::clone(&forge);
        let open =
            move || -> Arc<dyn SlotLock> { Arc::new(forge.node(&forge.file_url(), PATIENT)) };
        ready(Place::new(open).keeping(kept))
    }

    almanack_testkit::lock_conformance!(place);
}

mod on_a_server {
    use super::*;

    /// `git daemon`, ended with the test.
    struct Daemon(Child);

    impl Daemon {
        async fn start(base: &Path) -> (Self, String) {
            // Taken and given back: the daemon cannot be asked which port it found.
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            drop(listener);
            // Itself, not by way of `git`, which would not pass on that it is to end.
            let found = Command::new("git").arg("--exec-path").output().unwrap();
            let found = String::from_utf8(found.stdout).unwrap();
            let child = Command::new(Path::new(found.trim()).join("git-daemon"))
                .args(["--reuseaddr", "--export-all", "--enable=receive-pack"])
                .args(["--listen=127.0.0.1", &format!("--port={}", address.port())])
                .arg(format!("--base-path={}", base.display()))
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            while TcpStream::connect(address).await.is_err() {
                tokio::task::yield_now().await;
            }
            (Self(child), format!("git://{address}/locks.git"))
        }
    }

    impl Drop for Daemon {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    async fn place() -> Place {
        let forge = Arc::new(Forge::new());
        let (daemon, url) = Daemon::start(forge.directory.path()).await;
        let kept = (Arc::clone(&forge), daemon);
        let open = move || -> Arc<dyn SlotLock> { Arc::new(forge.node(&url, PATIENT)) };
        Place::new(open).keeping(kept)
    }

    almanack_testkit::lock_conformance!(place);
}

/// Asks until there is an answer: on a busy machine git may run out of its short time.
async fn insist(node: &GitLock, slot: i64) -> Acquired {
    loop {
        match node.acquire(&key(1, slot)).await {
            Ok(acquired) => return acquired,
            Err(error) => assert!(error.is_transient(), "{error}"),
        }
    }
}

/// A node with a short time, which has made its scratch repository already.
async fn hasty_node(forge: &Forge) -> GitLock {
    let node = forge.node(&forge.file_url(), Duration::from_secs(3));
    assert_eq!(insist(&node, 0).await, Acquired::Won);
    node
}

/// Hangs at the first push that comes after it is set up.
const HANG_ONCE: &str = "[ -e slow ] || { : > slow; sleep 1000; }";

#[tokio::test]
async fn dp_06_a_push_whose_answer_is_lost_is_recognised_as_our_own() {
    let forge = Forge::new();
    let node = hasty_node(&forge).await;
    // The ref is there before this runs, and the client waits for it to end.
    forge.hook("post-receive", HANG_ONCE);
    let cut = node.acquire(&key(1, 60)).await.unwrap_err();
    assert!(cut.is_transient(), "{cut}");
    let other = forge.node(&forge.file_url(), PATIENT);
    assert_eq!(insist(&other, 60).await, Acquired::Lost, "it had arrived");
    assert_eq!(insist(&node, 60).await, Acquired::Won);
    assert_eq!(insist(&node, 60).await, Acquired::Lost, "once");
}

#[tokio::test]
async fn dp_06_a_push_that_never_arrived_is_lost_only_if_another_node_came() {
    let forge = Forge::new();
    let node = hasty_node(&forge).await;
    forge.hook("pre-receive", HANG_ONCE);
    for (slot, other_node_comes) in [(60, false), (70, true)] {
        let _ = fs::remove_file(forge.directory.path().join("slow"));
        let cut = node.acquire(&key(1, slot)).await.unwrap_err();
        assert!(cut.is_transient(), "{cut}");
        if other_node_comes {
            let other = forge.node(&forge.file_url(), PATIENT);
            assert_eq!(insist(&other, slot).await, Acquired::Won);
            assert_eq!(insist(&node, slot).await, Acquired::Lost);
        } else {
            assert_eq!(insist(&node, slot).await, Acquired::Won);
        }
    }
}

#[tokio::test]
async fn dp_06_dp_15_a_server_that_refuses_is_an_error_without_names() {
    let forge = Forge::new();
    forge.hook(
        "pre-receive",
        "echo no locks in locks.git, thank you >&2; exit 1",
    );
    let node = forge.node(&forge.file_url(), PATIENT);
    let refused = node.acquire(&key(1, 60)).await.unwrap_err();
    assert!(!refused.is_transient(), "{refused}");
    let missing = forge.node(&format!("{}-missing", forge.file_url()), PATIENT);
    let refused_too = missing.list().await.unwrap_err();
    assert!(!refused_too.is_transient(), "{refused_too}");
    for error in [refused, refused_too] {
        let text = error.to_string();
        let place = forge
            .directory
            .path()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap();
        assert!(
            !text.contains("locks.git") && !text.contains(place),
            "{text}"
        );
    }
}

#[tokio::test]
async fn dp_06_a_server_that_is_not_there_is_asked_again() {
    let forge = Forge::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let node = forge.node(&format!("git://{address}/acme/locks.git"), PATIENT);
    let Err(Error::Unavailable { why, .. }) = node.acquire(&key(1, 60)).await else {
        panic!("no server is there");
    };
    assert!(!why.contains("acme") && !why.contains("127.0.0.1"), "{why}");
}

#[tokio::test]
async fn dp_07_refs_that_are_not_locks_stay() {
    let forge = Forge::new();
    let node = forge.node(&forge.file_url(), PATIENT);
    node.acquire(&key(1, 60)).await.unwrap();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .arg("-C")
            .arg(forge.repository())
            .args(arguments)
            .output();
        String::from_utf8(done.unwrap().stdout).unwrap()
    };
    let oid = git(&["rev-parse", &key(1, 60).ref_name()]);
    git(&["update-ref", "refs/tags/lock/of-another-node", oid.trim()]);
    assert_eq!(node.list().await.unwrap(), [key(1, 60)]);
    node.clean(&[key(1, 60)]).await.unwrap();
    let left = git(&["for-each-ref", "--format=%(refname)"]);
    assert_eq!(left.trim(), "refs/tags/lock/of-another-node");
}
