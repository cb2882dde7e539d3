-- From a subject to its events: for its history, and for everything that must reach all events of one subject.
CREATE INDEX event_subject ON event (tenant, feed, subject, position) WHERE sequence > 0;
