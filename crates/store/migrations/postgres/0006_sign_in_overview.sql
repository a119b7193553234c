-- People who sign in, and what their pages look things up by.
create table user_account (
    created_at_us bigint not null,
    changed_at_us bigint not null,        -- of the password; sessions from before it are over
    name text collate "C" primary key,    -- what the history shows as the asker
    password text not null,               -- a salted, slow hash; the password itself is never kept
    scope text not null
);

-- A browser in which somebody signed in, by a token or by a password.
create table session (
    created_at_us bigint not null,
    expires_at_us bigint not null,
    hash text collate "C" primary key,    -- SHA-256 of the cookie, which is never kept
    holder_kind text not null,            -- token, user
    holder text collate "C" not null      -- the token's hash, the user's name
);
-- Ended ones are found by their age, and those of a user who is removed by their name.
create index session_expires_at on session (expires_at_us);
create index session_holder on session (holder) where holder_kind = 'user';

-- What ended lately. Ends come in the order of time, so this index grows at one side only.
create index task_finished on task (finished_at_us, id) where finished_at_us is not null;
-- What was decided lately.
create index decision_decided_at on decision (decided_at_us);
create index schedule_edit_at on schedule_edit (at_us);
-- Of rows that stand for several slots, those that reach beyond a window; the others are found by slot_last_at.
create index slot_several on slot (last_at_us) where slots > 1;
