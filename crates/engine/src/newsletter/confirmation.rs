//! Confirmation mails. One that may have arrived is sent again: asking twice does no harm.

use almanack_core::{
    edition::port::Sent,
    finish::Outcome,
    newsletter::{
        Subscriber, SubscriberId,
        bounce::Ours,
        link::Purpose,
        port::{Confirmation, Email, Refused},
        subscriber::State,
    },
};
use jiff::Timestamp;

use super::{Error, Newsletter};

impl Newsletter {
    /// Sends a confirmation mail, if it is still wanted.
    pub(super) async fn confirm(
        &self,
        (id, asked_at): (SubscriberId, Timestamp),
    ) -> Result<Outcome, Error> {
        let found = self.store.load_subscriber(id).await?;
        let current = |row: &Subscriber| {
            let asked = row.asked_at.map(Timestamp::as_second);
            row.state == State::Pending && asked == Some(asked_at.as_second())
        };
        let Some(row) = found.filter(current) else {
            return Ok(Outcome::done("not wanted any more"));
        };
        let email = match self.confirmation(&row) {
            Ok(email) => email,
            Err(why) => return Ok(Outcome::give_up(why)),
        };
        let mut session = match self.server.connect().await {
            Ok(session) => session,
            Err(failure) => return Ok(Outcome::retry(failure.detail)),
        };
        let outcome = match session.offer(&email).await {
            Ok(()) => match session.hand_over().await {
                Ok(Sent::Confirmed { receipt }) => Outcome::Done { detail: receipt },
                Ok(Sent::Failed(failure) | Sent::Unknown(failure)) => {
                    Outcome::retry(failure.detail)
                }
                Err(refused) => self.unconfirmable(id, refused).await?,
            },
            Err(refused) => self.unconfirmable(id, refused).await?,
        };
        session.quit().await;
        Ok(outcome)
    }

    async fn unconfirmable(&self, id: SubscriberId, refused: Refused) -> Result<Outcome, Error> {
        Ok(match refused {
            Refused::Recipient(refusal) => {
                self.subscribers().bounce(id, 1).await?;
                Outcome::done(format!("the address is refused: {}", refusal.detail))
            }
            Refused::Deferred(refusal) => Outcome::retry(refusal.detail),
            Refused::Server(failure) => Outcome::retry(failure.detail),
        })
    }

    fn confirmation(&self, row: &Subscriber) -> Result<Email, String> {
        let language = row.language.as_ref().unwrap_or(&self.settings.language);
        let confirmation = Confirmation {
            title: self.settings.title.clone(),
            language: language.clone(),
            confirm_url: self.link(Purpose::Confirm, row.id),
            footer: self.settings.footer.clone(),
        };
        let written = self.writer.confirmation(&confirmation);
        let asked = row.asked_at.unwrap_or(row.created_at);
        Ok(Email {
            to: row.address.clone(),
            written: written.map_err(|why| why.to_string())?,
            message_id: Ours::Confirmation(row.id, asked).message_id(0),
            unsubscribe_url: None,
        })
    }
}
