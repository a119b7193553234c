-- Entries found again by their link when their id has changed.
-- expand
-- concurrently
create index entry_link on entry (link_hash, source_id);
