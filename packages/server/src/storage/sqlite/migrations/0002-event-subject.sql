-- From a subject to its events: for its history, and for everything that must reach all events of one subject.
-- The place stands at the end of every entry by itself, so a history is one run through this index.
CREATE INDEX event_subject ON event (feed_no, subject);
