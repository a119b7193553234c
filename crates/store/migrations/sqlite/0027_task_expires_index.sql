-- Waiting tasks by their expiry, so that those of kinds that nobody claims are ended, too. Tasks
-- that do not expire are not in it.
-- expand
-- concurrently
create index task_expires on task (expires_at_us) where expires_at_us is not null and due_at_us is not null;
