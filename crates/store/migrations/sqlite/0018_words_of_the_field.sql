-- The words of the field for what is stored, and one time for a source where there were two. Older versions know none of
-- these names: stop their nodes first.
-- contract from 0018
alter table alert rename column calm_since_us to cool_down_since_us;
alter table alert rename column open_told_at_us to open_notified_at_us;
alter table alert rename column close_told_at_us to close_notified_at_us;
alter table alert rename column tell_at_us to notify_at_us;
drop index alert_untold;
create index alert_unnotified on alert (notify_at_us) where notify_at_us is not null;
alter table lane rename to shared_limit;
alter table source drop column next_due_at_us;
update task set kind = 'EVENT_DELIVERY' where kind = 'HAPPENING';
