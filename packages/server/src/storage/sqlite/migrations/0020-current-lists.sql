-- How a key reads where that is not as usual (D12, PROTOCOL §3.5). Given when the key is made, and never changed.
ALTER TABLE key ADD COLUMN event_types TEXT; -- whose numbers event types have: 'default', 'published-0'; NULL: the store's
ALTER TABLE key ADD COLUMN current_only INTEGER NOT NULL DEFAULT 0; -- 1: its lists show current events

-- As of which event of a feed a key lists current events. Removed after 10 minutes.
CREATE TABLE moment (
  key_id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  feed TEXT NOT NULL,
  view TEXT NOT NULL,
  epoch TEXT NOT NULL,
  position INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  fixed_ms INTEGER NOT NULL,       -- milliseconds since 1970
  used_ms INTEGER NOT NULL,        -- when a page was asked for; 0: the last one was
  PRIMARY KEY (key_id, tenant, feed, view)
) STRICT, WITHOUT ROWID;
