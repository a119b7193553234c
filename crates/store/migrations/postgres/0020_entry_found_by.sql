-- Entries found again by their link when their id has changed.
-- expand
-- concurrently
create index entry_link on entry (link_hash, source_id, id);
-- Sources found by the site that a publisher pings about.
create index source_site on source ((options::json ->> 'site')) where (options::json ->> 'site') is not null;
