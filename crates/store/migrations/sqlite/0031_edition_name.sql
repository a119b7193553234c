-- Editions have names. What identifies one stays in `edition_on`: the day of the default edition, as
-- before, and NAME@DAY of any other. So what is there is the default edition's, every key holds, and
-- nodes that know nothing of names work on. These indexes are for lists over all names: by day, the
-- last ten characters.
-- expand
-- concurrently
create index edition_day on edition (substr(edition_on, length(edition_on) - 9) desc, edition_on);
create index edition_live_day on edition (substr(edition_on, length(edition_on) - 9) desc, edition_on) where state <> 'archived';
