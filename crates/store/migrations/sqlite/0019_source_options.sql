-- Sources that are repaired in place and lose no word: options of a source, fingerprints of what it
-- shows, what was noticed about its publisher; revisions, files and categories of entries.
-- expand
alter table source add column options text not null default '{}';     -- JSON; no secrets, only references
alter table source add column prints blob not null default x''   ; -- fingerprints of what is shown, 4 bytes each
alter table source add column publisher text not null default '{}';   -- JSON: clock, ids, hub
alter table entry add column link_hash bigint;                         -- of the link without its scheme
alter table entry add column enclosures text;                          -- JSON; null for none
alter table entry add column categories text;                          -- JSON; null for none
alter table entry add column revision integer not null default 1;
alter table entry add column updated_at_us bigint;
alter table entry add column words text;                               -- what a search finds it by
alter table entry add column full_text_at_us bigint;                   -- when its whole text was read, or could not be

-- What was asked of a host in a day, for the courtesy report.
create table source_host (
    day bigint not null,                                               -- days since 1970, UTC
    host text not null,
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

-- What searches look in: tokens of `entry.words` by entry, without a copy of them. Triggers keep it,
-- so that whatever writes or deletes an entry (a check, retention, a move from another database)
-- also writes here, in the same transaction. Order and absence are checked on `words` itself, so no
-- positions are kept. PostgreSQL has an index instead (0020).
create virtual table entry_search using fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
create trigger entry_search_added after insert on entry when new.words is not null begin
    insert into entry_search (rowid, words) values (new.id, new.words);
end;
create trigger entry_search_removed after delete on entry when old.words is not null begin
    delete from entry_search where rowid = old.id;
end;
create trigger entry_search_changed after update of words on entry
when new.words is not old.words begin
    delete from entry_search where rowid = old.id and old.words is not null;
    insert into entry_search (rowid, words) select new.id, new.words where new.words is not null;
end;
