-- The inbox (WK-03): requests that services wrote in their own transactions. SQLite has no functions
-- that others could call, so nothing writes here; the table is there to be moved from and to
-- PostgreSQL with its answers.
-- expand
create table inbox (
    number integer primary key autoincrement,
    nth integer not null,                 -- of this identity, from 1, without gaps while one waits
    asked_at_us integer not null,         -- by the database's clock
    answered_at_us integer,
    version integer not null,             -- of the functions
    verb text not null,                   -- put, cancel
    kind text not null,
    subject text not null,
    role text not null,                   -- who called the function
    request text not null,                -- JSON: the fields of an event's data
    answer text                           -- JSON: the receipt, or why it was refused
);
create unique index inbox_identity on inbox (kind, subject, nth);
create index inbox_waiting on inbox (number) where answered_at_us is null;
create index inbox_answered on inbox (answered_at_us) where answered_at_us is not null;
