//! A layer between the engine and a store: sees calls pass, and may meddle with them.
//!
//! The methods of the port are listed once, at the end of this file. From the list come a hook per
//! method, which a layer overrides where it has something to say about that call, and the store
//! that passes every call through its hook. What a layer does around any call it says once, in
//! [`Layer::around`].

use std::{future::Future, pin::Pin, sync::Arc};

use almanack_core::{
    alert::{
        Alert,
        trouble::{NodeTroubles, Trouble},
    },
    bulk::{Bulk, BulkId},
    calendar::{CalendarRecord, CalendarVersion},
    clock::Mark,
    edition::{
        Account, Edition, EditionId, EditionName, account,
        allowance::{Caps, Period, Spending, Usage},
        document::Document,
        revision::RevisionLine,
    },
    finish::Finish,
    follow::{Followed, FollowedChange},
    history::Decision,
    inbox::{InboxEntry, InboxNumber},
    newsletter::{
        Address, Mailing, Subscriber, SubscriberId,
        mailing::{Mail, MailCounts},
        subscriber,
    },
    pace::Starts,
    plan::{
        Edit, FiredByHand, Monitor, Ping, Schedule, ScheduleId, ScheduleName, ScheduleWrite, Slot,
    },
    reschedule::Change,
    sign_in::{Session, User},
    source::{
        Source, SourceId, SourceType,
        courtesy::{Day, DayCounts, HostCounts, HostDay},
        entry::Entry,
    },
    store::{
        Activity, ActivityFilter, Added, AlertFilter, AlertStore, Applied, AppliedOnce, BulkStore,
        CalendarStore, ClaimId, ClaimLine, ClaimRequest, Claimed, Coming, CountBy, CourtesyQuery,
        CourtesyStore, Depth, DueSchedules, EditionFilter, EditionLine, EditionStore,
        EditionWritten, EntryFilter, EntryQuestion, EntryRetention, ExpiredClaim, Finished,
        FiringStore, Fleet, HistoryPage, InboxDecider, InboxStore, InboxTaken, Kinds, KnownEntry,
        LedgerPage, LogExtent, LogPage, LogPiece, LogWrite, MailFilter, MonitorKey, MonitorKeys,
        MonitorStore, NewsletterStore, Node, NodeStore, Nudges, OnceKey, OnceRecord, OverviewStore,
        PaceStore, Page, PausedKind, PermitGrant, PermitRequest, PermitStore, Pruned,
        PrunedEntries, PrunedStories, Records, Result, RunId, RunLogStore, ScheduleFilter,
        ScheduleStore, SignInStore, SlotLine, SourceFilter, SourceNumbers, SourceStore,
        SourceWrite, StartRequest, StatusCount, Store, SubscriberCount, SubscriberFilter,
        TakenTask, TaskCounts, TaskFilter, TaskLine, TaskStore, TokenStore, UnreadEntry, Visitor,
        Written,
    },
    task::{ClaimedTask, Identity, Kind, Task, TaskId},
    token::Token,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp, civil::Date};

/// What a call is answered with, some time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

type Run<T> = dyn for<'a> FnOnce(&'a dyn Store) -> Answer<'a, T> + Send;

/// A call on its way, with its arguments.
pub struct StoreCall<T> {
    /// The trait it belongs to.
    pub port: &'static str,
    pub method: &'static str,
    run: Box<Run<T>>,
}

impl<T> StoreCall<T> {
    fn new(
        port: &'static str,
        method: &'static str,
        run: impl for<'a> FnOnce(&'a dyn Store) -> Answer<'a, T> + Send + 'static,
    ) -> Self {
        let run = Box::new(run);
        Self { port, method, run }
    }

    pub fn on(self, store: &dyn Store) -> Answer<'_, T> {
        (self.run)(store)
    }
}

/// A store with a layer over it.
pub struct Layered<L> {
    layer: L,
    below: Arc<dyn Store>,
}

impl<L: Layer + 'static> Layered<L> {
    /// Puts `layer` over `below`.
    pub fn over(below: Arc<dyn Store>, layer: L) -> Arc<dyn Store> {
        Arc::new(Self { layer, below })
    }
}

