//! One step of a mailing: a connection, a bounded number of messages at the configured pace.
//!
//! The order for each message is what makes it safe: the server accepts the recipient, the row is
//! written `sent`, the content is handed over, the row is written with the answer. A node that dies
//! before the first write has sent nothing; after it, one message is in doubt.

use almanack_core::{
    edition::{EditionId, delivery::State as Row, document::Document, port::Sent},
    finish::Outcome,
    newsletter::{
        Mailing, Subscriber,
        bounce::{Ours, Refusal},
        link::Purpose,
        mailing::{Mail, State},
        port::{Around, Email, MailSession, Refused},
        subscriber::State as Subscribed,
    },
};
use jiff::SignedDuration;

use super::{Error, Newsletter};
use crate::wake::later;

/// Rows that are written for subscribers in one transaction.
const FILL_ROWS: usize = 1_000;
/// Messages that are looked at together.
const PAGE: usize = 100;
/// How long a step takes before it gives its slot back. A node that shuts down waits this long at
/// most, and one message more.
const STEP_TIME: SignedDuration = SignedDuration::from_secs(20);
/// Beyond the time for a message, until another node may take it as in doubt.
const LEASE_MARGIN: SignedDuration = SignedDuration::from_secs(10);

/// How a step goes on after a message.
enum Next {
    /// With the next message, after a pause.
    Paced,
    /// With the next message, at once: none was handed over.
    AtOnce,
    /// Not any more: the server failed.
    Stop(Outcome),
}

impl Newsletter {
    /// Sends what is due, as far as a step goes.
    pub(super) async fn step(&self, id: EditionId) -> Result<Outcome, Error> {
        let Some(mailing) = self.filled(id).await? else {
            return Ok(Outcome::give_up("no such mailing"));
        };
        if mailing.state == State::Done {
            return Ok(Outcome::done("sent before"));
        }
        if self.due(id).await?.is_empty() {
            return self.rest(&mailing).await;
        }
        let document = self.store.load_document(id, Some(mailing.revision));
        let Some(document) = document.await? else {
            return Ok(Outcome::give_up("the edition's document is gone"));
        };
        let mut session = match self.server.connect().await {
            Ok(session) => session,
            Err(failure) => {
                return self
                    .server_failed(&mailing, &failure.detail, failure.retry_after)
                    .await;
            }
        };
        let outcome = self.send_due(&mailing, &document, &mut *session).await;
        session.quit().await;
        outcome
    }

    /// The mailing, with a row for each subscriber.
    async fn filled(&self, id: EditionId) -> Result<Option<Mailing>, Error> {
        loop {
            let now = self.clock.now();
            let mailing = self.store.fill_mailing(id, FILL_ROWS, now).await?;
            match mailing {
                Some(mailing) if !mailing.is_filled => {}
                found => return Ok(found),
            }
        }
    }

    async fn due(&self, id: EditionId) -> Result<Vec<Mail>, Error> {
        let now = self.clock.now();
        Ok(self.store.load_due_mails(id, now, PAGE).await?)
    }

    /// Nothing is due: comes again for what waits, or ends.
    async fn rest(&self, mailing: &Mailing) -> Result<Outcome, Error> {
        if let Some(at) = self.store.next_mail_at(mailing.id).await? {
            return Ok(Outcome::again(at.max(self.clock.now())));
        }
        let done = mailing.done(self.clock.now());
        self.store.note_mailing(&done).await?;
        let counts = self.store.count_mails(mailing.id).await?;
        let detail = format!(
            "{} sent, {} failed, {} skipped",
            counts.confirmed, counts.failed, counts.skipped
        );
        tracing::info!(edition.id = %mailing.id, detail, "newsletter sent");
        Ok(Outcome::done(detail))
    }

    async fn send_due(
        &self,
        mailing: &Mailing,
        document: &Document,
        session: &mut dyn MailSession,
    ) -> Result<Outcome, Error> {
        let until = later(self.clock.now(), STEP_TIME);
        let gap = SignedDuration::from_micros(60_000_000 / i64::from(self.settings.pace.max(1)));
        let mut mailing = mailing.clone();
        loop {
            let due = self.due(mailing.id).await?;
            if due.is_empty() {
                return self.rest(&mailing).await;
            }
            for mail in due {
                let began_at = self.clock.now();
                if began_at >= until {
                    return Ok(Outcome::again(began_at));
                }
                let next = self.settle_or_send(&mut mailing, &mail, document, session);
                let next_at = match next.await? {
                    Next::Stop(outcome) => return Ok(outcome),
                    Next::AtOnce => continue,
                    Next::Paced => later(began_at, gap),
                };
                if next_at >= until {
                    return Ok(Outcome::again(next_at));
                }
                self.sleeper.until(next_at).await;
            }
        }
    }

    async fn settle_or_send(
        &self,
        mailing: &mut Mailing,
        mail: &Mail,
        document: &Document,
        session: &mut dyn MailSession,
    ) -> Result<Next, Error> {
        if matches!(mail.state, Row::Sent | Row::Unknown) {
            let settled = mail.settled(self.settings.on_unknown, self.clock.now());
            self.store.write_mail(mail, &settled).await?;
            tracing::warn!(edition.id = %mail.id, subscriber.id = mail.subscriber_id.0, state = settled.state.as_str(), "newsletter with unknown outcome settled");
            return Ok(Next::AtOnce);
        }
        let found = self.store.load_subscriber(mail.subscriber_id).await?;
        let Some(row) = found.filter(|row| row.state == Subscribed::Confirmed) else {
            let skipped = mail.skipped("no longer subscribed", self.clock.now());
            self.store.write_mail(mail, &skipped).await?;
            return Ok(Next::AtOnce);
        };
        let email = match self.email(&row, document) {
            Ok(email) => email,
            Err(why) => return Ok(Next::Stop(Outcome::give_up(why))),
        };
        match session.offer(&email).await {
            Ok(()) => self.hand_over(mailing, mail, &row, session).await,
            Err(refused) => self.refused(mailing, mail, refused).await,
        }
    }

