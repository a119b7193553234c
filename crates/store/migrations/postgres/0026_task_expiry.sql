-- Tasks that expire: an instant from which on they are not tried any more, and how long after its
-- time that is, where it moves with the time. How a task's callback is made, where the task says so.
-- expand
alter table task add column expires_at_us bigint;     -- null: never
alter table task add column expires_after_s integer;  -- null: an instant, or never
alter table task add column call_options text;        -- JSON: method, timeout, headers; null: as configured
