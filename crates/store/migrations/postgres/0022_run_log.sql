-- What attempts of firings printed or reported, in pieces that only ever follow each other.
-- expand
create table run_log (
    task_id bigint not null,              -- the firing
    term bigint not null,                 -- the claim that the attempt ran under
    at_byte bigint not null,              -- where the piece begins in all that was printed
    bytes bigint not null,                -- how much was printed, before it was packed
    written_at_us bigint not null,
    packed bytea not null,                -- deflate
    primary key (task_id, term, at_byte)
);
-- Packed already: the database need not try again.
alter table run_log alter column packed set storage external;
-- Old pieces are found by their age.
create index run_log_written_at on run_log (written_at_us);