#[async_trait]
impl<L: Layer> Store for Layered<L> {
    fn nudges(&self) -> Box<dyn Nudges> {
        self.layer.nudges(&*self.below)
    }
    fn inbox_hints(&self) -> Option<Box<dyn Nudges>> {
        self.below.inbox_hints()
    }
    fn safety_poll(&self) -> SignedDuration {
        self.layer.safety_poll(&*self.below)
    }
    async fn database_time(&self) -> Result<Option<Timestamp>> {
        self.layer.database_time(&*self.below).await
    }
    async fn ping(&self) -> Result<()> {
        self.below.ping().await
    }
    async fn size_bytes(&self) -> Result<Option<u64>> {
        self.below.size_bytes().await
    }
}

/// Makes [`Layer`] and what [`Layered`] does of a list of methods. An argument with an ampersand is
/// lent; the layer gets a copy of it, because a call may outlive its caller.
macro_rules! layered {
    ($($port:ident { $(
        $method:ident($( $(&$lent:ident)? $($given:ident)? : $type:ty ),*) -> $answer:ty;
    )* })*) => {
        /// What a layer may do about calls. What it leaves out passes untouched.
        #[async_trait]
        pub trait Layer: Send + Sync {
            /// Every call that is not overridden.
            async fn around<T: Send + 'static>(
                &self,
                below: &dyn Store,
                call: StoreCall<T>,
            ) -> Result<T> {
                call.on(below).await
            }
            /// See [`Store::nudges`].
            fn nudges(&self, below: &dyn Store) -> Box<dyn Nudges> {
                below.nudges()
            }
            /// See [`Store::safety_poll`].
            fn safety_poll(&self, below: &dyn Store) -> SignedDuration {
                below.safety_poll()
            }
            /// See [`Store::database_time`].
            async fn database_time(&self, below: &dyn Store) -> Result<Option<Timestamp>> {
                below.database_time().await
            }
            $($(
                #[doc = concat!("See [`", stringify!($port), "::", stringify!($method), "`].")]
                async fn $method(
                    &self,
                    below: &dyn Store,
                    $( $($lent: &$type)? $($given: $type)? ),*
                ) -> Result<$answer> {
                    $( $(let $lent = $lent.to_owned();)? )*
                    let call = StoreCall::new(stringify!($port), stringify!($method), move |store| {
                        Box::pin(async move {
                            store.$method($( $(&$lent)? $($given)? ),*).await
                        })
                    });
                    self.around(below, call).await
                }
            )*)*
        }

        $(
            #[async_trait]
            impl<L: Layer> $port for Layered<L> { $(
                async fn $method(
                    &self,
                    $( $($lent: &$type)? $($given: $type)? ),*
                ) -> Result<$answer> {
                    let below = &*self.below;
                    self.layer.$method(below, $( $($lent)? $($given)? ),*).await
                }
            )* }
        )*
    };
}

