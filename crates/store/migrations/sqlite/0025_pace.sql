-- Kinds that are paused, and how fast kinds have been started.
-- expand
create table kind_pause (
    kind text primary key,
    since_us integer not null,
    until_us integer,                     -- null: until it is resumed
    note text,
    paused_by text not null
) without rowid;

-- One bucket of starts per kind with a rate, and per key of one with `rate_by`. A full one is the
-- same as none.
create table pace_bucket (
    name text primary key,                -- KIND, or KIND and a key
    full_at_us integer not null,          -- when it is full again
    booked_until_us integer not null      -- until when tasks were put off that wait for a start
) without rowid;
