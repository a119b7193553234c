-- Lanes that all nodes share: by how many at once, and how often, a host is asked or a kind is tried. One row each, and whoever
-- enters changes that row alone, so that every decision is made on its newest state. Rows are rewritten all the time and found by their
-- name only; no other index and room on every page keep that cheap.
-- expand
create table lane (
    name text primary key,                -- host:example.org, kind:ARTICLE_PUBLISH
    free_at_us bigint not null,           -- when the pace lets the next one in
    held_until_us bigint not null,        -- before when the other side wants nobody
    asked_at_us bigint not null,          -- when somebody last asked; lanes nobody asks about are forgotten
    at_once bigint not null,              -- the limits by which the last one asked
    gap_us bigint not null,
    visitors text not null                -- {"session": [places, lease until, granted last]}
) with (fillfactor = 50);
