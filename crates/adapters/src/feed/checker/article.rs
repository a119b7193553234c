//! Articles that entries link to, read as politely as pages are checked: within the host's pace,
//! where its `robots.txt` allows it, and a host that asks to be left alone is.

use std::sync::Arc;

use almanack_core::source::check::{Article, Failure, FailureClass};
use jiff::Timestamp;
use reqwest::header::{ACCEPT, CONTENT_TYPE};

use super::{FeedChecker, REDIRECTS_MAX, answer};
use crate::{
    http::{Counting, Error, HostAdmission, Request, Response},
    reader::read_page,
    robots::{PageVisit, RobotsVisit},
};

impl FeedChecker {
    pub(super) async fn read_article(
        &self,
        link: &str,
        now: Timestamp,
    ) -> Result<Article, Failure> {
        let counting = Counting::new(Arc::clone(&self.courtesy), now);
        let visit: Arc<dyn HostAdmission> = Arc::new(PageVisit {
            robots: self.robots.clone(),
            visit: RobotsVisit {
                admission: Arc::new(self.host_paces.visit(now)),
                counting: Some(counting.clone()),
                proxy: None,
                now,
            },
        });
        let request = Request::get(link)
            .header(ACCEPT, "text/html, application/xhtml+xml, text/plain;q=0.9")
            .limits(self.limits)
            .following(REDIRECTS_MAX)
            .counted(counting)
            .through(Arc::clone(&visit));
        let response = match self.client.send(request).await {
            Ok(response) => response,
            Err(Error::Busy { until }) => return Ok(Article::Wait(until)),
            Err(error) => return Err(answer::no_answer(&error)),
        };
        if let Some(failure) = answer::refusal(&response.head, now) {
            self.hold(&response.head, &failure, now);
            return Err(failure);
        }
        // Only reading is left, which the host does not notice.
        drop(visit);
        self.text_of(response).await.map(Article::Text)
    }

    async fn text_of(&self, response: Response) -> Result<String, Failure> {
        let Response { head, body } = response;
        let content_type = head.header(&CONTENT_TYPE).map(str::to_owned);
        let address = String::from(head.address);
        let read = self.blocking_pool.run(move || {
            let read = read_page(&body, content_type.as_deref(), &address).map(|found| found.text);
            read.map_err(|why| Failure::new(FailureClass::Malformed, why.detail))
        });
        read.await
    }
}
