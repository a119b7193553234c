-- What editions read and had written, by what it depends on: an edition that needs the same does not
-- fetch or pay for it again. Any row may be deleted at any time; then it is fetched once more.
-- expand
create table shared_text (
    text_key text collate "C" not null primary key check (octet_length(text_key) <= 500),
    kept_at_us bigint not null,
    body text not null
);
create index shared_text_kept on shared_text (kept_at_us);
