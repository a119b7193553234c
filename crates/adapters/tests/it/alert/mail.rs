//! Mail, to a server that speaks SMTP.

use std::sync::{Arc, Mutex};

use almanack_adapters::alert::{
    Language, Way,
    mail::{self, MailSettings, Security},
};
use almanack_core::{
    alert::port::{Notifier, Outcome},
    secret::Secret,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

use super::general::{channels, failing};

/// The lines of clients, and special answers to some of them.
#[derive(Clone, Default)]
struct Server {
    received: Arc<Mutex<Vec<String>>>,
    /// What a line begins with, and what is answered instead.
    answers: Vec<(&'static str, &'static str)>,
}

impl Server {
    async fn start(&self) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = server.talk(stream).await;
            }
        });
        port
    }

    async fn talk(&self, stream: TcpStream) -> std::io::Result<()> {
        let (reader, mut writer) = stream.into_split();
        let mut lines = BufReader::new(reader).lines();
        writer.write_all(b"220 post.example ESMTP\r\n").await?;
        let mut in_data = false;
        while let Some(line) = lines.next_line().await? {
            self.received.lock().unwrap().push(line.clone());
            if in_data && line != "." {
                continue;
            }
            let answer = self.answer(&line, in_data);
            in_data = answer.starts_with("354");
            writer.write_all(format!("{answer}\r\n").as_bytes()).await?;
        }
        Ok(())
    }

    fn answer(&self, line: &str, in_data: bool) -> &'static str {
        let special = self
            .answers
            .iter()
            .find(|(begin, _)| line.starts_with(begin));
        match line.split(' ').next().unwrap_or_default() {
            _ if special.is_some() => special.unwrap().1,
            "." if in_data => "250 2.0.0 queued as 42",
            "EHLO" => "250-post.example\r\n250 AUTH PLAIN LOGIN",
            "AUTH" => "235 2.7.0 welcome",
            "DATA" => "354 go on",
            "QUIT" => "221 bye",
            _ => "250 2.1.0 fine",
        }
    }

    fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

fn settings(port: u16, security: Security) -> MailSettings {
    MailSettings {
        host: "127.0.0.1".to_owned(),
        port,
        security,
        login: Some(("ops".to_owned(), Secret::new("hush-hush"))),
        from: "Almanack <almanack@site.example>".to_owned(),
        to: vec![
            "ada@site.example".to_owned(),
            "编辑 <ed@site.example>".to_owned(),
        ],
    }
}

async fn notified(server: &Server, security: Security) -> Outcome {
    let port = server.start().await;
    let way = Way::Mail(settings(port, security));
    let channels = channels(Language::Chinese, vec![("smtp", way)]);
    let mut answers = channels.notify(&[failing()]).await;
    answers.remove(0).outcome
}

#[tokio::test]
async fn people_get_a_mail_they_can_read() {
    let server = Server::default();
    let outcome = notified(&server, Security::None).await;
    assert_eq!(outcome.as_str(), "taken", "{outcome:?}");
    assert!(outcome.detail().contains("queued as 42"), "{outcome:?}");
    let received = server.received();
    let has = |line: &str| received.iter().any(|it| it == line);
    let login = BASE64_STANDARD.encode("\0ops\0hush-hush");
    assert!(has(&format!("AUTH PLAIN {login}")), "{received:#?}");
    for to in ["<ada@site.example>", "<ed@site.example>"] {
        assert!(
            received
                .iter()
                .any(|it| it.starts_with(&format!("RCPT TO:{to}"))),
            "{received:#?}"
        );
    }
    assert!(
        has("From: Almanack <almanack@site.example>"),
        "{received:#?}"
    );
    assert!(
        has("Date: Mon, 05 Jan 2026 08:00:00 +0000"),
        "by the clock: {received:#?}"
    );
    let name =
        "Message-ID: <almanack-alert-failing-schedule_nightly-opened-1767600000000000@almanack>";
    assert!(has(name), "the same when it is sent again: {received:#?}");
    let text = received.join("\n");
    let subject = BASE64_STANDARD.encode("Almanack：");
    assert!(
        text.contains(&subject[..subject.len() - 4]),
        "in any script: {text}"
    );
}

#[tokio::test]
async fn refusals_of_the_server_are_distinguished_and_show_no_password() {
    for (begin, answer, outcome) in [
        ("AUTH", "535 5.7.8 wrong password", "refused"),
        ("RCPT", "550 5.1.1 no such user", "refused"),
        ("MAIL", "451 4.3.0 later", "failed"),
        (".", "452 4.2.2 full", "failed"),
    ] {
        let server = Server {
            answers: vec![(begin, answer)],
            ..Server::default()
        };
        let notified = notified(&server, Security::None).await;
        assert_eq!(notified.as_str(), outcome, "{begin}: {notified:?}");
        assert!(!notified.detail().contains("hush"), "{notified:?}");
    }
}

#[tokio::test]
async fn without_tls_no_password_is_sent() {
    let server = Server::default();
    let outcome = notified(&server, Security::Starttls).await;
    assert_ne!(outcome.as_str(), "taken");
    let received = server.received();
    assert!(
        !received
            .iter()
            .any(|it| it.starts_with("AUTH") || it.starts_with("MAIL")),
        "{received:?}"
    );
}

#[test]
fn an_address_that_is_none_is_refused_before_anything_is_sent() {
    assert!(mail::parse_address("Ada <ada@site.example>").is_ok());
    for bad in ["ada", "a@", "ada@site.example\r\nBcc: x@y.example"] {
        let error = mail::parse_address(bad).unwrap_err().to_string();
        assert!(error.contains("is not a mail address"), "{error}");
    }
}
