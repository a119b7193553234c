-- Since when access is guarded, where no row of a token or a user says so any more: tokens are kept for good, users are not.
-- expand
create table access_guard (
    id integer primary key check (id = 1), -- one row at most
    since_us integer not null
) without rowid;
