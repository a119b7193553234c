-- What opens an edition, as a model wrote it; empty if it could not, null before it was asked.
-- expand
alter table edition add column overview text;
-- What is shown with a story and never asked for by itself: comment_count, comment_note, image_url and
-- reading_minutes, as JSON; null where none of them is known.
alter table story add column details text;
