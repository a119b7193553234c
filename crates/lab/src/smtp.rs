//! A mail server on loopback that speaks SMTP: it takes mail, refuses recipients, hangs up.
//!
//! Every connection is a task of its own; the journal has what was taken, in order. A fault is
//! drawn for each message by the address it goes to, so a test says exactly which message is cut
//! off before its content, or after it and before its answer.
//!
//! INVARIANT: a message is in the journal if and only if its content arrived whole, whatever was
//! answered.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream, tcp::OwnedWriteHalf},
};
use tokio_util::sync::CancellationToken;

/// Longest line of a client.
const LINE_BYTES_MAX: usize = 100_000;

/// What happens to mail for an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// 550 to `RCPT`: no such user.
    NoSuchUser,
    /// 450 to `RCPT`: try again later.
    Busy,
    /// 550 to `RCPT`: not from here.
    Blocked,
    /// 554 to the content.
    Rejected,
    /// 550 to the content: no such user, after all.
    NoSuchUserAfter,
    /// The connection ends before the content is asked for.
    CutBefore,
    /// The content is taken, and the connection ends without an answer.
    CutAfter,
    /// Nothing is answered to `RCPT` any more.
    HangAtRecipient,
    /// The content is taken, and nothing is answered any more.
    HangAfter,
}

/// A message that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub from: String,
    pub to: String,
    /// Headers and body, without the dots of the transport.
    pub content: String,
}

impl Message {
    /// The value of a header, unfolded.
    pub fn header(&self, name: &str) -> Option<String> {
        let head = self.content.split("\n\n").next()?;
        let unfolded = head.replace("\n ", " ").replace("\n\t", " ");
        unfolded.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found
                .eq_ignore_ascii_case(name)
                .then(|| value.trim().to_owned())
        })
    }
}

#[derive(Default)]
struct Journal {
    messages: Vec<Message>,
    faults: BTreeMap<String, Fault>,
    /// Recipients that were named, refused ones included.
    named: Vec<String>,
    /// Sign-in is needed, with this base64 of `AUTH PLAIN`.
    login: Option<String>,
}

/// A handle to a running server from the same process.
#[derive(Clone, Default)]
pub struct Handle(Arc<Mutex<Journal>>);

impl Handle {
    fn lock(&self) -> MutexGuard<'_, Journal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Mail for this address meets a fault from now on; none without one.
    pub fn set_fault(&self, address: &str, fault: Option<Fault>) {
        let mut journal = self.lock();
        match fault {
            Some(fault) => journal.faults.insert(address.to_owned(), fault),
            None => journal.faults.remove(address),
        };
    }

    /// Clients must sign in with this base64 of `AUTH PLAIN`.
    pub fn require_login(&self, plain: &str) {
        self.lock().login = Some(plain.to_owned());
    }

    /// Everything that arrived, in order.
    pub fn messages(&self) -> Vec<Message> {
        self.lock().messages.clone()
    }

    /// Every recipient that was named, in order.
    pub fn named(&self) -> Vec<String> {
        self.lock().named.clone()
    }

    fn fault(&self, address: &str) -> Option<Fault> {
        self.lock().faults.get(address).copied()
    }
}

/// A running server.
pub struct Running {
    pub handle: Handle,
    pub address: SocketAddr,
}

/// Starts a server; it ends with `stop`.
pub async fn start(listen: SocketAddr, stop: CancellationToken) -> io::Result<Running> {
    let listener = TcpListener::bind(listen).await?;
    let (handle, address) = (Handle::default(), listener.local_addr()?);
    let shared = handle.clone();
    tokio::spawn(async move {
        while let Some(Ok((stream, _))) = stop.run_until_cancelled(listener.accept()).await {
            let (handle, stop) = (shared.clone(), stop.clone());
            tokio::spawn(async move {
                let talk = Talk::new(handle).run(stream, &stop);
                let _ = stop.run_until_cancelled(talk).await;
            });
        }
    });
    Ok(Running { handle, address })
}

/// One connection.
struct Talk {
    handle: Handle,
    from: Option<String>,
    to: Option<String>,
    content: Option<String>,
    signed_in: bool,
}

/// How a connection goes on.
enum Next {
    Answer(&'static str),
    /// Goes on without an answer.
    Silence,
    Close,
    Hang,
}

impl Talk {
    fn new(handle: Handle) -> Self {
        let signed_in = handle.lock().login.is_none();
        Self {
            handle,
            from: None,
            to: None,
            content: None,
            signed_in,
        }
    }

