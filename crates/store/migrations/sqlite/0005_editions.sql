-- Editions and everything that belongs to them.
--
-- An edition's row is the lock of all its rows: whoever writes any of them first takes it by its version and
-- raises that, in the same transaction. Counts are not kept anywhere: they are counted.
create table edition (
    edition_on text not null primary key, -- YYYY-MM-DD, in the edition's own zone
    version integer not null,             -- counts every write to any of its rows
    state text not null,                  -- init, list_fetched, processing, aggregating, published, empty, archived
    archived_from text,
    revision integer not null,            -- that of the newest document; 0 before the first
    list_requests integer not null,
    fetching_until_us integer,
    started_at_us integer not null,
    reopened_at_us integer,
    published_at_us integer,
    created_at_us integer not null,
    updated_at_us integer not null,
    story_source text,
    reason text
) without rowid;
-- Most editions are archived and nothing is to be done about them: who looks for the others reads only those.
create index edition_live on edition (edition_on) where state <> 'archived';

-- What an edition is made of. A story is in it once, at a place that it keeps.
create table story (
    edition_on text not null,
    story_key text not null check (octet_length(story_key) <= 500),
    rank integer not null,
    status text not null,                 -- pending, processing, completed, failed
    batch_index integer,                  -- the batch that works on it or worked on it last
    retry_count integer not null,
    retry_at_us integer,
    updated_at_us integer not null,
    score integer,
    published_at_us integer,
    url text not null,
    discussion_url text,
    title text not null,                  -- as it was listed
    text text,                            -- as it was listed
    written_title text,                   -- in the edition's language
    content_summary text,
    comment_summary text,
    note text,                            -- title_only, not_summarised
    error_message text,
    primary key (edition_on, story_key),
    unique (edition_on, rank)
);

-- The bites an edition was built in, and what each one spent.
create table batch (
    edition_on text not null,
    batch_index integer not null,
    status text not null,                 -- running, success, partial, failed
    story_count integer not null,
    requests integer not null,
    model_requests integer not null,
    tokens_in integer not null,
    tokens_out integer not null,
    started_at_us integer not null,
    lease_until_us integer not null,
    ended_at_us integer,
    node text not null,
    error_message text,
    primary key (edition_on, batch_index)
) without rowid;

-- The ledger of what leaves: written before it does.
create table delivery (
    edition_on text not null,
    revision integer not null,            -- of which document
    destination text not null check (octet_length(destination) <= 500),
    part integer not null,
    state text not null,                  -- intended, sent, confirmed, unknown, failed, skipped
    attempts integer not null,
    requests integer not null,
    lease_until_us integer,
    retry_at_us integer,
    updated_at_us integer not null,
    detail text,
    receipt text,
    body text,                            -- null where it is the document itself
    primary key (edition_on, revision, destination, part)
);

-- What was printed, with everything it was printed from. Never changed, and kept when the stories are gone.
create table edition_document (
    edition_on text not null,
    revision integer not null,
    made_at_us integer not null,
    inputs_digest text not null,
    body_digest text not null,
    inputs text not null,                 -- JSON
    template text not null,
    body text not null,
    primary key (edition_on, revision)
);

-- What people should hear about an edition; one per rule.
create table edition_alert (
    edition_on text not null,
    rule text not null check (octet_length(rule) <= 512),
    opened_at_us integer not null,
    closed_at_us integer,
    open_told_at_us integer,
    close_told_at_us integer,
    detail text not null,
    primary key (edition_on, rule)
) without rowid;
-- Few alerts wait for somebody to hear of them, and every tick looks for those of earlier days.
create index edition_alert_untold on edition_alert (edition_on)
    where open_told_at_us is null or (closed_at_us is not null and close_told_at_us is null);
