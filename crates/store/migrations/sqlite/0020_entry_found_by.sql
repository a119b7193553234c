-- Entries found again by their link when their id has changed; entries without words, until all
-- have some; what searches look in, where no table of its own does that (0019).
-- expand
-- concurrently
create index entry_link on entry (link_hash, source_id, id);
create index entry_wordless on entry (id) where words is null;
-- Sources found by the site that a publisher pings about.
create index source_site on source (json_extract(options, '$.site')) where json_extract(options, '$.site') is not null;
