-- Sources that are repaired in place and lose no word: options of a source, fingerprints of what it
-- shows, what was noticed about its publisher; revisions, files and categories of entries.
-- expand
alter table source add column options text not null default '{}';     -- JSON; no secrets, only references
alter table source add column prints bytea not null default ''; -- fingerprints of what is shown, 4 bytes each
alter table source add column publisher text not null default '{}';   -- JSON: clock, ids, hub
alter table entry add column link_hash bigint;                         -- of the link without its scheme
alter table entry add column enclosures text;                          -- JSON; null for none
alter table entry add column categories text;                          -- JSON; null for none
alter table entry add column revision bigint not null default 1;
alter table entry add column updated_at_us bigint;
alter table entry add column words text;                               -- what a search finds it by
alter table entry add column full_text_at_us bigint;                   -- when its whole text was read, or could not be

-- What was asked of a host in a day, for the courtesy report.
create table source_host (
    day bigint not null,                                               -- days since 1970, UTC
    host text collate "C" not null,
    requests bigint not null,
    bytes bigint not null,
    unchanged bigint not null,                                         -- answered 304
    limited bigint not null,                                           -- answered 429 or 503
    failed bigint not null,
    waited bigint not null,                                            -- checks that were deferred
    asked bigint not null,                                             -- checks that a publisher had asked to put off
    kept bigint not null,                                              -- of these, no earlier than asked
    cache_s bigint not null,                                           -- the longest waits asked for; 0 for none
    interval_s bigint not null,
    skips bigint not null,
    retry_after_s bigint not null,
    primary key (day, host)
);
