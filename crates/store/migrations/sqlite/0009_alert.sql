-- What a person should hear about: at most one row for a rule and what it is about. A row that is over is written anew when
-- the same is wrong again. Few rows: a thousand open ones at most, and those that closed lately.
-- expand
create table alert (
    rule text not null,
    about text not null,                  -- schedule:nightly, kind:…, source:17, delivery:DATE/NAME, node:…, fleet
    severity text not null,               -- warning, critical
    detail text not null,                 -- the facts when it was found
    opened_at_us integer not null,
    calm_since_us integer,                -- nothing found wrong since then; it may come back
    closed_at_us integer,
    returns integer not null,             -- how often it came back
    open_told_at_us integer,
    close_told_at_us integer,
    tell_at_us integer,                   -- when what is untold may be told; whoever moves it ahead tells
    taken_by text not null,               -- JSON array: the channels that took what others have not
    version integer not null,             -- the compare-and-set
    primary key (rule, about)
) without rowid;
-- What lasts, what waits to be told, and what closed lately.
create index alert_open on alert (opened_at_us) where closed_at_us is null;
create index alert_untold on alert (tell_at_us) where tell_at_us is not null;
create index alert_closed_at on alert (closed_at_us) where closed_at_us is not null;
