-- What time it was when a node was last sure of it, beside the machine's uptime: a clock that was set since, or a machine that starts with
-- a wrong one, is noticed by it. One row; only written where the database has no clock of its own.
-- expand
create table clock (
    name text primary key,          -- machine
    at_us integer not null,            -- the time
    uptime_us integer not null,        -- how long the machine had been up
    boot text not null,             -- which start of the machine
    revision integer not null          -- counts what people accepted
) without rowid;
