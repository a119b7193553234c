-- Schedules, the ledger of their slots, and what people did to them.
--
-- Every slot before next_at_us is in the ledger, none from there on is. Whoever moves next_at_us
-- raises version in the same transaction that writes the ledger rows and the firings, and only if
-- version is still the one that was read: of two nodes that plan one slot, one writes it.
create table schedule (
    schedule_id integer primary key autoincrement, -- never reused: the ledger names it by number
    name text not null unique,            -- removed ones keep theirs: it leads to their history
    origin text not null,
    definition text not null,             -- JSON
    revision integer not null,            -- counts what people changed
    version integer not null,             -- counts every write
    state text not null,                  -- active, paused, parked, removed
    state_since_us integer,
    state_until_us integer,
    state_note text,                      -- of a parked one: why
    state_by text,
    next_at_us integer,
    waits_since_us integer,
    look_at_us integer,                   -- null when nobody need look
    last_subject text,
    created_at_us integer not null,
    changed_at_us integer not null
);
-- A pass reads what is due and one more; schedules that rest are not even in here.
create index schedule_look_at on schedule (look_at_us) where look_at_us is not null;

-- One row per fired slot; skipped ones that follow each other for one reason share a row.
create table slot (
    schedule_id integer not null,
    slot_at_us integer not null,          -- the slot, or the first of several
    last_at_us integer not null,          -- the last of several, otherwise the same
    slots integer not null,
    verdict text not null,
    detail text,
    revision integer not null,
    decided_at_us integer not null,
    primary key (schedule_id, slot_at_us)
) without rowid;
-- Old rows are found by their age.
create index slot_last_at on slot (last_at_us);

-- Keyed by the version that made it: a pause that ended by itself and a schedule that was parked
-- are told here too, and need not be a revision of what people wrote.
create table schedule_edit (
    schedule_id integer not null,
    version integer not null,
    revision integer not null,
    edited text not null,
    by_whom text not null,
    note text,
    definition text not null,
    at_us integer not null,
    primary key (schedule_id, version)
) without rowid;
