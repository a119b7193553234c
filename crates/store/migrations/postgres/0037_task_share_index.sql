-- Waiting tasks of shared kinds by their keys, so that a claim jumps from one key to the next. Other
-- tasks are not in it.
-- expand
-- concurrently
create index task_share on task (kind, priority, share_key, due_at_us) where share_key is not null and due_at_us is not null;
