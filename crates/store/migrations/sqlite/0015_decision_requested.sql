-- What was asked for by who was told that nothing changes, so that a history answers which change was dropped; and how often.
-- Of redeliveries of one event one row is kept, with a count.
-- expand
alter table decision add column requested text;                 -- put, cancel; null where the change itself tells
alter table decision add column requested_execute_at_us integer; -- null for a withdrawal
alter table decision add column requested_revision integer;      -- null for a request without a number
alter table decision add column times integer not null default 1;
alter table decision add column last_at_us integer;              -- of the last of several
