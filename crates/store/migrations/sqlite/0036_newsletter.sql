-- Newsletters (ED-43): who gets an edition by mail, and what became of each message.
-- expand
create table subscriber (
    subscriber_id integer primary key autoincrement,  -- never used twice: links name it
    version integer not null,             -- counts every write; part of the compare-and-set
    bounces integer not null,             -- refusals since the last accepted mail
    asks integer not null,                -- confirmation mails since the last confirmation
    asked_at_us integer,
    created_at_us integer not null,
    confirmed_at_us integer,
    ended_at_us integer,                  -- unsubscribed or bounced
    edition text not null,
    address text not null check (octet_length(address) <= 254),
    state text not null,                  -- pending, confirmed, unsubscribed, bounced
    language text
);
create unique index subscriber_address on subscriber (edition, address);
-- A mailing and the counts by state read only what they are about.
create index subscriber_state on subscriber (edition, state, subscriber_id);

-- One edition on its way to its subscribers; there is one mailing per edition at most.
create table mailing (
    edition text not null,
    edition_on text not null,             -- YYYY-MM-DD
    revision integer not null,            -- of the document that is sent
    filled_through integer not null,      -- subscribers up to this one have their rows
    is_filled integer not null,           -- 1: all have
    failures integer not null,            -- of the mail server, in a row
    created_at_us integer not null,
    ended_at_us integer,
    state text not null,                  -- running, done, held
    error text,
    primary key (edition, edition_on)
) without rowid;
create index mailing_day on mailing (edition_on);

-- The ledger: one row per subscriber, written before the message leaves.
create table mail (
    edition text not null,
    edition_on text not null,
    subscriber_id integer not null,
    attempts integer not null,            -- only grows, and so fences
    lease_until_us integer,
    retry_at_us integer,
    updated_at_us integer not null,
    state text not null,                  -- intended, sent, confirmed, unknown, failed, skipped
    detail text,
    primary key (edition, edition_on, subscriber_id)
) without rowid;
-- Most rows are settled; each step looks for the others.
create index mail_open on mail (edition, edition_on, subscriber_id)
    where state in ('intended', 'sent', 'unknown', 'failed');
create index mail_subscriber on mail (subscriber_id);