    /// Writes down that a recipient does not have it. Whoever is refused for good, or was put off
    /// for as long as we try, has it counted against them if it is about them.
    async fn refused(
        &self,
        mailing: &Mailing,
        mail: &Mail,
        refused: Refused,
    ) -> Result<Next, Error> {
        let now = self.clock.now();
        let (next, refusal): (Mail, Refusal) = match refused {
            Refused::Recipient(refusal) => (mail.refused(&refusal.detail, now), refusal),
            Refused::Deferred(refusal) => (mail.deferred(&refusal.detail, now), refusal),
            Refused::Server(failure) => {
                let (detail, after) = (failure.detail, failure.retry_after);
                let stopped = self.server_failed(mailing, &detail, after);
                return stopped.await.map(Next::Stop);
            }
        };
        let ours = self.store.write_mail(mail, &next).await?;
        if ours && next.retry_at.is_none() && refusal.is_bounce {
            let limit = self.settings.bounces_max;
            Self::changed(self.subscribers().bounce(mail.subscriber_id, limit).await)?;
        }
        Ok(Next::AtOnce)
    }

    /// The recipient is accepted: writes that it is being sent, sends, writes the answer.
    async fn hand_over(
        &self,
        mailing: &mut Mailing,
        mail: &Mail,
        row: &Subscriber,
        session: &mut dyn MailSession,
    ) -> Result<Next, Error> {
        let started_at = self.clock.now();
        let over_at = later(started_at, self.settings.timeout);
        let started = mail.started(later(over_at, LEASE_MARGIN), started_at);
        let ours = self.store.write_mail(mail, &started).await?;
        // A slow answer of the store shortens the time, and never extends it.
        if !ours || self.clock.now() >= over_at {
            session.withdraw().await;
            return Ok(Next::AtOnce);
        }
        let sent = tokio::select! {
            biased;
            sent = session.hand_over() => sent,
            () = self.sleeper.until(over_at) => Ok(unanswered()),
        };
        let sent = match sent {
            Ok(sent) => sent,
            Err(refused) => return self.refused(mailing, &started, refused).await,
        };
        let (next, now) = (sent.clone(), self.clock.now());
        let ended = match &sent {
            Sent::Confirmed { receipt } => started.confirmed(receipt.as_deref(), now),
            Sent::Failed(failure) => started.deferred(&failure.detail, now),
            Sent::Unknown(failure) => started.unknown(&failure.detail, now),
        };
        self.store.write_mail(&started, &ended).await?;
        metrics::counter!("almanack_newsletter_messages_total", "outcome" => ended.state.as_str())
            .increment(1);
        match next {
            Sent::Confirmed { .. } => {
                if row.bounces > 0 {
                    Self::changed(self.subscribers().accept(row.id).await)?;
                }
                if let Some(well) = mailing.succeeded() {
                    self.store.note_mailing(&well).await?;
                    *mailing = well;
                }
                Ok(Next::Paced)
            }
            Sent::Failed(failure) | Sent::Unknown(failure) => {
                let (detail, after) = (failure.detail, failure.retry_after);
                self.server_failed(mailing, &detail, after)
                    .await
                    .map(Next::Stop)
            }
        }
    }

    /// A subscriber who is gone, or whom others change, needs nothing more of us.
    fn changed(changed: Result<Subscriber, Error>) -> Result<(), Error> {
        match changed {
            Ok(_) | Err(Error::Unknown | Error::Busy) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// No recipient would be accepted now: waits, and needs a person after many failures in a row.
    async fn server_failed(
        &self,
        mailing: &Mailing,
        detail: &str,
        retry_after: Option<SignedDuration>,
    ) -> Result<Outcome, Error> {
        let failed = mailing.failed(detail);
        self.store.note_mailing(&failed).await?;
        let failures = failed.failures;
        tracing::warn!(edition.id = %mailing.id, failures, error = detail, "the mail server does not take the newsletter");
        if failed.state == State::Held {
            return Ok(Outcome::give_up(format!(
                "the mail server refused {failures} times in a row: {detail}"
            )));
        }
        Ok(Outcome::again(
            failed.next_try(retry_after, self.clock.now()),
        ))
    }

    fn email(&self, row: &Subscriber, document: &Document) -> Result<Email, String> {
        let settings = &self.settings;
        let unsubscribe_url = self.link(Purpose::Unsubscribe, row.id);
        let (id, revision) = (document.inputs.id(), document.inputs.revision);
        let page = || format!("{}/editions/{id}", settings.public_url);
        let around = Around {
            language: row.language.as_ref().unwrap_or(&settings.language).clone(),
            page_url: settings.links_to_page.then(page),
            unsubscribe_url: unsubscribe_url.clone(),
            footer: settings.footer.clone(),
        };
        let written = self.writer.edition(document, &around);
        Ok(Email {
            to: row.address.clone(),
            written: written.map_err(|why| why.to_string())?,
            message_id: Ours::Edition(id, row.id).message_id(revision),
            unsubscribe_url: Some(unsubscribe_url),
        })
    }
}

fn unanswered() -> Sent {
    use almanack_core::edition::port::{Failure, FailureClass};
    let detail = "the mail server did not answer in time";
    Sent::Unknown(Failure::new(FailureClass::Transient, detail))
}
