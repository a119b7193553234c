-- Firings that had not ended when the newest one was written, as a JSON array of subjects: whether the next
-- slot may fire depends on all of them. Null where there is none, which is nearly everywhere.
alter table schedule add column beside text;
