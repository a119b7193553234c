-- Deadlines, the ladder and the quality gate of editions (ED-38, ED-39).
-- expand
alter table edition add column hold text;             -- JSON: why it waits, since when, what was decided
alter table edition add column due_at_us integer;     -- when readers expect it
alter table edition add column ready_at_us integer;   -- when readers first had it
alter table edition add column improving_at_us integer; -- since when it is improved by itself
alter table story add column degraded_by text;        -- time, model, page
-- What was published before has been ready since then.
update edition set ready_at_us = published_at_us where published_at_us is not null;
