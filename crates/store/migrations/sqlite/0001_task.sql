-- Tasks, their history, and the claims under which nodes run them.
--
-- Of all rows with one (subject, kind) exactly one is current: the newest, whatever its status.
-- Every decision about an identity is a compare-and-set on that row, so no change is ever lost.
create table task (
    id integer primary key autoincrement, -- never reused: receipts name rows by number
    subject text not null,
    kind text not null,
    status text not null,
    is_current integer not null,
    execute_at_us integer not null,
    due_at_us integer,                    -- execute_at_us while it waits, null otherwise
    priority integer not null,
    attempt integer not null,
    max_retry integer not null,
    term integer not null,
    revision integer not null,
    decisions integer not null,
    claim_id integer,
    replaces_task_id integer,
    created_at_us integer not null,
    created_execute_at_us integer not null,
    started_at_us integer,
    finished_at_us integer,
    origin text not null,
    node text,
    callback_url text,
    detail text,
    payload text not null
);
create unique index task_current on task (subject, kind) where is_current;
create index task_past on task (subject, kind) where not is_current;
-- The claim walks this index one (kind, priority) at a time, so a kind whose slots are all taken
-- is stepped over instead of being read through, and tasks not yet due are never touched.
create index task_due on task (kind, priority, due_at_us) where due_at_us is not null;

-- Decisions after a row's creation; the creation itself is told by the row.
create table decision (
    task_id integer not null,
    number integer not null,
    decided_at_us integer not null,
    origin text not null,
    rule text not null,
    old_execute_at_us integer,
    execute_at_us integer not null,
    revision integer not null,
    new_task_id integer,
    primary key (task_id, number)
) without rowid;

-- Attempts that the row no longer describes: all but the last.
create table attempt (
    task_id integer not null,
    term integer not null,
    attempt integer not null,
    due_at_us integer not null,
    started_at_us integer not null,
    finished_at_us integer,
    outcome text not null,
    late_outcome text,
    detail text,
    node text,
    primary key (task_id, term)
) without rowid;

-- One row per claim, not per task: a heartbeat extends a handful of rows however much is running,
-- and finishing a task touches no index.
create table claim (
    id integer primary key,
    session text not null,
    node text not null,
    lease_until_us integer not null,
    task_ids text not null                -- JSON array
);

-- Idempotency keys, written in the transaction that has the effect.
create table once (
    key text primary key,
    digest text not null,
    receipts text not null,
    used_at_us integer not null
) without rowid;
-- Old keys are found by their age.
create index once_used_at on once (used_at_us);