    async fn run(mut self, stream: TcpStream, stop: &CancellationToken) -> io::Result<()> {
        let (reader, mut writer) = stream.into_split();
        let mut lines = BufReader::new(reader).lines();
        reply(&mut writer, "220 post.example ESMTP").await?;
        while let Some(line) = lines.next_line().await? {
            if line.len() > LINE_BYTES_MAX {
                return Ok(());
            }
            match self.take(&line) {
                Next::Answer("221 bye") => return reply(&mut writer, "221 bye").await,
                Next::Answer(answer) => reply(&mut writer, answer).await?,
                Next::Silence => {}
                Next::Close => return Ok(()),
                Next::Hang => stop.cancelled().await,
            }
        }
        Ok(())
    }

    fn take(&mut self, line: &str) -> Next {
        if self.content.is_some() {
            return self.take_content(line);
        }
        let upper = line.to_ascii_uppercase();
        let verb = upper.split([' ', ':']).next().unwrap_or_default();
        match verb {
            "EHLO" | "HELO" => Next::Answer("250-post.example\r\n250-8BITMIME\r\n250 AUTH PLAIN"),
            "AUTH" => {
                let plain = line.split(' ').nth(2).unwrap_or_default();
                self.signed_in = self.handle.lock().login.as_deref() == Some(plain);
                Next::Answer(if self.signed_in {
                    "235 2.7.0 welcome"
                } else {
                    "535 5.7.8 wrong user or password"
                })
            }
            "MAIL" if !self.signed_in => Next::Answer("530 5.7.0 sign in first"),
            "MAIL" => {
                (self.from, self.to) = (Some(named(line)), None);
                Next::Answer("250 2.1.0 fine")
            }
            "RCPT" if self.from.is_some() => self.recipient(named(line)),
            "DATA" if self.to.is_some() => self.data(),
            "RSET" => {
                (self.from, self.to) = (None, None);
                Next::Answer("250 2.0.0 fine")
            }
            "NOOP" => Next::Answer("250 2.0.0 fine"),
            "QUIT" => Next::Answer("221 bye"),
            _ => Next::Answer("503 5.5.1 bad sequence of commands"),
        }
    }

    fn recipient(&mut self, to: String) -> Next {
        self.handle.lock().named.push(to.clone());
        match self.handle.fault(&to) {
            Some(Fault::NoSuchUser) => Next::Answer("550 5.1.1 no such user"),
            Some(Fault::Busy) => Next::Answer("450 4.2.0 try again later"),
            Some(Fault::Blocked) => Next::Answer("550 5.7.1 relaying denied"),
            Some(Fault::HangAtRecipient) => Next::Hang,
            _ => {
                self.to = Some(to);
                Next::Answer("250 2.1.5 fine")
            }
        }
    }

    fn data(&mut self) -> Next {
        let to = self.to.clone().unwrap_or_default();
        if self.handle.fault(&to) == Some(Fault::CutBefore) {
            return Next::Close;
        }
        self.content = Some(String::new());
        Next::Answer("354 go on")
    }

    fn take_content(&mut self, line: &str) -> Next {
        if line != "." {
            let line = line.strip_prefix('.').unwrap_or(line);
            if let Some(content) = &mut self.content {
                content.push_str(line);
                content.push('\n');
            }
            return Next::Silence;
        }
        let message = Message {
            from: self.from.take().unwrap_or_default(),
            to: self.to.take().unwrap_or_default(),
            content: self.content.take().unwrap_or_default(),
        };
        let fault = self.handle.fault(&message.to);
        if fault == Some(Fault::Rejected) {
            return Next::Answer("554 5.6.0 content refused");
        }
        if fault == Some(Fault::NoSuchUserAfter) {
            return Next::Answer("550 5.1.1 no such user");
        }
        self.handle.lock().messages.push(message);
        match fault {
            Some(Fault::CutAfter) => Next::Close,
            Some(Fault::HangAfter) => Next::Hang,
            _ => Next::Answer("250 2.0.0 queued"),
        }
    }
}

/// What stands between `<` and `>`.
fn named(line: &str) -> String {
    let inner = line
        .split_once('<')
        .and_then(|(_, rest)| rest.split_once('>'));
    inner.map_or_else(String::new, |(address, _)| address.to_owned())
}

async fn reply(writer: &mut OwnedWriteHalf, answer: &str) -> io::Result<()> {
    writer.write_all(format!("{answer}\r\n").as_bytes()).await
}
