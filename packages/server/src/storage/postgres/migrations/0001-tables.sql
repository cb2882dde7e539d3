-- The first schema. It is never edited once released: a change is a further file.
-- Times are ticks: 100 ns since 1970-01-01 UTC. In psql:  to_timestamp(created / 1e7)
-- Feeds are 1 (property) and 2 (contact). Every key and every unique index of the tables of events begins with the
-- tenant, so that they can be distributed by it.
--
-- Indexes beside a table's primary key are partial, on a condition that always holds, and the queries meant for them
-- state it. While a table is small or has no statistics the planner takes any index that begins with the tenant and the
-- feed for as good as another, and keeps that plan: looking up 100 subjects by the index of the latest took 67 ms among
-- 10,000, by the primary key 0.1 ms. An index that a query may not use is never the wrong one.

CREATE TABLE store (
  -- One row: what is said once about the whole store.
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  store_id uuid NOT NULL,          -- random, the same in every copy of this store
  schema_version integer NOT NULL,
  catalogue text NOT NULL,         -- JSON, event type short codes to numbers; they stand in the stored events
  start_sequence bigint NOT NULL,  -- the offset of the first epoch, as asked for when the store was created
  first_offset bigint NOT NULL,    -- the offset of feeds made from now on; rises with every new epoch
  needs_epoch boolean NOT NULL,    -- numbers may have been shown that are not here: publishing waits for a new epoch
  incarnation text NOT NULL,       -- system identifier and timeline of the cluster that numbers were last given on
  replicated boolean NOT NULL      -- since then every commit waited for a standby, so that a promotion loses nothing
);

CREATE TABLE tenant (
  tenant uuid PRIMARY KEY,
  tenant_no bigint GENERATED ALWAYS AS IDENTITY, -- order of creation
  name text NOT NULL,
  created_ms bigint NOT NULL,      -- milliseconds since 1970
  suspended boolean NOT NULL       -- its keys are refused
);

-- One row per tenant and kind of event: the counter that numbers are given from. Room in its pages, because it is
-- written with every commit, and a row that stays in its page needs no new index entry.
CREATE TABLE feed (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  epoch text NOT NULL,             -- changes when numbers were carried past a gap
  number_offset bigint NOT NULL,   -- sequence number = position + offset, for events to come
  revision bigint NOT NULL,        -- rises when stored payloads are reduced
  last_position bigint NOT NULL,
  last_sequence bigint,            -- of the last event; NULL while the feed is empty
  last_created bigint,
  PRIMARY KEY (tenant, feed)
) WITH (fillfactor = 40);

CREATE TABLE event (
  tenant uuid NOT NULL,
  position bigint NOT NULL,        -- 1, 2, 3 … in a feed
  sequence bigint NOT NULL,        -- sequenceNumber, as in the JSON
  created bigint NOT NULL,         -- ticks, strictly rising in a feed
  id uuid NOT NULL,
  subject uuid NOT NULL,           -- agent_ref or contact_ref
  feed smallint NOT NULL,
  category text,                   -- 'sales', 'lettings'; NULL for contacts
  branch text,
  code text NOT NULL,              -- eventTypeShortCode
  state text NOT NULL DEFAULT 'full', -- 'thinned' or 'erased' once the payload is reduced
  json text NOT NULL,              -- the bytes on the wire
  PRIMARY KEY (tenant, feed, position)
);
CREATE UNIQUE INDEX event_created ON event (tenant, feed, created) WHERE sequence > 0;

-- Kept in the row: events are read in runs, and a second table would be visited once for each. Measured with events of
-- 4 kB in pages of 100 (median of one run on one connection): lz4 1,630–1,780 pages/s in half the space, uncompressed
-- 1,780–1,960, PostgreSQL's own pglz 1,020–1,100. So: lz4, and where the server was built without it, uncompressed.
ALTER TABLE event ALTER COLUMN json SET STORAGE MAIN;
DO $$
BEGIN
  ALTER TABLE event ALTER COLUMN json SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
  ALTER TABLE event SET (toast_tuple_target = 8160);
END $$;

-- Every id ever taken. content_hash: SHA-256 of what was sent, NULL where a repeat must not be answered. An id can stand
-- for an event with another id: it was sent with a payload equal to that event's, and nothing was stored.
CREATE TABLE event_id (
  tenant uuid NOT NULL,
  id uuid NOT NULL,
  position bigint NOT NULL,
  feed smallint NOT NULL,
  content_hash bytea,
  PRIMARY KEY (tenant, feed, id)
);

-- The latest event of every property or contact.
CREATE TABLE subject (
  tenant uuid NOT NULL,
  subject uuid NOT NULL,
  position bigint NOT NULL,
  feed smallint NOT NULL,
  published boolean NOT NULL,
  category text,
  branch text,
  code text NOT NULL,
  payload_hash bytea,              -- SHA-256 of the latest payload; NULL after a removal
  PRIMARY KEY (tenant, feed, subject)
) WITH (fillfactor = 85);
CREATE INDEX subject_latest ON subject (tenant, feed, category, position) WHERE position > 0;

-- A part of a feed with dense ordinals of its own. The whole feed needs none: its ordinal is the position.
CREATE TABLE view (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  view text NOT NULL,
  filter text NOT NULL,            -- what an event must be to stand in it
  last_ordinal bigint NOT NULL,
  PRIMARY KEY (tenant, feed, view)
) WITH (fillfactor = 40);

CREATE TABLE view_entry (
  tenant uuid NOT NULL,
  ordinal bigint NOT NULL,
  position bigint NOT NULL,
  created bigint NOT NULL,         -- as in event
  feed smallint NOT NULL,
  view text NOT NULL,
  PRIMARY KEY (tenant, feed, view, ordinal)
);
CREATE UNIQUE INDEX view_entry_created ON view_entry (tenant, feed, view, created) WHERE position > 0;

-- The latest moment at which a window was answered: no later stamp lies before it, on any node, even if the clock is set
-- back. A sequence, because it is written by reads: outside transactions, and unlogged, so that it costs no flush.
CREATE UNLOGGED SEQUENCE window_floor AS bigint MINVALUE 0 START 0;

CREATE TABLE key (
  key_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- order of creation
  key_id text NOT NULL UNIQUE,
  secret_hash bytea NOT NULL,      -- HMAC-SHA-256 of the secret with the pepper; the key itself is nowhere
  pepper_id text NOT NULL,
  label text NOT NULL,
  operator boolean NOT NULL,
  created_ms bigint NOT NULL,
  expires_ms bigint,
  revoked_ms bigint,
  last_used_ms bigint              -- at most a minute behind
);

CREATE TABLE key_grant (
  key_no bigint NOT NULL REFERENCES key (key_no),
  grant_no integer NOT NULL,
  tenant uuid NOT NULL,
  scopes text NOT NULL,            -- separated by spaces
  PRIMARY KEY (key_no, grant_no)
);
