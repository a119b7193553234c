//! Newsletters over SMTP, to a server that speaks it (ED-43).

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use almanack_adapters::{
    alert::mail::Security,
    newsletter::smtp::{SmtpServer, SmtpSettings},
};
use almanack_core::{
    edition::port::{FailureClass, Sent},
    newsletter::{
        Address,
        bounce::Refusal,
        port::{Email, MailServer, MailSession, Refused, Written},
    },
    secret::Secret,
};
use almanack_lab::smtp::{Fault, Running, start};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::fixture::Fixed;

struct World {
    smtp: Running,
    _stop: DropGuard,
}

impl World {
    async fn start() -> Self {
        let stop = CancellationToken::new();
        let here = (Ipv4Addr::LOCALHOST, 0).into();
        Self {
            smtp: start(here, stop.clone()).await.unwrap(),
            _stop: stop.drop_guard(),
        }
    }

    fn server(&self, password: Option<&str>) -> SmtpServer {
        let settings = SmtpSettings {
            host: "127.0.0.1".to_owned(),
            port: self.smtp.address.port(),
            security: Security::None,
            login: password.map(|password| ("ops".to_owned(), Secret::new(password))),
            from: "The Daily <daily@site.example>".to_owned(),
            reply_to: Some("editor@site.example".to_owned()),
            list: "default".to_owned(),
            timeout: Duration::from_secs(10),
        };
        SmtpServer::new(settings, Arc::new(Fixed)).unwrap()
    }

    async fn session(&self) -> Box<dyn MailSession> {
        self.server(None).connect().await.unwrap()
    }
}

fn email(name: &str) -> Email {
    Email {
        to: Address::parse(&format!("{name}@site.example")).unwrap(),
        written: Written {
            subject: "日报 · 2026-01-10".to_owned(),
            html: "<p>你好</p>".to_owned(),
            text: "你好\n.\nline that begins with a dot\n".to_owned(),
        },
        message_id: "default.2026-01-10.1.7".to_owned(),
        unsubscribe_url: Some("https://daily.example/editions/unsubscribe/7.1.abc".to_owned()),
    }
}

async fn send(session: &mut dyn MailSession, name: &str) -> Sent {
    session.offer(&email(name)).await.unwrap();
    session.hand_over().await.unwrap()
}

#[tokio::test]
async fn ed_43_a_message_says_how_to_leave_and_has_both_parts() {
    let world = World::start().await;
    let mut session = world.session().await;
    let sent = send(&mut *session, "ada").await;
    assert!(matches!(sent, Sent::Confirmed { .. }), "{sent:?}");
    let message = &world.smtp.handle.messages()[0];
    for (name, value) in [
        (
            "List-Unsubscribe",
            "<https://daily.example/editions/unsubscribe/7.1.abc>",
        ),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
        ("List-Id", "<default.site.example>"),
        ("Message-ID", "<default.2026-01-10.1.7@site.example>"),
        ("Reply-To", "editor@site.example"),
        ("To", "ada@site.example"),
    ] {
        assert_eq!(message.header(name).as_deref(), Some(value), "{name}");
    }
    let kind = message.header("Content-Type").unwrap();
    assert!(kind.starts_with("multipart/alternative"), "{kind}");
    assert!(message.content.is_ascii(), "every server can carry it");
    // A confirmation mail belongs to no list.
    let mut asked = email("bob");
    asked.unsubscribe_url = None;
    session.offer(&asked).await.unwrap();
    session.hand_over().await.unwrap();
    assert_eq!(
        world.smtp.handle.messages()[1].header("List-Unsubscribe"),
        None
    );
}

#[tokio::test]
async fn ed_43_a_refused_recipient_is_not_a_server_that_refuses() {
    let world = World::start().await;
    let handle = &world.smtp.handle;
    handle.set_fault("gone@site.example", Some(Fault::NoSuchUser));
    handle.set_fault("busy@site.example", Some(Fault::Busy));
    handle.set_fault("spam@site.example", Some(Fault::Rejected));
    let mut session = world.session().await;
    let gone = session.offer(&email("gone")).await.unwrap_err();
    let Refused::Recipient(Refusal { detail, is_bounce }) = gone else {
        panic!("{gone:?}");
    };
    assert!(is_bounce, "{detail}");
    assert!(
        detail.contains("no such user") && !detail.contains("gone@"),
        "{detail}"
    );
    let busy = session.offer(&email("busy")).await.unwrap_err();
    assert!(matches!(busy, Refused::Deferred(_)), "{busy:?}");
    // A refusal that is about us counts against nobody.
    handle.set_fault("blocked@site.example", Some(Fault::Blocked));
    let blocked = session.offer(&email("blocked")).await.unwrap_err();
    let Refused::Deferred(refusal) = blocked else {
        panic!("{blocked:?}");
    };
    assert!(!refusal.is_bounce, "{refusal:?}");
    // Nor does one of the content; but some look for the mailbox only then.
    handle.set_fault("late@site.example", Some(Fault::NoSuchUserAfter));
    session.offer(&email("late")).await.unwrap();
    let late = session.hand_over().await.unwrap_err();
    assert!(
        matches!(&late, Refused::Recipient(it) if it.is_bounce),
        "{late:?}"
    );
    // The same connection goes on.
    let sent = send(&mut *session, "ada").await;
    assert!(matches!(sent, Sent::Confirmed { .. }), "{sent:?}");
    let spam = send(&mut *session, "spam").await;
    assert!(
        matches!(spam, Sent::Failed(_)),
        "an answer that says no is a no: {spam:?}"
    );
    session.offer(&email("eve")).await.unwrap();
    session.withdraw().await;
    let whom: Vec<String> = handle.messages().into_iter().map(|it| it.to).collect();
    assert_eq!(whom, ["ada@site.example"], "what is withdrawn is not sent");
}

#[tokio::test]
async fn ed_43_only_content_without_an_answer_is_in_doubt() {
    let world = World::start().await;
    let handle = &world.smtp.handle;
    handle.set_fault("before@site.example", Some(Fault::CutBefore));
    handle.set_fault("after@site.example", Some(Fault::CutAfter));
    let before = send(&mut *world.session().await, "before").await;
    assert!(
        matches!(before, Sent::Failed(_)),
        "nothing had left: {before:?}"
    );
    let after = send(&mut *world.session().await, "after").await;
    assert!(matches!(after, Sent::Unknown(_)), "{after:?}");
    assert_eq!(handle.messages().len(), 1);
}

#[tokio::test]
async fn ed_43_a_wrong_password_is_a_matter_of_credentials_and_is_not_shown() {
    let world = World::start().await;
    // The base64 of `\0ops\0right`.
    world.smtp.handle.require_login("AG9wcwByaWdodA==");
    let refused = world.server(Some("hush-hush")).connect().await;
    let failure = refused.err().unwrap();
    assert_eq!(failure.class, FailureClass::Credentials, "{failure}");
    assert!(!failure.detail.contains("hush"), "{failure}");
    let mut session = world.server(Some("right")).connect().await.unwrap();
    let sent = send(&mut *session, "ada").await;
    assert!(matches!(sent, Sent::Confirmed { .. }), "{sent:?}");
}
