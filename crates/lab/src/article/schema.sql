-- The article service's database. Safe to run on every start.
-- `synchronous = full`: an acknowledged change survives a power cut, not only a crash.
pragma journal_mode = wal;
pragma synchronous = full;
pragma foreign_keys = on;
create table if not exists article (
    article_id      integer primary key autoincrement,
    title           text    not null,
    body            text    not null,
    state           text    not null check (state in ('DRAFT', 'PENDING_AUDIT', 'AUTO_AUDIT_FAILED',
                            'MANUAL_AUDIT_FAILED', 'AUDIT_SUCCESS', 'PUBLISHED')),
    publish_at_us   integer not null,
    revision        integer not null check (revision >= 1),
    withdrawn_at_us integer,
    published_at_us integer,
    created_at_us   integer not null,
    publish_calls   integer not null default 0,
    -- The database itself refuses a second effect.
    publish_effects integer not null default 0 check (publish_effects in (0, 1)),
    check ((state = 'PUBLISHED') = (publish_effects = 1)),
    check (state <> 'PUBLISHED' or withdrawn_at_us is null)
) strict;
create table if not exists outbox (
    outbox_id     integer primary key autoincrement,
    event_id      text    not null unique,
    article_id    integer not null references article,
    event         text    not null,
    status        text    not null default 'WAITING'
                  check (status in ('WAITING', 'SENT', 'REJECTED')),
    reason        text,
    written_at_us integer not null,
    settled_at_us integer
) strict;
create index if not exists outbox_waiting on outbox (outbox_id) where status = 'WAITING';
