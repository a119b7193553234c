-- The key by which tasks of a kind take turns (`share_by`), as it was when the payload was written.
-- expand
alter table task add column share_key text;    -- null: not of a shared kind; empty: without a key
