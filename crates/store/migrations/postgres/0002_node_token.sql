-- Who is running, and who may ask.
create table node (
    session text primary key,             -- one run of a node; the name may come back, a run does not
    name text not null,
    version text not null,
    started_at_us bigint not null,
    seen_at_us bigint not null,
    skew_us bigint not null
);

create table token (
    name text primary key,
    hash text not null unique,            -- SHA-256; the token itself is shown once and never kept
    scope text not null,
    created_at_us bigint not null,
    expires_at_us bigint,
    revoked_at_us bigint
);
