-- What the models of an edition cost, by its name, in a day (`2026-01-31`) and in a month (`2026-01`) of
-- its zone. A month's row is the lock of its days: whoever counts takes it first, so that several
-- nodes together stay within a cap. It grows by a row a day, and is never deleted: it is the bill.
-- expand
create table model_spend (
    edition_name text collate "C" not null check (octet_length(edition_name) <= 500),
    period text collate "C" not null,
    requests bigint not null,
    tokens_in bigint not null,
    tokens_out bigint not null,
    cost_micros bigint not null,
    updated_at_us bigint not null,
    primary key (edition_name, period)
);
