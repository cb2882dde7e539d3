-- How a key reads where that is not as usual (D12, PROTOCOL §3.5). Given when the key is made, and never changed.
-- Both are noted in the catalogue alone: the table is locked for a moment, however many keys there are.
ALTER TABLE key ADD COLUMN event_types text, -- whose numbers event types have: 'default', 'published-0'; NULL: the store's
  ADD COLUMN current_only boolean NOT NULL DEFAULT false; -- its lists show current events

-- As of which event of a feed a key lists current events. Removed after 10 minutes.
CREATE TABLE moment (
  key_id text NOT NULL,
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  view text NOT NULL,
  epoch text NOT NULL,
  position bigint NOT NULL,
  sequence bigint NOT NULL,
  fixed_ms bigint NOT NULL,        -- milliseconds since 1970
  used_ms bigint NOT NULL,         -- when a page was asked for; 0: the last one was
  PRIMARY KEY (key_id, tenant, feed, view)
);

SELECT share_with_nodes('moment', 'SELECT, INSERT, UPDATE, DELETE');
