//! The newsletter by real processes and a server that speaks SMTP: double opt-in, one-click
//! unsubscribe, and nobody gets an edition twice or misses it under `kill -9` (ED-43).

use std::{collections::BTreeMap, net::SocketAddr};

use almanack_lab::smtp::{self, Fault, Message};
use almanack_testkit::postgres::Schema;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{World, date, run};
use crate::{
    api::client,
    harness::Home,
    process::{Process, eventually, free_address},
};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const READERS: usize = 40;

struct Post {
    world: World,
    smtp: smtp::Running,
    _stop: DropGuard,
}

impl Post {
    async fn start() -> Self {
        let stop = CancellationToken::new();
        let here = ([127, 0, 0, 1], 0).into();
        Self {
            world: World::start().await,
            smtp: smtp::start(here, stop.clone()).await.unwrap(),
            _stop: stop.drop_guard(),
        }
    }

    fn home(&self, database: &str, address: SocketAddr) -> Home {
        // Ticks come once a day, so that nothing but the tests makes editions.
        let toml = format!(
            "{}[database]\nurl = \"{database}\"\n\n\
             [server]\npublic_url = \"http://{address}\"\n\n\
             [edition.mail]\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"\n\
             from = \"The Daily <daily@site.example>\"\nsecret = \"env:SECRET\"\n\
             pace = 6000\ntimeout = \"8s\"\nfooter = \"1 High Street\"\n",
            self.world
                .stories()
                .replace("stories = 12", "stories = 3\nschedule = \"0 0 1 1 *\""),
            self.smtp.address.port(),
        );
        Home::with(&toml).set("SECRET", SECRET)
    }

    /// How many messages arrived at each address.
    fn arrived(&self) -> BTreeMap<String, usize> {
        let mut counted = BTreeMap::new();
        for message in self.smtp.handle.messages() {
            *counted.entry(message.to).or_default() += 1;
        }
        counted
    }
}

fn reader(n: usize) -> String {
    format!("reader{n}@site.example")
}

fn import(home: &Home) {
    let list: String = (0..READERS).map(|n| reader(n) + "\n").collect();
    let ran = tokio::task::block_in_place(|| {
        let arguments = ["edition", "subscriber", "import", "-"];
        home.run_with_input(&arguments, &format!("email\n{list}"))
    });
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.data.contains("40 subscribers added"), "{ran}");
}

async fn until_done(home: &Home) {
    eventually("the mailing is done", async || {
        let status = run(home, &["edition", "subscriber", "status", "--json"]).await;
        let status = status.expect_json();
        (status["mailings"][0]["state"] == "done").then_some(())
    })
    .await;
}

