-- A finished edition that waits for a person, what people corrected, and who took it back: data of an
-- edition, not states, so that older nodes read it as the edition that it is. They would send what
-- is held: stop them before `edition.approve` is turned on. Who made a document, and of what.
-- expand
alter table edition add column retraction text;        -- JSON: who, when, the note to readers; null: not retracted
alter table edition add column corrections text;       -- JSON: what people changed, in order; null: nothing
alter table edition_document add column revised text;  -- JSON: author and change; null: built from its stories
