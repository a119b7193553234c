-- What attempts of firings printed or reported, in pieces that only ever follow each other.
-- expand
create table run_log (
    task_id integer not null,             -- the firing
    term integer not null,                -- the claim that the attempt ran under
    at_byte integer not null,             -- where the piece begins in all that was printed
    bytes integer not null,               -- how much was printed, before it was packed
    written_at_us integer not null,
    packed blob not null,                 -- deflate
    primary key (task_id, term, at_byte)
);
-- Old pieces are found by their age.
create index run_log_written_at on run_log (written_at_us);
