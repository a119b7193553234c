-- Monitors: what was last heard of jobs that others run, and the pings that said so. A monitor is a
-- schedule; its row here is written in the same transaction as the schedule's, under its version.
-- expand
create table monitor (
    schedule_id integer primary key,
    down_since_us bigint,                 -- null while it is not down
    ping_hash text unique,              -- hash of the secret that pings are sent under
    badge text unique,                  -- what its badge is shown under, for everybody
    facts text not null                   -- JSON: last ping, run under way, why it is down
);
create index monitor_down on monitor (down_since_us, schedule_id) where down_since_us is not null;

-- The newest pings of each; older ones go when one is written.
create table ping (
    schedule_id integer not null,
    number bigint not null,               -- from 1
    at_us bigint not null,
    took_us bigint,
    exit_status integer,
    kind text not null,                   -- success, start, fail, log
    method text not null,
    rid text,
    body text,
    primary key (schedule_id, number)
);