/// Nodes are killed while a recipient is being named, and while the answer to a content that has
/// arrived is on its way.
async fn check_kills(post: &Post, home: &Home, addresses: &[SocketAddr]) {
    let nodes = || async {
        let mut nodes = Vec::new();
        for (n, address) in addresses.iter().enumerate() {
            let name = format!("node-{n}");
            nodes.push(
                Process::node(home, *address, &["--node-name", &name])
                    .ready()
                    .await,
            );
        }
        nodes
    };
    let server = &post.smtp.handle;
    server.set_fault(&reader(10), Some(Fault::HangAtRecipient));
    // A database to import into.
    drop(nodes().await);
    import(home);
    let ran = run(home, &["edition", "run"]).await;
    assert_eq!(ran.code, 0, "{ran}");
    let mut running = nodes().await;
    eventually("a recipient is named", async || {
        server.named().contains(&reader(10)).then_some(())
    })
    .await;
    for node in &mut running {
        node.kill().await;
    }
    server.set_fault(&reader(10), None);
    server.set_fault(&reader(20), Some(Fault::HangAfter));
    let mut running = nodes().await;
    eventually("a content has arrived", async || {
        post.arrived().contains_key(&reader(20)).then_some(())
    })
    .await;
    for node in &mut running {
        node.kill().await;
    }
    server.set_fault(&reader(20), None);
    let running = nodes().await;
    until_done(home).await;
    let expected: BTreeMap<String, usize> = (0..READERS).map(|n| (reader(n), 1)).collect();
    assert_eq!(post.arrived(), expected, "everybody once");
    let status = run(home, &["edition", "subscriber", "status", "--json"]).await;
    let status = status.expect_json();
    let messages = &status["mailings"][0]["messages"];
    // The one whose answer was lost is skipped, not repeated.
    assert_eq!(messages["confirmed"], READERS - 1, "{status:#}");
    assert_eq!(messages["skipped"], 1, "{status:#}");
    for node in &running {
        let log = node.notes();
        assert!(!log.contains("reader20@"), "no address in a log: {log}");
        assert!(!log.contains("whsec_"), "{log}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_43_under_kill_9_everybody_gets_an_edition_once() {
    let post = Post::start().await;
    let address = free_address();
    let home = post.home("sqlite:almanack.db", address);
    check_kills(&post, &home, &[address]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_43_under_kill_9_two_nodes_send_everybody_one_edition() {
    let post = Post::start().await;
    let (schema, addresses) = (Schema::create().await, [free_address(), free_address()]);
    let home = post.home(schema.url(), addresses[0]);
    check_kills(&post, &home, &addresses).await;
}

/// Without what quoted-printable adds.
fn decoded(message: &Message) -> String {
    message.content.replace("=\n", "").replace("=3D", "=")
}

fn link(text: &str, start: &str) -> String {
    let at = text
        .find(start)
        .unwrap_or_else(|| panic!("no {start} in {text}"));
    let end = |c: char| !(c.is_ascii_alphanumeric() || "-_./:".contains(c));
    text[at..].split(end).next().unwrap().to_owned()
}

async fn post_form(url: &str, body: &'static str) -> (u16, String) {
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let sent = client()
        .post(url)
        .header(kind.0, kind.1)
        .body(body)
        .send()
        .await;
    let answer = sent.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

async fn state(home: &Home) -> String {
    let listed = run(home, &["edition", "subscriber", "list", "--json"]).await;
    let listed = listed.expect_json();
    listed["subscribers"][0]["state"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_43_a_reader_subscribes_confirms_reads_and_leaves_with_one_click() {
    let post = Post::start().await;
    let address = free_address();
    let home = post.home("sqlite:almanack.db", address);
    let node = Process::node(&home, address, &[]).ready().await;
    let form = format!("http://{address}/editions/subscribe");
    let (status, first) = post_form(&form, "address=Ada%40Site.example").await;
    assert_eq!(status, 200, "{first}");
    let (_, again) = post_form(&form, "address=ada%40site.example").await;
    assert_eq!(again, first, "nobody learns who is subscribed");
    let (status, wrong) = post_form(&form, "address=nobody").await;
    assert_eq!(status, 422, "{wrong}");
    let mail = eventually("a confirmation mail arrives", async || {
        post.smtp.handle.messages().first().cloned()
    })
    .await;
    assert_eq!(
        (mail.to.as_str(), mail.header("List-Unsubscribe")),
        ("ada@site.example", None)
    );
    let confirm = link(
        &decoded(&mail),
        &format!("http://{address}/editions/confirm/"),
    );
    // A scanner that opens links confirms nothing.
    let looked = client().get(&confirm).send().await.unwrap();
    assert_eq!(looked.status(), 200);
    assert_eq!(state(&home).await, "pending");
    let (status, forged) = post_form(&format!("{confirm}x"), "").await;
    assert_eq!(status, 404, "{forged}");
    let (status, said) = post_form(&confirm, "").await;
    assert_eq!(
        (status, state(&home).await.as_str()),
        (200, "confirmed"),
        "{said}"
    );
    let (_, again) = post_form(&form, "address=ada%40site.example").await;
    assert_eq!(again, first, "nor who confirmed");
    let ran = run(&home, &["edition", "run"]).await;
    assert_eq!(ran.code, 0, "{ran}");
    let mail = eventually("the edition arrives", async || {
        post.smtp.handle.messages().get(1).cloned()
    })
    .await;
    check_message(&mail, address);
    check_bounce(&home, &mail).await;
    let leave = mail.header("List-Unsubscribe").unwrap();
    let leave = leave.trim_matches(['<', '>']).to_owned();
    let looked = client().get(&leave).send().await.unwrap();
    assert_eq!(
        (looked.status().as_u16(), state(&home).await.as_str()),
        (200, "confirmed")
    );
    let (status, said) = post_form(&leave, "List-Unsubscribe=One-Click").await;
    assert_eq!(
        (status, state(&home).await.as_str()),
        (200, "unsubscribed"),
        "{said}"
    );
    let (status, _) = post_form(&confirm, "").await;
    assert_eq!(status, 404, "an old link subscribes nobody again");
    let imported = tokio::task::block_in_place(|| {
        home.run_with_input(
            &["edition", "subscriber", "import", "-"],
            "ada@site.example\n",
        )
    });
    assert!(imported.data.contains("1 stay unsubscribed"), "{imported}");
    let notes = node.notes();
    for hidden in ["ada@", "/confirm/1", "/unsubscribe/1", "whsec_"] {
        assert!(!notes.to_lowercase().contains(hidden), "{hidden}: {notes}");
    }
}

/// The message comes back: the ledger says so, and it counts once.
async fn check_bounce(home: &Home, mail: &Message) {
    let message_id = mail.header("Message-ID").unwrap();
    let report = format!(
        "From: MAILER-DAEMON@mx.example\n\
         Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n\
         --b\nContent-Type: message/delivery-status\n\n\
         Final-Recipient: rfc822; ada@site.example\nAction: failed\nStatus: 5.2.2\n\n\
         --b\nContent-Type: text/rfc822-headers\n\nMessage-ID: {message_id}\n\n--b--\n"
    );
    let day = date(home);
    until_done(home).await;
    for expected in [
        "Bounce 1 of ada@site.example: 5.2.2",
        "No change: the message",
    ] {
        let ran =
            tokio::task::block_in_place(|| home.run_with_input(&["edition", "bounce"], &report));
        assert_eq!(ran.code, 0, "{ran}");
        assert!(ran.data.contains(expected), "{ran}");
    }
    let ran = run(home, &["edition", "mailing", &day, "--state", "failed"]).await;
    assert!(ran.data.contains("ada@site.example"), "{ran}");
    assert!(ran.data.contains("bounced later: 5.2.2"), "{ran}");
    let ran = run(home, &["edition", "subscriber", "show", "1"]).await;
    assert!(ran.data.contains("bounced later: 5.2.2"), "{ran}");
}

fn check_message(mail: &Message, address: SocketAddr) {
    let content = decoded(mail);
    let post = mail.header("List-Unsubscribe-Post");
    assert_eq!(post.as_deref(), Some("List-Unsubscribe=One-Click"));
    let kind = mail.header("Content-Type").unwrap();
    assert!(kind.starts_with("multipart/alternative"), "{kind}");
    for part in ["text/plain", "text/html", "1 High Street"] {
        assert!(content.contains(part), "{part}: {content}");
    }
    assert!(
        content.contains(&format!("http://{address}/editions/unsubscribe/")),
        "{content}"
    );
    assert_eq!(
        mail.header("From").as_deref(),
        Some("\"The Daily\" <daily@site.example>")
    );
}

/// The edition `weekly` and its mail, beside a default one.
fn with_weekly(post: &Post, address: SocketAddr, default_mail: &str) -> String {
    format!(
        "{}[server]\npublic_url = \"http://{address}\"\n\n{default_mail}\
         [editions.weekly]\ntitle = \"The Weekly\"\n\n\
         [editions.weekly.mail]\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"\n\
         from = \"The Weekly <weekly@site.example>\"\nsecret = \"env:WEEKLY_SECRET\"\n",
        post.world
            .stories()
            .replace("stories = 12", "stories = 3\nschedule = \"0 0 1 1 *\""),
        post.smtp.address.port(),
    )
}

/// What somebody who subscribes to the edition `weekly` goes through, beside a default edition that
/// is mailed or is not.
#[expect(
    clippy::too_many_lines,
    reason = "one reader's way, from the form to the way out"
)]
async fn check_weekly(post: &Post, default_mail: &str) {
    let address = free_address();
    let smtp = &post.smtp.handle;
    let seen = smtp.messages().len();
    let home = Home::with(&with_weekly(post, address, default_mail))
        .set("SECRET", SECRET)
        .set("WEEKLY_SECRET", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD");
    let _node = Process::node(&home, address, &[]).ready().await;
    let form = format!("http://{address}/editions/weekly/subscribe");
    let index = format!("http://{address}/editions/weekly");
    let index = client().get(&index).send().await.unwrap();
    let index = index.text().await.unwrap();
    assert!(
        index.contains("href=\"/editions/weekly/subscribe\""),
        "{index}"
    );
    let (status, said) = post_form(&form, "address=ada%40site.example").await;
    assert_eq!(status, 200, "{said}");
    let nth = async |n: usize| {
        eventually("a mail arrives", async || {
            smtp.messages().get(seen + n).cloned()
        })
        .await
    };
    let mail = nth(0).await;
    let from = Some("\"The Weekly\" <weekly@site.example>");
    assert_eq!(mail.header("From").as_deref(), from);
    assert!(
        mail.header("Subject").unwrap().contains("The Weekly"),
        "{mail:?}"
    );
    let start = format!("http://{address}/editions/confirm/");
    let confirm = link(&decoded(&mail), &start);
    let looked = client().get(&confirm).send().await.unwrap();
    let looked = looked.text().await.unwrap();
    assert!(looked.contains("The Weekly"), "{looked}");
    let (status, said) = post_form(&confirm, "").await;
    assert_eq!(
        (status, state(&home).await.as_str()),
        (200, "confirmed"),
        "{said}"
    );
    for name in ["default", "weekly"] {
        let ran = run(&home, &["edition", "run", name]).await;
        assert_eq!(ran.code, 0, "{ran}");
    }
    let mail = nth(1).await;
    assert_eq!(mail.header("From").as_deref(), from);
    assert_eq!(
        mail.header("List-Id").as_deref(),
        Some("<weekly.site.example>")
    );
    assert!(decoded(&mail).contains(&format!("http://{address}/editions/weekly@")));
    let content = decoded(&mail);
    let (_, day) = content.split_once("/editions/weekly@").unwrap();
    let page = format!("http://{address}/editions/weekly@{}", &day[..10]);
    let page = client().get(&page).send().await.unwrap().text().await;
    assert!(
        page.unwrap()
            .contains("href=\"/editions/weekly/subscribe\"")
    );
    let leave = mail.header("List-Unsubscribe").unwrap();
    let (status, said) = post_form(leave.trim_matches(['<', '>']), "").await;
    assert_eq!(
        (status, state(&home).await.as_str()),
        (200, "unsubscribed"),
        "{said}"
    );
    assert!(said.contains("The Weekly"), "{said}");
    let default = format!("http://{address}/editions/subscribe");
    let default = client().get(&default).send().await.unwrap().status();
    assert_eq!(default == 200, !default_mail.is_empty());
    assert_eq!(
        smtp.messages().len(),
        seen + 2,
        "nobody subscribed to the default one"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_43_each_edition_has_its_own_sender_subscribers_and_links() {
    let post = Post::start().await;
    check_weekly(&post, "").await;
    let default = format!(
        "[edition.mail]\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"\n\
         from = \"The Daily <daily@site.example>\"\nsecret = \"env:SECRET\"\n\n",
        post.smtp.address.port()
    );
    check_weekly(&post, &default).await;
}

/// What the edition would find out when it is sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_43_the_doctor_tries_the_mail_server() {
    let post = Post::start().await;
    let home = post.home("sqlite:almanack.db", free_address());
    let mail = async |more: &[&str]| {
        let listen = format!("server.listen={}", free_address());
        let arguments = [&["doctor", "--json", "--set", &listen], more].concat();
        let ran = run(&home, &arguments).await;
        let reported: serde_json::Value = serde_json::from_str(&ran.data).unwrap();
        let mut findings = reported["findings"].as_array().unwrap().iter();
        let found = findings.find(|finding| finding["check"] == "edition.mail");
        found.unwrap()["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(mail(&[]).await, "ok");
    let nobody = format!("edition.mail.port={}", free_address().port());
    assert_eq!(mail(&["--set", &nobody]).await, "failed");
    assert!(post.smtp.handle.messages().is_empty(), "nothing was sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ed_43_half_a_mail_section_is_refused_with_what_is_missing() {
    for (toml, missing) in [
        (
            "[edition.mail]\nhost = \"127.0.0.1\"\n",
            "the sender is missing",
        ),
        (
            "[edition.mail]\nfrom = \"a@b.co\"\n",
            "the server is missing",
        ),
        (
            "[edition.mail]\nhost = \"127.0.0.1\"\nfrom = \"a@b.co\"\nsecret = \"env:SECRET\"\n",
            "the address of this server",
        ),
        (
            "[edition.mail]\nhost = \"mail.example\"\ntls = \"none\"\n",
            "mail without TLS is allowed only to a server on this machine",
        ),
    ] {
        let home = Home::with(toml).set("SECRET", SECRET);
        let ran = home.run(&["check"]);
        assert_ne!(ran.code, 0, "{ran}");
        assert!(ran.to_string().contains(missing), "{ran}");
    }
}
