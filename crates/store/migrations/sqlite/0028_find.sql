-- Tags, by which tasks are found, and bulk changes.
-- expand
--
-- A task's tags are its own column; the table beside it is their index. A task without tags has no
-- row there, and none is looked for when it goes.
alter table task add column tags text;    -- separated by blanks
create table task_tag (
    tag text not null,
    task_id integer not null,
    primary key (tag, task_id)
) without rowid;
create table bulk (
    bulk_id integer primary key autoincrement,
    step integer not null,                 -- how many steps were written; part of the compare-and-set
    through_task_id integer not null,      -- the newest row it looks at
    before_task_id integer not null,       -- the walk continues below this row
    matched integer not null,
    changed integer not null,
    created_at_us integer not null,
    ended_at_us integer,
    state text not null,
    requested_by text not null,
    cancelled_by text,
    request text not null,                -- what is done to which tasks
    skipped text not null                 -- how many were left as they are, by reason
);
