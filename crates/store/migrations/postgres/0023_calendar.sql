-- Calendars, and how many of its runs a schedule has used up.
-- expand
create table calendar (
    name text primary key,
    origin text not null,
    definition text not null,             -- JSON
    copy text,                            -- JSON: what its address last answered
    reading text not null,                -- JSON: how reading its address went
    checked_at_us bigint,                -- who may read its address next is decided by this
    version bigint not null,             -- counts changes of its days
    applied bigint not null,             -- the version that all its schedules are planned by
    created_at_us bigint not null,
    changed_at_us bigint not null
);

alter table schedule add column runs bigint not null default 0;