layered! {
    TaskStore {
        load_current(&identities: [Identity]) -> Vec<Option<Task>>;
        apply(changes: Vec<Change>) -> Vec<Applied>;
        apply_once(key: OnceKey, changes: Vec<Change>) -> AppliedOnce;
        load_once(&key: str) -> Option<OnceRecord>;
        claim(request: ClaimRequest) -> Claimed;
        claim_expired(request: ClaimRequest) -> Vec<ClaimedTask>;
        finish(finishes: Vec<Finish>) -> Vec<Finished>;
        load_taken(&ids: [TaskId], &session: str) -> Vec<Option<TakenTask>>;
        extend_claims(&claims: [ClaimId], now: Timestamp, lease_until: Timestamp) -> Vec<ClaimId>;
        release_claims(&claims: [ClaimId]) -> ();
        release_ended_claims(&claims: [ClaimId]) -> ();
        load_expired(now: Timestamp, limit: usize) -> Vec<ExpiredClaim>;
        load_task(id: TaskId) -> Option<Task>;
        list_tasks(&filter: TaskFilter) -> Page<Task, TaskId>;
        count_tasks(&filter: TaskFilter, by: Option<CountBy>) -> TaskCounts;
        load_history(&identity: Identity, page: HistoryPage) -> Records;
        load_decisions(id: TaskId, after: u32, limit: usize) -> Vec<Decision>;
        load_waiting_kinds(limit: usize) -> Vec<Kind>;
        load_depths(now: Timestamp) -> Vec<Depth>;
        prune(before: Timestamp, after: TaskId, limit: usize) -> Pruned;
        prune_keys(before: Timestamp, limit: usize) -> usize;
    }
    BulkStore {
        create_bulk(&bulk: Bulk) -> BulkId;
        load_bulk(id: BulkId) -> Option<Bulk>;
        list_bulks(before: Option<BulkId>, limit: usize) -> Page<Bulk, BulkId>;
        advance_bulk(&bulk: Bulk, changes: Vec<Change>) -> Option<(Bulk, Vec<Applied>)>;
        cancel_bulk(id: BulkId, &by: str, now: Timestamp) -> bool;
        prune_bulks(before: Timestamp, limit: usize) -> usize;
    }
    MonitorStore {
        load_monitors(&ids: [ScheduleId]) -> Vec<Option<Monitor>>;
        list_monitors(after: ScheduleId, limit: usize) -> Page<Schedule, ScheduleId>;
        find_monitor(&key: MonitorKey) -> Option<ScheduleName>;
        load_monitor_keys(id: ScheduleId) -> MonitorKeys;
        save_monitor_keys(id: ScheduleId, &keys: MonitorKeys) -> bool;
        load_down_monitors(limit: usize) -> Vec<ScheduleName>;
        load_pings(id: ScheduleId, before: u64, limit: usize) -> Vec<Ping>;
    }
    ScheduleStore {
        load_due_schedules(now: Timestamp, limit: usize) -> DueSchedules;
        load_schedules(&names: [ScheduleName]) -> Vec<Option<Schedule>>;
        list_schedules(&filter: ScheduleFilter) -> Page<Schedule, ScheduleName>;
        write_schedules(writes: Vec<ScheduleWrite>) -> Vec<Applied>;
        load_slots(id: ScheduleId, page: LedgerPage) -> Vec<Slot>;
        load_fired_by_hand(
            &name: ScheduleName, from: Timestamp, page: LedgerPage
        ) -> Vec<FiredByHand>;
        load_edits(id: ScheduleId, limit: usize) -> Vec<Edit>;
        load_decided_ahead(after: Timestamp, limit: usize) -> Vec<ScheduleName>;
        prune_slots(before: Timestamp, limit: usize) -> usize;
    }
    SourceStore {
        add_sources(sources: Vec<Source>) -> Vec<Added>;
        load_sources(&ids: [SourceId]) -> Vec<Option<Source>>;
        load_source_at(&address: str) -> Option<Source>;
        load_file_sources(after: SourceId, limit: usize) -> Vec<Source>;
        find_sources(&address: str) -> Vec<SourceId>;
        list_sources(&filter: SourceFilter) -> Page<Source, SourceId>;
        load_due_sources(
            source_type: Option<SourceType>, now: Timestamp, limit: usize
        ) -> Vec<Source>;
        load_stray_sources(overdue: Timestamp, limit: usize) -> Vec<SourceId>;
        write_sources(writes: Vec<SourceWrite>) -> Vec<Written>;
        remove_source(id: SourceId) -> bool;
        known_entries(id: SourceId, &asked: EntryQuestion) -> Vec<KnownEntry>;
        list_entries(&filter: EntryFilter) -> Page<Entry, i64>;
        load_entry(id: i64) -> Option<Entry>;
        load_unread_entries(id: SourceId, seen_from: Timestamp, limit: usize) -> Vec<UnreadEntry>;
        save_full_text(id: i64, content: Option<String>, now: Timestamp) -> ();
        index_entries(limit: usize) -> usize;
        count_sources(source_type: Option<SourceType>, now: Timestamp) -> SourceNumbers;
        load_fleet() -> Option<Fleet>;
        count_checks(checks: u64) -> ();
        set_price(seen: Option<i64>, price: f64, now: Timestamp) -> bool;
        prune_entries(
            retention: EntryRetention, after: SourceId, limit: usize
        ) -> PrunedEntries;
    }
    EditionStore {
        open_edition(id: EditionId, now: Timestamp) -> (Edition, bool);
        load_account(id: EditionId) -> Option<Account>;
        list_editions(&filter: EditionFilter) -> Vec<EditionLine>;
        write_edition(change: account::Change) -> EditionWritten;
        load_document(id: EditionId, revision: Option<u32>) -> Option<Document>;
        load_revisions(id: EditionId, limit: usize) -> Vec<RevisionLine>;
        load_shared(key: String, from: Timestamp) -> Option<String>;
        keep_shared(key: String, text: String, now: Timestamp) -> ();
        prune_shared(before: Timestamp, limit: usize) -> usize;
        reserve_spend(
            name: EditionName, on: Date, most: Usage, caps: Caps, now: Timestamp
        ) -> Option<Period>;
        settle_spend(
            name: EditionName, on: Date, reserved: Usage, actual: Usage, now: Timestamp
        ) -> ();
        load_spending(name: EditionName, month_of: Date) -> Spending;
        published_after(id: EditionId) -> Option<EditionId>;
        search_editions(
            name: EditionName, &text: str, before: Option<Date>, limit: usize
        ) -> Vec<EditionId>;
        prune_stories(before: Date, limit: usize) -> PrunedStories;
    }
    NewsletterStore {
        find_subscriber(edition: EditionName, &address: Address) -> Option<Subscriber>;
        load_subscriber(id: SubscriberId) -> Option<Subscriber>;
        write_subscriber(&subscriber: Subscriber, ask: bool) -> Option<SubscriberId>;
        add_subscribers(
            edition: EditionName, people: Vec<(Address, Option<String>)>, now: Timestamp
        ) -> Vec<subscriber::Added>;
        list_subscribers(&filter: SubscriberFilter) -> Page<Subscriber, SubscriberId>;
        count_subscribers() -> Vec<SubscriberCount>;
        remove_subscriber(id: SubscriberId) -> bool;
        create_mailing(&mailing: Mailing) -> bool;
        load_mailing(id: EditionId) -> Option<Mailing>;
        list_mailings(limit: usize) -> Vec<Mailing>;
        fill_mailing(id: EditionId, limit: usize, now: Timestamp) -> Option<Mailing>;
        note_mailing(&mailing: Mailing) -> ();
        load_due_mails(id: EditionId, now: Timestamp, limit: usize) -> Vec<Mail>;
        next_mail_at(id: EditionId) -> Option<Timestamp>;
        write_mail(&seen: Mail, &next: Mail) -> bool;
        count_mails(id: EditionId) -> MailCounts;
        load_mail(id: EditionId, to: SubscriberId) -> Option<Mail>;
        list_mails(&filter: MailFilter) -> Page<(Mail, Address), SubscriberId>;
        mails_to(to: SubscriberId, before: Option<Date>, limit: usize) -> Vec<Mail>;
    }
    NodeStore {
        save_node(&node: Node) -> ();
        load_nodes() -> Vec<Node>;
        forget_node(&session: str) -> ();
        save_troubles(&session: str, &troubles: [Trouble]) -> ();
        load_troubles() -> Vec<NodeTroubles>;
        save_clock(&mark: Mark) -> bool;
        load_clock() -> Option<Mark>;
    }
    TokenStore {
        save_token(&token: Token) -> ();
        load_token(&hash: str) -> Option<Token>;
        load_tokens() -> Vec<Token>;
        revoke_token(&name: str, now: Timestamp) -> bool;
        load_guarded_since() -> Option<Timestamp>;
    }
    SignInStore {
        save_user(&user: User) -> ();
        change_user(&user: User) -> bool;
        load_user(&name: str) -> Option<User>;
        load_users() -> Vec<User>;
        remove_user(&name: str) -> bool;
        save_session(&session: Session) -> ();
        load_session(&hash: str) -> Option<Session>;
        remove_session(&hash: str) -> ();
    }
    OverviewStore {
        search_tasks(&filter: TaskFilter) -> Vec<TaskLine>;
        find_subjects(&prefix: str, limit: usize) -> Vec<TaskLine>;
        count_found(&filter: TaskFilter) -> u64;
        count_statuses(among: usize, kinds: Kinds) -> Vec<StatusCount>;
        load_finished(from: Timestamp, until: Timestamp, limit: usize) -> Vec<TaskLine>;
        load_upcoming(from: Timestamp, until: Timestamp, limit: usize) -> Vec<TaskLine>;
        load_coming(from: Timestamp, until: Timestamp, limit: usize) -> Coming;
        load_running(limit: usize) -> Vec<TaskLine>;
        load_claims(limit: usize) -> Vec<ClaimLine>;
        load_slots_between(from: Timestamp, until: Timestamp, limit: usize) -> Vec<SlotLine>;
        load_activity(&filter: ActivityFilter) -> Vec<Activity>;
    }
    PermitStore {
        request_permits(&visitor: Visitor, &asks: [PermitRequest]) -> Vec<PermitGrant>;
        prune_permits(before: Timestamp, now: Timestamp) -> usize;
    }
    PaceStore {
        load_paused_kinds(now: Timestamp) -> Vec<PausedKind>;
        pause_kind(&paused: PausedKind) -> ();
        take_starts(&asks: [StartRequest], now: Timestamp) -> Vec<Starts>;
        prune_buckets(now: Timestamp) -> usize;
        resume_kind(&kind: Kind, now: Timestamp) -> bool;
    }
    CalendarStore {
        load_calendars() -> Vec<CalendarRecord>;
        load_calendar_versions() -> Vec<CalendarVersion>;
        write_calendar(&calendar: CalendarRecord, seen: Option<i64>) -> Applied;
        take_calendar_check(&name: str, seen: Option<Timestamp>, now: Timestamp) -> bool;
        note_calendar_applied(&name: str, version: i64) -> ();
        remove_calendar(&name: str, seen: i64) -> bool;
        load_schedules_naming(
            &calendar: str, after: Option<ScheduleName>, limit: usize
        ) -> Vec<ScheduleName>;
    }
    AlertStore {
        load_alerts(filter: AlertFilter) -> Vec<Alert>;
        write_alerts(alerts: Vec<Alert>) -> Vec<Applied>;
        claim_alerts(now: Timestamp, until: Timestamp, limit: usize) -> Vec<Alert>;
        prune_alerts(before: Timestamp, limit: usize) -> usize;
    }
    CourtesyStore {
        add_courtesy(days: Vec<HostDay>) -> ();
        load_courtesy_hosts(&query: CourtesyQuery) -> Vec<HostCounts>;
        load_courtesy_days(&query: CourtesyQuery) -> Vec<DayCounts>;
        prune_courtesy(before: Day) -> usize;
    }
    FiringStore {
        save_followed(&followed: Followed) -> ();
        load_followed(&firings: [TaskId]) -> Vec<Followed>;
        change_followed(firing: TaskId, &change: FollowedChange) -> bool;
        load_abandoned(limit: usize) -> Vec<Followed>;
        prune_followed(before: Timestamp, limit: usize) -> usize;
    }
    RunLogStore {
        append_run_logs(writes: Vec<LogWrite>) -> ();
        report_to_run_log(
            run: RunId, &text: [u8], bytes_max: u64, now: Timestamp
        ) -> bool;
        load_run_log(page: LogPage) -> Vec<LogPiece>;
        load_run_log_extents(task_id: TaskId) -> Vec<LogExtent>;
        prune_run_logs(before: Timestamp, limit: usize) -> usize;
    }
    InboxStore {
        take_inbox(decider: Arc<dyn InboxDecider>, limit: usize) -> InboxTaken;
        load_inbox(number: InboxNumber) -> Option<InboxEntry>;
        prune_inbox(before: Timestamp, limit: usize) -> usize;
    }
}
