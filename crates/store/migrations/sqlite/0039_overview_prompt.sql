-- The version of the prompt that an edition's overview was written by; null where no model wrote one.
-- expand
alter table edition add column overview_prompt text;
