-- What a node says is wrong with itself, beside its heartbeat: a bus that is away, a disk that fills, a backup that fails.
-- One row per run at most, and none of most of them.
-- expand
create table node_trouble (
    session text primary key,
    troubles text not null                -- JSON array: the rule, since when, the facts
) without rowid;
