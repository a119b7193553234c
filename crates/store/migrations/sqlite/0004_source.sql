-- Sources, what they published, and what a look at one of them may cost.
--
-- A source's row is all that a look changes when it brings nothing new: what was learned, the last looks
-- and what the document showed stand in it, so that a quiet look writes one row. Whoever writes it raises
-- version, and only if version is still the one that was read; entries are written only by who got the row.
create table source (
    source_id integer primary key autoincrement, -- never reused: its task names it by number
    version integer not null,             -- counts every write
    source_type text not null,            -- rss, custom
    state text not null,                  -- active, paused, ended
    cadence text,
    attention text,
    due_at_us integer,                    -- the later of next_due_at_us and backoff_until_us; null while not active
    next_due_at_us integer,
    backoff_until_us integer,
    check_count integer not null,
    hit_count integer not null,
    fail_count integer not null,
    last_check_at_us integer,
    last_article_at_us integer,
    pruned_before_us integer,
    state_since_us integer,
    created_at_us integer not null,
    updated_at_us integer not null,
    avg_publish_hour real,
    std_publish_hour real,
    frequency_type text,
    last_error_class text,
    address text not null unique check (octet_length(address) <= 2000),
    name text not null,
    category text not null,
    reading text not null,                -- JSON
    policy text,
    cadence_by_hand text,
    state_note text,                      -- of an ended one: why
    last_error text,
    reason text,
    etag text,
    last_modified text,
    hints text,                           -- JSON; null when the publisher wishes nothing
    moving_to text,
    moving_times integer not null,
    shown blob not null,                  -- hashes of keys, 8 bytes each
    recent blob not null,                 -- the last looks
    learned blob not null                 -- the policy's own
);
-- What is due is read in order and nothing else is touched; sources that rest are not even in here. These
-- two are all that changes with every look.
create index source_due on source (due_at_us) where due_at_us is not null;
create index source_type_due on source (source_type, due_at_us) where due_at_us is not null;
-- Pages go by number within what they are narrowed to.
create index source_cadence on source (cadence);
create index source_type on source (source_type);
create index source_attention on source (source_id) where attention is not null;
create index source_resting on source (source_id) where state <> 'active';

create table entry (
    id integer primary key autoincrement, -- never reused: pages go by it
    source_id integer not null,
    seen_at_us integer not null,
    published_at_us integer,
    key text not null check (octet_length(key) <= 500),
    link text,
    title text not null,
    author text,
    summary text,
    content text
);
-- A source has an entry once, however often it shows it.
create unique index entry_key on entry (source_id, key);
create index entry_newest on entry (source_id); -- and the row's number, as in every index here
create index entry_seen_at on entry (seen_at_us);

-- One row: what a check is worth, and how many were made since that was last decided.
create table source_fleet (
    fleet_id integer primary key check (fleet_id = 1),
    version integer not null,
    counted_from_us integer not null,
    checks integer not null,
    price real not null
);
