-- How many of a task's attempts lost their nodes: these use up no retry, and have a bound of their own.
-- expand
alter table task add column expiries integer not null default 0;
