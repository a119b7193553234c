-- People who sign in, and what their pages look things up by.
create table user_account (
    name text primary key,                -- what the history shows as the asker
    password text not null,               -- a salted, slow hash; the password itself is never kept
    scope text not null,
    created_at_us integer not null,
    changed_at_us integer not null        -- of the password; sessions from before it are over
) without rowid;

-- A browser in which somebody signed in, by a token or by a password.
create table session (
    hash text primary key,                -- SHA-256 of the cookie, which is never kept
    holder_kind text not null,            -- token, user
    holder text not null,                 -- the token's hash, the user's name
    created_at_us integer not null,
    expires_at_us integer not null
) without rowid;
-- Ended ones are found by their age, and those of a user who is removed by their name.
create index session_expires_at on session (expires_at_us);
create index session_holder on session (holder) where holder_kind = 'user';

-- Which tasks the claims had that are over: what ended lately is found through them. One row per claim, written when
-- it is forgotten. An index on the time of ending would be written for each task that ends, and would take from
-- PostgreSQL what makes ending cheap (see fillfactor of task): it was measured to do a fifth more work.
create table past_claim (
    claim_id integer primary key,
    lease_until_us integer not null,      -- by then its tasks had ended
    task_ids text not null                -- JSON array
);
create index past_claim_lease_until on past_claim (lease_until_us);
-- What was decided lately.
create index decision_decided_at on decision (decided_at_us);
create index schedule_edit_at on schedule_edit (at_us);
-- Of rows that stand for several slots, those that reach beyond a window; the others are found by slot_last_at.
create index slot_several on slot (last_at_us) where slots > 1;
