-- When the file of an artifact was removed: marked once it is gone.
alter table artifact add column gone text;
