use super::*;
use crate::{edition::EditionName, fixture::at};

const POSTFIX: &str = "From: MAILER-DAEMON@mx.example (Mail Delivery System)
Subject: Undelivered Mail Returned to Sender
To: daily@site.example
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
\tboundary=\"9B095B5ADD.1/mx.example\"

This is a MIME-encapsulated message.

--9B095B5ADD.1/mx.example
Content-Description: Notification
Content-Type: text/plain; charset=us-ascii

I'm sorry to have to inform you that your message could not be delivered.

--9B095B5ADD.1/mx.example
Content-Description: Delivery report
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example
X-Postfix-Queue-ID: 9B095B5ADD
Arrival-Date: Sat, 10 Jan 2026 07:00:00 +0000 (UTC)

Final-Recipient: rfc822; ada@inbox.example
Original-Recipient: rfc822;Ada@Inbox.example
Action: failed
Status: 5.1.1
Remote-MTA: dns; inbox.example
Diagnostic-Code: smtp; 550 5.1.1 <ada@inbox.example>: Recipient address
    rejected: User unknown

--9B095B5ADD.1/mx.example
Content-Description: Undelivered Message Headers
Content-Type: text/rfc822-headers

From: The Daily <daily@site.example>
To: ada@inbox.example
Message-ID: <weekly.2026-01-10.1.42@site.example>
Subject: The Daily

--9B095B5ADD.1/mx.example--
";

fn edition() -> Ours {
    let name = EditionName::parse("weekly").unwrap();
    let id = EditionId::new(name, jiff::civil::date(2026, 1, 10));
    Ours::Edition(id, SubscriberId(42))
}

#[test]
fn ed_43_a_report_names_the_message_and_why_it_failed() {
    let expected = Report {
        message: Some(edition()),
        address: Some(Address::parse("ada@inbox.example").unwrap()),
        refusal: Refusal {
            detail: "5.1.1 550 5.1.1 the address Recipient address rejected: User unknown"
                .to_owned(),
            is_bounce: true,
        },
    };
    assert_eq!(read(POSTFIX), Some(expected.clone()));
    let network = POSTFIX.replace('\n', "\r\n");
    assert_eq!(read(&network), Some(expected.clone()));
    let mailbox = format!("From MAILER-DAEMON Sat Jan 10 07:00:00 2026\n{POSTFIX}");
    assert_eq!(read(&mailbox), Some(expected));
}

#[test]
fn ed_43_what_is_no_failed_delivery_is_no_report() {
    let read = |from: &str, to: &str| read(&POSTFIX.replace(from, to));
    assert_eq!(read("Action: failed", "Action: delayed"), None);
    assert_eq!(read("multipart/report", "multipart/mixed"), None);
    assert_eq!(read("message/delivery-status", "text/plain"), None);
    assert_eq!(read("\tboundary=\"9B095B5ADD.1/mx.example\"\n", ""), None);
    for other in ["", "\n\n", "Subject: hello\n\nI am on holiday.\n"] {
        assert_eq!(super::read(other), None, "{other:?}");
    }
    // Whoever cuts a report off reports nothing.
    for end in (0..POSTFIX.len()).step_by(7) {
        super::read(&POSTFIX[..end]);
    }
}

#[test]
fn ed_43_a_report_without_the_message_has_the_address() {
    let bare = POSTFIX.replace("Message-ID: <weekly.2026-01-10.1.42@site.example>\n", "");
    let report = read(&bare).unwrap();
    assert_eq!(report.message, None);
    assert_eq!(report.address.unwrap().as_str(), "ada@inbox.example");
    let foreign = POSTFIX.replace("weekly.2026-01-10.1.42@", "CAF=x.y@");
    assert_eq!(read(&foreign).unwrap().message, None);
}

#[test]
fn ed_43_only_what_is_about_the_recipient_counts() {
    for (code, words, counts) in [
        (550, "no such user", true),
        (550, "5.1.1 no such user", true),
        (550, "5.4.1 Recipient address rejected: Access denied", true),
        (552, "5.2.2 mailbox full", true),
        (450, "mailbox busy", true),
        (450, "4.2.1 disabled", true),
        (550, "5.0.0 undefined", true),
        // Ours to mend.
        (550, "5.7.1 relaying denied", false),
        (
            550,
            "permanent error (550): 5.7.26 unauthenticated sender",
            false,
        ),
        (554, "5.6.0 content refused", false),
        (554, "no", false),
        (450, "4.7.1 greylisted", false),
        (451, "local error", false),
        (452, "4.3.1 disk full", false),
        (0, "4.4.7 delivery time expired", true),
    ] {
        assert_eq!(is_about_recipient(code, words), counts, "{code} {words}");
    }
}

#[test]
fn a_message_is_known_by_its_id() {
    let confirmation = Ours::Confirmation(SubscriberId(7), at(5));
    for ours in [edition(), confirmation] {
        let id = format!("<{}@site.example>", ours.message_id(3));
        assert_eq!(Ours::parse(&id), Some(ours), "{id}");
    }
    for id in ["", "<@>", "<a.b.c.d@x>", "<confirm.x.y@z>", "<1.2.3@y>"] {
        assert_eq!(Ours::parse(id), None, "{id}");
    }
}
