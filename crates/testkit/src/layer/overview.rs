//! People under a layer: what they sign in with and what their pages look at passes untouched.

use almanack_core::{
    alert::Alert,
    sign_in::{Session, User},
    store::{
        Activity, ActivityFilter, AlertFilter, AlertStore, Applied, ClaimLine, OverviewStore,
        Result, SignInStore, SlotLine, StatusCount, TaskLine, TaskSearch,
    },
};
use async_trait::async_trait;
use jiff::Timestamp;

use super::{Layer, Layered};

#[async_trait]
impl<L: Layer> SignInStore for Layered<L> {
    async fn save_user(&self, user: &User) -> Result<()> {
        self.below.save_user(user).await
    }
    async fn change_user(&self, user: &User) -> Result<bool> {
        self.below.change_user(user).await
    }
    async fn load_user(&self, name: &str) -> Result<Option<User>> {
        self.below.load_user(name).await
    }
    async fn load_users(&self) -> Result<Vec<User>> {
        self.below.load_users().await
    }
    async fn remove_user(&self, name: &str) -> Result<bool> {
        self.below.remove_user(name).await
    }
    async fn save_session(&self, session: &Session) -> Result<()> {
        self.below.save_session(session).await
    }
    async fn load_session(&self, hash: &str) -> Result<Option<Session>> {
        self.below.load_session(hash).await
    }
    async fn remove_session(&self, hash: &str) -> Result<()> {
        self.below.remove_session(hash).await
    }
}

#[async_trait]
impl<L: Layer> OverviewStore for Layered<L> {
    async fn search_tasks(&self, search: &TaskSearch) -> Result<Vec<TaskLine>> {
        self.below.search_tasks(search).await
    }
    async fn count_found(&self, search: &TaskSearch) -> Result<u64> {
        self.below.count_found(search).await
    }
    async fn count_statuses(&self, among: usize) -> Result<Vec<StatusCount>> {
        self.below.count_statuses(among).await
    }
    async fn load_finished(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskLine>> {
        self.below.load_finished(from, until, limit).await
    }
    async fn load_upcoming(&self, until: Timestamp, limit: usize) -> Result<Vec<TaskLine>> {
        self.below.load_upcoming(until, limit).await
    }
    async fn load_running(&self, limit: usize) -> Result<Vec<TaskLine>> {
        self.below.load_running(limit).await
    }
    async fn load_claims(&self, limit: usize) -> Result<Vec<ClaimLine>> {
        self.below.load_claims(limit).await
    }
    async fn load_slots_between(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<SlotLine>> {
        self.below.load_slots_between(from, until, limit).await
    }
    async fn load_activity(&self, filter: &ActivityFilter) -> Result<Vec<Activity>> {
        self.below.load_activity(filter).await
    }
}

#[async_trait]
impl<L: Layer> AlertStore for Layered<L> {
    async fn load_alerts(&self, filter: AlertFilter) -> Result<Vec<Alert>> {
        self.below.load_alerts(filter).await
    }
    async fn write_alerts(&self, alerts: Vec<Alert>) -> Result<Vec<Applied>> {
        self.below.write_alerts(alerts).await
    }
    async fn claim_alerts(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Alert>> {
        self.below.claim_alerts(now, until, limit).await
    }
    async fn prune_alerts(&self, before: Timestamp, limit: usize) -> Result<usize> {
        self.below.prune_alerts(before, limit).await
    }
}
