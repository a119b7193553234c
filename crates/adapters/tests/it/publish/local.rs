//! What stays on this machine: a directory, a terminal.

use std::{
    fs, io,
    io::Write,
    sync::{Arc, Mutex},
};

use almanack_adapters::{
    entropy::OsEntropy,
    publish::{
        directory::{DirectoryPublisher, DirectoryPublisherSettings, PATH},
        template::PathTemplate,
        terminal::TerminalPublisher,
    },
};
use almanack_core::{
    budget::Budget,
    edition::port::{FailureClass, Presence, Publisher, Sent},
};

use super::{document, failed, message, receipt, request_budget};

#[tokio::test]
async fn ed_34_a_directory_gets_one_file_a_day_and_costs_no_request() {
    let root = tempfile::tempdir().unwrap();
    let settings = DirectoryPublisherSettings {
        destination: "site".to_owned(),
        root: root.path().to_owned(),
        path: PathTemplate::parse(PATH).unwrap(),
    };
    let publisher = DirectoryPublisher::new(settings, Arc::new(OsEntropy::default()));
    let (first, second) = (document(1, "first"), document(1, "second"));
    assert_eq!(
        publisher.look(&message(&first), &request_budget()).await,
        Presence::NotThere
    );
    let file = root.path().join("2026-01-10-daily.md");
    for document in [&first, &second, &second] {
        let taken = receipt(publisher.send(&message(document), &Budget::new(0)).await);
        assert_eq!(taken, file.to_str().unwrap());
        assert_eq!(fs::read_to_string(&file).unwrap(), document.body);
    }
    assert_eq!(
        publisher.look(&message(&first), &request_budget()).await,
        Presence::NotThere
    );
    let seen = publisher.look(&message(&second), &request_budget()).await;
    assert!(
        matches!(seen, Presence::There { receipt: Some(_) }),
        "{seen:?}"
    );
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
}

/// A terminal that the test reads, or that is gone.
#[derive(Clone, Default)]
struct Screen {
    shown: Arc<Mutex<Vec<u8>>>,
    is_gone: bool,
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_gone {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.shown.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn ed_34_a_terminal_shows_the_edition_between_rules() {
    let screen = Screen::default();
    let publisher = TerminalPublisher::new("terminal", Box::new(screen.clone()));
    let document = document(2, "# text\n");
    let sent = publisher.send(&message(&document), &Budget::new(0)).await;
    assert_eq!(sent, Sent::Confirmed { receipt: None });
    let shown = String::from_utf8(screen.shown.lock().unwrap().clone()).unwrap();
    insta::assert_snapshot!(shown, @r"
    ======================================
    HackerNews Daily - 2026-01-10
    ======================================

    # text

    ======================================
    Export completed: 2 stories
    ======================================
    ");
    let gone = Screen {
        is_gone: true,
        ..Screen::default()
    };
    let publisher = TerminalPublisher::new("terminal", Box::new(gone));
    let failure = failed(publisher.send(&message(&document), &request_budget()).await);
    assert_eq!(failure.class, FailureClass::Transient);
}
