-- Firings end when their work ends (DP-19): what a firing handed over, since when, until when it is
-- followed, what was reported, and how it ended. A firing without a row has nothing to follow.
-- expand
create table firing (
    task_id bigint primary key,                                        -- the firing's task, of kind DISPATCH
    work text not null,                                                -- JSON: a task, a run, a report to come
    handed_over_at_us bigint not null,
    follow_until_us bigint not null,
    started_at_us bigint,                                              -- when the work began, once that was seen
    heard_at_us bigint,                                                -- when the last report came
    note text,                                                         -- what it said
    ended text,                                                        -- done, failed, cancelled; null while it works
    detail text,
    ended_at_us bigint
);
-- What is open is looked through now and then; what ended long ago is deleted.
create index firing_open on firing (task_id) where ended_at_us is null;
create index firing_ended on firing (ended_at_us) where ended_at_us is not null;
