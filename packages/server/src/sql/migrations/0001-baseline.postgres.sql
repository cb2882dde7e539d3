-- The tables of a store in PostgreSQL, feature by feature; its functions and triggers stand in 0001-functions.postgres.sql. Once 0.1.0 is
-- released neither is edited: a change is a further file.
-- Times are ticks: 100 ns since 1970-01-01 UTC. In psql:  to_timestamp(created / 1e7)
-- Those in columns `…_ms` are milliseconds since then.
-- Feeds are 1 (property) and 2 (contact). Every key and every unique index of the tables of events begins with the
-- tenant, so that they can be distributed by it.
--
-- Indexes beside a table's primary key are partial, on a condition that always holds, and the queries meant for them
-- state it. While a table is small or has no statistics the planner takes any index that begins with the tenant and the
-- feed for as good as another, and keeps that plan: looking up 100 subjects by the index of the latest took 67 ms among
-- 10,000, by the primary key 0.1 ms. An index that a query may not use is never the wrong one.
--
-- Texts of primary keys that several nodes write are compared by bytes, whatever the database's collation, so that rows are locked and
-- read in one order.

-- ── The store ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE store (
  -- One row: what is said once about the whole store.
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  begun_with text NOT NULL DEFAULT '0.1.0', -- the release whose schema it began with; stores from before 0.1.0 have no such column
  store_id uuid NOT NULL,          -- random, the same in every copy of this store
  schema_version integer NOT NULL,
  catalogue text NOT NULL,         -- JSON, event type short codes to numbers; they stand in the stored events
  start_sequence bigint NOT NULL,  -- the offset of the first epoch, as asked for when the store was created
  first_offset bigint NOT NULL,    -- the offset of feeds made from now on; rises with every new epoch
  needs_epoch boolean NOT NULL,    -- numbers may have been shown that are not here: publishing waits for a new epoch
  incarnation text NOT NULL,       -- the place and the timeline that numbers were last given on: see incarnation()
  replicated boolean NOT NULL,     -- since then every commit waited for a standby, so that a promotion loses nothing
  unfinished text[] NOT NULL DEFAULT '{}', -- names of what is still to be done of the steps up to `schema_version`
  pepper_id text                   -- the pepper that new keys are made with, once `pepper finish` has said so; NULL: that of the keys there are
);

-- Publishing is stopped by an operator, for planned work. Without a row it is not.
CREATE TABLE maintenance (
  only_row boolean PRIMARY KEY CHECK (only_row),
  since_ms bigint NOT NULL,
  retry_after integer NOT NULL     -- seconds
);

-- ── Tenants ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE tenant (
  tenant uuid PRIMARY KEY,
  tenant_no bigint GENERATED ALWAYS AS IDENTITY, -- order of creation
  name text NOT NULL,
  created_ms bigint NOT NULL,
  suspended boolean NOT NULL,      -- its keys are refused
  reference text,                  -- the operator's own name for it
  without_duties boolean NOT NULL  -- its receipts say nothing of duties by law
);
CREATE UNIQUE INDEX tenant_reference ON tenant (reference) WHERE reference IS NOT NULL;
CREATE INDEX tenant_name ON tenant (name);
CREATE UNIQUE INDEX tenant_no_order ON tenant (tenant_no);

-- Tenants that leave (PROTOCOL §5.10).
CREATE TABLE leaving_tenant (
  tenant uuid PRIMARY KEY REFERENCES tenant (tenant) ON DELETE CASCADE,
  since_ms bigint NOT NULL,        -- since when nothing is taken for it
  reading_ends_ms bigint NOT NULL, -- from then on its keys are refused
  unpublished_ms bigint            -- when the last of its properties was found to be removed; NULL: they are being removed
);

-- Deleting a tenant with all it owns (docs/decisions/0044).
CREATE TABLE tenant_deletion (
  deletion uuid PRIMARY KEY,        -- UUIDv7, so they lie in the order in which they were begun
  tenant uuid NOT NULL,
  actor text NOT NULL,
  state text NOT NULL,              -- 'exporting', 'deleting', 'forgetting', 'deleted'
  facts text NOT NULL,              -- JSON: the export, the feeds as they were, and the name until it is 'deleted'
  counts text NOT NULL,             -- JSON: rows removed so far
  property_digest text NOT NULL,    -- of the events removed so far (tenants/deletion/deletion.ts)
  contact_digest text NOT NULL,
  exporter uuid,                    -- the node that writes the export
  begun_ms bigint NOT NULL,
  deleted_ms bigint
);
CREATE UNIQUE INDEX tenant_deletion_open ON tenant_deletion (tenant) WHERE state <> 'deleted';

-- Nodes that hold nothing any more that they read of the tenant.
CREATE TABLE tenant_deletion_node (
  deletion uuid NOT NULL,
  node uuid NOT NULL,
  PRIMARY KEY (deletion, node)
);

-- ── Events ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────

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
  -- Publishing can wait for a new epoch in one feed and go on in the others. `store.needs_epoch` stands for every feed.
  needs_epoch boolean NOT NULL DEFAULT false,
  epoch_start bigint,              -- numbers up to this one are of earlier epochs of this feed; NULL: up to `store.first_offset`
  -- Moving one tenant to another store (docs/decisions/0019). It stands in the counter's row, so whoever publishes meets it under the
  -- counter's lock, on whatever node. NULL: the tenant is at home here. Else nothing can be published to the feed: 'leaving' (it is being
  -- moved to another store), 'left' (it was, and windows are not answered here any more), 'arriving RUN' (it is being moved to here by that
  -- run of the command), 'abandoned' (it was, and was taken back).
  move text,
  stamp_floor bigint,              -- no later stamp lies before it: windows were answered until then, in the store the feed came from; ticks
  thinned bigint NOT NULL DEFAULT 0, -- rises when retention takes payloads; it enters names of segments and entity tags
  live_count bigint NOT NULL DEFAULT 0, -- subjects that are `published`
  branch_views boolean NOT NULL DEFAULT false, -- it has views that appends enter events in; read where the counter is moved
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
  state text NOT NULL DEFAULT 'full', -- 'thinned', 'erased' or 'restricted' once the payload is reduced
  json text NOT NULL,              -- the bytes on the wire
  PRIMARY KEY (tenant, feed, position)
);
CREATE UNIQUE INDEX event_created ON event (tenant, feed, created) WHERE sequence > 0;
-- From a subject to its events: for its history, and for everything that must reach all events of one subject.
CREATE INDEX event_subject ON event (tenant, feed, subject, position) WHERE sequence > 0;
-- The events by which properties appear and go, in order (events/listings.ts).
CREATE INDEX event_listing ON event (tenant, position)
  WHERE feed = 1 AND sequence > 0 AND code IN ('PropertyPublished', 'PropertyUnpublished');

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
-- Samples of a column's values would be copies of payloads, in a table that no command of ours rewrites. No query needs them.
ALTER TABLE event ALTER COLUMN json SET STATISTICS 0, ALTER COLUMN branch SET STATISTICS 0;

-- Every id ever taken. content_hash: SHA-256 of what was sent, NULL where a repeat must not be answered. An id can stand
-- for an event with another id: it was sent with a payload equal to that event's, and nothing was stored.
CREATE TABLE event_id (
  tenant uuid NOT NULL,
  id uuid NOT NULL,
  position bigint NOT NULL,
  feed smallint NOT NULL,
  content_hash bytea,
  -- When an id was taken that has no event of its own: it came with an unchanged payload and is kept for 30 days. Ticks.
  -- NULL: the id of an event, which is kept for ever.
  skipped bigint,
  PRIMARY KEY (tenant, feed, id)
);
-- It contains only skipped ids, so that finding the oldest is cheap however many events there are.
CREATE INDEX event_id_skipped ON event_id (tenant, feed, skipped) WHERE skipped IS NOT NULL;
-- From an event to the ids that were skipped because they came with its payload: an erasure removes their hashes too.
CREATE INDEX event_id_skipped_position ON event_id (tenant, feed, position) WHERE skipped IS NOT NULL;

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
  spelling text NOT NULL,          -- how the subject's first event spells its UUID; '' for lower case
  update_date_hash bytea,          -- 8 bytes of a hash of the latest payload's update_date (subject-identity.ts); NULL: it has none
  kept_code text,                  -- what the latest event of a restricted contact would be shown with; NULL: it is not restricted
  PRIMARY KEY (tenant, feed, subject)
) WITH (fillfactor = 85);
CREATE INDEX subject_latest ON subject (tenant, feed, category, position) WHERE position > 0;
-- As those of `event`.
ALTER TABLE subject ALTER COLUMN branch SET STATISTICS 0, ALTER COLUMN payload_hash SET STATISTICS 0;

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

-- A set of branches that a grant names (D11, docs/decisions/0042). Its views are 'branches.SET.all', '.sales' and '.lettings', rows of
-- `view` as others are.
CREATE TABLE branch_set (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  branch_set text NOT NULL,        -- 16 hex digits of a hash over its branches
  branches text NOT NULL,          -- as in `key_grant`
  state text NOT NULL,             -- 'filling', 'ready' (appends enter events in its views), 'dropping'
  filled bigint NOT NULL,          -- events up to this position are entered; what comes after `ready` is not noted here
  PRIMARY KEY (tenant, feed, branch_set)
);
CREATE INDEX branch_set_open ON branch_set (tenant, feed, branch_set) WHERE state <> 'ready';

-- The branches of the sets, one by one.
CREATE TABLE branch_of_set (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  branch text NOT NULL,
  branch_set text NOT NULL,
  PRIMARY KEY (tenant, feed, branch, branch_set)
);

-- Subjects whose latest event is of a branch of the set: so that reading only those never walks through superseded ones.
CREATE TABLE branch_latest (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  subject uuid NOT NULL,
  branch_set text NOT NULL,
  category text,
  position bigint NOT NULL,
  PRIMARY KEY (tenant, feed, subject, branch_set)
) WITH (fillfactor = 85);
CREATE INDEX branch_latest_order ON branch_latest (tenant, feed, branch_set, category, position) WHERE position > 0;

-- What nodes have shown of feeds and did not find in the store any more: what `epoch start` has to go past.
CREATE TABLE lost_number (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  number bigint NOT NULL,          -- the highest
  PRIMARY KEY (tenant, feed)
);

-- The latest moment at which a window was answered: no later stamp lies before it, on any node, even if the clock is set
-- back. A sequence, because it is written by reads: outside transactions, and unlogged, so that it costs no flush.
-- 0: a crash or a promotion has lost it, or there was none; the reservation then stands in its place (docs/decisions/0013).
CREATE UNLOGGED SEQUENCE answered_until AS bigint MINVALUE 0 START 0;

-- No window is answered beyond the reservation of time, which is committed like an event. One row, or none while no window was
-- ever answered.
CREATE TABLE time_reservation (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  until bigint NOT NULL            -- ticks; never falls
);

-- ── Reading ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- As of which event of a feed a key lists current events. Removed after 10 minutes.
CREATE TABLE moment (
  key_id text NOT NULL,
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  view text NOT NULL,
  epoch text NOT NULL,
  position bigint NOT NULL,
  sequence bigint NOT NULL,
  fixed_ms bigint NOT NULL,
  used_ms bigint NOT NULL,         -- when a page was asked for; 0: the last one was
  PRIMARY KEY (key_id, tenant, feed, view)
);

-- ── Keys ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- `last_used_ms` is written every minute while a key is used: room for that in its page.
CREATE TABLE key (
  key_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- order of creation
  key_id text COLLATE "C" NOT NULL UNIQUE,
  secret_hash bytea NOT NULL,      -- HMAC-SHA-256 of the secret with the pepper; the key itself is nowhere
  pepper_id text NOT NULL,
  label text NOT NULL,
  operator boolean NOT NULL,
  created_ms bigint NOT NULL,
  expires_ms bigint,
  revoked_ms bigint,
  last_used_ms bigint,             -- at most a minute behind
  -- Requests a second and burst of one key (D10). NULL, both: those of the node that serves it.
  rate_per_second integer CHECK (rate_per_second > 0),
  rate_burst integer CHECK (rate_burst > 0),
  admin_scopes text,               -- of an operator key, separated by spaces; NULL: none
  networks text,                   -- that it may be used from, separated by spaces; NULL: any
  replaces text,                   -- id of the key that it was made for
  -- How it reads where that is not as usual (D12, PROTOCOL §3.5). Given when the key is made, and never changed.
  event_types text,                -- whose numbers event types have: 'default', 'published-0'; NULL: the store's
  current_only boolean NOT NULL DEFAULT false, -- its lists show current events
  reference_ids boolean NOT NULL DEFAULT false, -- it is shown references as transaction ids
  CHECK ((rate_per_second IS NULL) = (rate_burst IS NULL))
) WITH (fillfactor = 70);

CREATE TABLE key_grant (
  key_no bigint NOT NULL REFERENCES key (key_no) ON DELETE CASCADE,
  grant_no integer NOT NULL,
  tenant uuid NOT NULL,
  scopes text NOT NULL,            -- separated by spaces
  branches text,                   -- a JSON list of `branch_id`s that the grant is limited to (D11); NULL: all. Then `scopes` has marked words
  PRIMARY KEY (key_no, grant_no)
);
CREATE INDEX key_grant_tenant ON key_grant (tenant, key_no);
CREATE INDEX key_grant_limited ON key_grant (tenant, key_no) WHERE branches IS NOT NULL;

-- Rises with each change of a key, a grant, the pepper, and of whatever else decides what a key may do, by whatever program: a node that
-- has seen a key at this version need not look for it again. Last uses are not counted. A row and no sequence: a sequence is seen to have
-- risen before the change is, and a node would keep what it read in between.
--
-- A transaction that changes keys holds this row to its end. One that goes on to change keys that another may be changing
-- touches the row first, or the two wait for each other.
CREATE TABLE keys_version (version bigint NOT NULL);
CREATE UNIQUE INDEX keys_version_is_one ON keys_version ((true));
INSERT INTO keys_version VALUES (0);

-- ── Nodes ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The nodes that serve this store, each announcing itself now and then.
CREATE TABLE node (
  node uuid PRIMARY KEY,           -- random, another one with each start
  place text NOT NULL,             -- machine and process id
  pepper_ids text NOT NULL,        -- of the peppers it knows, separated by spaces
  seen_ms bigint NOT NULL,         -- when it last announced itself
  ignores_proxy boolean NOT NULL, -- clients come to it through a proxy that it does not trust
  console_url text                 -- where people reach its console; NULL: it serves none
);

-- ── Erasure (D17, docs/decisions/0027): payloads are reduced, and everything else stays ────────────────────────────────────

CREATE TABLE erasure (
  erasure uuid PRIMARY KEY,        -- UUIDv7, so they lie in the order in which they were begun
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  subject uuid,                    -- agent_ref or contact_ref; NULL where one event was erased
  event_id uuid,                   -- of that event; NULL where a subject was erased
  reason text NOT NULL,            -- a code of PROTOCOL §5.7
  case_ref text,
  received_on text,                -- YYYY-MM-DD
  actor text NOT NULL,             -- id of the key that asked for it
  state text NOT NULL,             -- 'reducing', 'reduced', 'unreachable', 'overwritten'
  next_position bigint NOT NULL,   -- events before it are reduced
  last_position bigint NOT NULL,   -- the last one that is to be reduced
  events bigint NOT NULL,          -- how many are to be reduced
  reduced bigint NOT NULL,         -- how many of them have been
  revision bigint NOT NULL,        -- the feed's, after the last step
  closing_event uuid,              -- id of the event that closed the subject
  closing_sequence bigint,
  begun_ms bigint NOT NULL,
  reduced_ms bigint,
  unreachable_ms bigint,
  overwritten_ms bigint
);
CREATE INDEX erasure_open ON erasure (erasure) WHERE state IN ('reducing', 'reduced');
CREATE INDEX erasure_tenant ON erasure (tenant, erasure);

-- Nodes that hold nothing any more that they read of the feed before.
CREATE TABLE erasure_node (
  erasure uuid NOT NULL,
  node uuid NOT NULL,
  PRIMARY KEY (erasure, node)
);

-- Which events were reduced with which revision of their feed: for copies that keep the history.
CREATE TABLE reduced_event (
  tenant uuid NOT NULL,
  revision bigint NOT NULL,
  position bigint NOT NULL,
  sequence bigint NOT NULL,
  feed smallint NOT NULL,
  PRIMARY KEY (tenant, feed, revision, position)
);

-- Who had been sent an erased contact (D28): what keys had been sent of the feed when an erasure became unreachable, of the hours that
-- reached up to it. Rows of `sent`, which later reads of the same hour are added to.
CREATE TABLE erasure_sent (
  erasure uuid NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  view text COLLATE "C" NOT NULL,
  hour integer NOT NULL,
  block bigint NOT NULL,
  ranges text NOT NULL,            -- JSON: [first, last] of each, ascending
  PRIMARY KEY (erasure, hour, key_id, view, block)
);

-- Erasures for which that was recorded.
CREATE TABLE erasure_disclosure (
  erasure uuid PRIMARY KEY,
  doubt_ms bigint                  -- a run had said nothing since then; NULL: all had
);

-- ── Holds (D17, docs/decisions/0028): a subject that is not to be erased, nor reduced by retention, until a day ────────────

CREATE TABLE hold (
  hold uuid PRIMARY KEY,           -- UUIDv7, so they lie in the order in which they were added
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  subject uuid NOT NULL,           -- agent_ref or contact_ref
  ground text NOT NULL,            -- a code of PROTOCOL §5.7
  case_ref text,
  actor text NOT NULL,
  added_ms bigint NOT NULL,
  until_ms bigint NOT NULL,        -- the first one at which it holds no more
  reported_ms bigint,              -- when its expiry was reported
  ended_ms bigint,                 -- NULL: nobody has ended it
  ended_by text
);
CREATE INDEX hold_tenant ON hold (tenant, hold);
CREATE INDEX hold_unreported ON hold (until_ms) WHERE ended_ms IS NULL AND reported_ms IS NULL;
-- Of a subject, those that may hold it.
CREATE INDEX hold_subject ON hold (tenant, feed, subject, until_ms) WHERE ended_ms IS NULL;

-- ── Restriction (D17, docs/decisions/0033): what was published of a contact is kept, and its events show that it is gone ───

CREATE TABLE kept_event (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  subject uuid NOT NULL,           -- contact_ref
  position bigint NOT NULL,        -- of the event, whose state is 'restricted'
  sequence bigint NOT NULL,
  json text NOT NULL,              -- as it was published
  PRIMARY KEY (tenant, feed, subject, position)
);
-- Samples of a column's values would be copies of payloads.
ALTER TABLE kept_event ALTER COLUMN json SET STATISTICS 0;

CREATE TABLE restriction (
  restriction uuid PRIMARY KEY,    -- UUIDv7, so they lie in the order in which they were begun
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  subject uuid NOT NULL,
  reason text NOT NULL,            -- a code of PROTOCOL §5.7
  case_ref text,
  actor text NOT NULL,
  state text NOT NULL,             -- 'hiding', 'hidden', 'restricted', 'lifting', 'lifted', 'erased'
  next_position bigint NOT NULL,   -- events before it are hidden, or shown again
  last_position bigint NOT NULL,   -- the last one that is to be
  closing_event uuid NOT NULL,     -- id of the event that took the contact from consumers
  closing_sequence bigint NOT NULL,
  begun_ms bigint NOT NULL,
  restricted_ms bigint,
  ended_ms bigint,
  ended_by text
);
CREATE INDEX restriction_open ON restriction (restriction) WHERE state IN ('hiding', 'hidden', 'lifting');
CREATE INDEX restriction_tenant ON restriction (tenant, restriction);
CREATE INDEX restriction_subject ON restriction (tenant, feed, subject)
  WHERE state IN ('hiding', 'hidden', 'restricted', 'lifting');

-- ── Retention (D17, docs/decisions/0034): superseded events lose their payloads with age ───────────────────────────────────

-- What a tenant has in place of the service's own setting.
CREATE TABLE retention_rule (
  tenant uuid NOT NULL,
  rule text NOT NULL,              -- 'retain-contacts', 'retain-properties', 'expire-contacts'
  days integer NOT NULL,           -- 0: off
  PRIMARY KEY (tenant, rule)
);

-- How far the two walks through each feed have come (see privacy/retention/retention.ts).
CREATE TABLE thin_progress (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  aged bigint NOT NULL,            -- position: what was superseded up to there, and old enough, is thinned
  superseded bigint NOT NULL,      -- position: what events up to there have superseded was looked at
  held_from bigint,                -- position of the first event that was passed because its subject was on hold or restricted
  held_before bigint,              -- ticks: what had been superseded before then was due at the time
  PRIMARY KEY (tenant, feed)
);

-- Which events were thinned with which step of their feed: for moving a tenant.
CREATE TABLE thinned_event (
  tenant uuid NOT NULL,
  thinned bigint NOT NULL,
  position bigint NOT NULL,
  feed smallint NOT NULL,
  PRIMARY KEY (tenant, feed, thinned, position)
);

-- The node that thins, one at a time.
CREATE TABLE thin_turn (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  node text NOT NULL,
  until_ms bigint NOT NULL
);
INSERT INTO thin_turn (node, until_ms) VALUES ('', 0);

-- ── Contact expiry (D17, docs/decisions/0034): contacts that have not changed for long ─────────────────────────────────────

-- Those that are to be erased, or that the agency has kept.
CREATE TABLE expiring_contact (
  tenant uuid NOT NULL,
  subject uuid NOT NULL,              -- contact_ref
  position bigint NOT NULL,           -- of its latest event; when it has another, this row is about nothing
  unchanged_since_ms bigint NOT NULL, -- when that was made, or the contact was kept
  listed_ms bigint,                   -- since when it is on the list; NULL: it was kept
  PRIMARY KEY (tenant, subject)
);
CREATE INDEX expiring_contact_kept ON expiring_contact (tenant, unchanged_since_ms) WHERE listed_ms IS NULL;

-- Up to which position the latest events of contacts were looked at.
CREATE TABLE expiry_progress (
  tenant uuid PRIMARY KEY,
  listed bigint NOT NULL
);

-- ── The log of what was sent (D28) ─────────────────────────────────────────────────────────────────────────────────────────

-- What each key was sent: within an hour, of one block of 16,384 numbers.
CREATE TABLE sent (
  key_id text COLLATE "C" NOT NULL,
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  view text COLLATE "C" NOT NULL,  -- of ordinals; 'numbers' of sequence numbers
  hour integer NOT NULL,           -- hours since 1970
  block bigint NOT NULL,
  ranges text NOT NULL,            -- JSON: [first, last] of each, ascending
  PRIMARY KEY (key_id, tenant, feed, view, hour, block)
) WITH (fillfactor = 70);
-- From a block of a feed to what keys were sent of it: for the recipients of what was erased.
CREATE INDEX sent_block ON sent (tenant, feed, block, hour, key_id, view);

-- The threads that send, each with how far what it has sent stands in the table above.
CREATE TABLE sent_run (
  run uuid PRIMARY KEY,            -- random, another one with each start
  began_ms bigint NOT NULL,
  through_ms bigint NOT NULL,
  lost_ms bigint,                  -- found silent at that time
  ended boolean NOT NULL           -- all it sent stands there
);

-- ── Consumers: who has seen what (D28) ─────────────────────────────────────────────────────────────────────────────────────

-- The consumers of feeds: a key, or a key and a name.
CREATE TABLE consumer (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,          -- 1: property, 2: contact
  key_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,  -- 'default': the key itself
  acknowledged bigint,             -- sequence number up to which it has done everything, as it says; NULL: it has not said
  epoch text,                      -- of that number
  acknowledged_ms bigint,
  PRIMARY KEY (tenant, feed, key_id, name)
) WITH (fillfactor = 70);

-- What a consumer was sent of one view, and how its last request of it went.
CREATE TABLE consumer_view (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  view text COLLATE "C" NOT NULL,  -- 'single': events that were asked for one by one
  space text COLLATE "C" NOT NULL, -- what the numbers are: 'ordinals' of the view, 'positions', or sequence 'numbers'
  epoch text COLLATE "C" NOT NULL, -- of ordinals and positions; empty for numbers
  ranges text NOT NULL,            -- JSON: [first, last] of each, ascending; 500 at most
  asked_ms bigint NOT NULL,
  quiet_ms bigint,                 -- last told that there is nothing new
  status smallint NOT NULL,
  route text NOT NULL,
  PRIMARY KEY (tenant, feed, key_id, name, view, space, epoch)
) WITH (fillfactor = 70);

-- When each number of it was first sent, for some months. The rows of a view, space and epoch never overlap.
CREATE TABLE consumer_sent (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  view text COLLATE "C" NOT NULL,
  space text COLLATE "C" NOT NULL,
  epoch text COLLATE "C" NOT NULL,
  low bigint NOT NULL,             -- the first and the last number
  high bigint NOT NULL,
  minute integer NOT NULL,         -- minutes since 1970
  route text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, feed, key_id, name, view, space, epoch, low)
);
CREATE INDEX consumer_sent_minute ON consumer_sent (minute);
CREATE INDEX consumer_sent_of ON consumer_sent (tenant, feed, key_id, name, minute);

-- Requests of consumers that were refused, by code.
CREATE TABLE consumer_refusal (
  key_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL, -- empty: refused before the tenant was known
  code text COLLATE "C" NOT NULL,
  status smallint NOT NULL,
  since_ms bigint NOT NULL,
  last_ms bigint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (key_id, name, tenant, code)
) WITH (fillfactor = 70);

-- What became of properties at consumers, as they say.
CREATE TABLE consumer_result (
  tenant uuid NOT NULL,
  subject uuid NOT NULL,           -- agent_ref
  key_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  outcome text NOT NULL,           -- live, held, refused
  code text,
  message text,
  url text,
  result_ms bigint NOT NULL,
  PRIMARY KEY (tenant, subject, key_id, name)
);

-- The same as a log, for some months: a row for each change of outcome or address, and for the first report after the
-- property was withdrawn or published again.
CREATE TABLE consumer_result_change (
  tenant uuid NOT NULL,
  subject uuid NOT NULL,           -- agent_ref
  key_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  result_ms bigint NOT NULL,
  outcome text NOT NULL,           -- live, held, refused
  code text,
  url text,
  PRIMARY KEY (tenant, subject, key_id, name, sequence, result_ms)
);
CREATE INDEX consumer_result_change_ms ON consumer_result_change (result_ms);

-- ── Webhooks: the endpoints of tenants, and how far each of them is (D30) ──────────────────────────────────────────────────

-- Half of each page is left free: while something is sent, a row is written four times a second, and no column of an index with it.
CREATE TABLE webhook (
  endpoint_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  endpoint_id uuid NOT NULL UNIQUE,
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  key_id text COLLATE "C" NOT NULL, -- whose rights it has
  rights text NOT NULL,            -- JSON: what that key could read when the endpoint was made
  created_ms bigint NOT NULL,
  url text NOT NULL,
  label text NOT NULL,
  events text NOT NULL,            -- 'feed', 'operations'
  view text NOT NULL,
  payload text NOT NULL,           -- 'full', 'thin'
  changes boolean NOT NULL,        -- what has changed is sent too
  mode text NOT NULL,              -- 'every', 'latest'
  format text NOT NULL,            -- 'event', 'cloudevents'
  concurrency integer NOT NULL,
  max_per_second integer,          -- NULL: no limit
  timeout_seconds integer NOT NULL,
  state text NOT NULL,             -- 'enabled', 'paused', 'disabled'
  reason text,                     -- why it is not enabled
  since_ms bigint,                 -- since when
  settled bigint NOT NULL,         -- nothing up to this number is left, but for what waits
  epoch text NOT NULL,             -- of which it was told last
  failing_since_ms bigint,         -- NULL: it works
  acknowledged bigint,             -- the number that was acknowledged last
  acknowledged_ms bigint,
  logged bigint NOT NULL,          -- the last number in its log
  writes bigint NOT NULL,          -- what senders have written so far; one that counts more has lost what it wrote
  lease_no bigint NOT NULL,        -- rises whenever another may send, or something else is to be sent
  lease_node text COLLATE "C"      -- the node that sends; NULL: none does
) WITH (fillfactor = 50);
CREATE INDEX webhook_tenant ON webhook (tenant, endpoint_id);
CREATE INDEX webhook_key ON webhook (key_id);
CREATE INDEX webhook_sending ON webhook (lease_node, endpoint_no) WHERE state = 'enabled';

-- What an endpoint's messages are signed with.
CREATE TABLE webhook_secret (
  secret_id text COLLATE "C" PRIMARY KEY,
  endpoint_no bigint NOT NULL,
  sealed bytea NOT NULL,           -- AES-256-GCM, with a key from the pepper
  pepper_id text COLLATE "C" NOT NULL,
  created_ms bigint NOT NULL,
  ends_ms bigint                   -- it signs until then; NULL: until it is replaced
);
CREATE INDEX webhook_secret_endpoint ON webhook_secret (endpoint_no);

-- Properties whose oldest event was refused: one row for each. Their later events stand behind it, and are found in the feed.
CREATE TABLE webhook_waiting (
  endpoint_no bigint NOT NULL,
  subject uuid NOT NULL,
  sequence bigint NOT NULL,        -- of the event that is sent next
  tries integer NOT NULL,
  next_try_ms bigint NOT NULL,     -- 0: at once
  PRIMARY KEY (endpoint_no, subject)
) WITH (fillfactor = 70);

-- Events that were given up, until somebody has them sent again.
CREATE TABLE webhook_given_up (
  endpoint_no bigint NOT NULL,
  sequence bigint NOT NULL,
  subject uuid NOT NULL,
  at_ms bigint NOT NULL,
  PRIMARY KEY (endpoint_no, sequence)
);

-- The version that each property was acknowledged with, where changes since then are sent.
CREATE TABLE webhook_version (
  endpoint_no bigint NOT NULL,
  subject uuid NOT NULL,
  sequence bigint NOT NULL,
  PRIMARY KEY (endpoint_no, subject)
) WITH (fillfactor = 85);

-- What was tried, for 7 days, and at most the last 10,000 tries of an endpoint.
CREATE TABLE webhook_delivery (
  endpoint_no bigint NOT NULL,
  delivery_no bigint NOT NULL,     -- 1, 2, 3 … of an endpoint
  at_ms bigint NOT NULL,
  message_id text NOT NULL,
  sequence bigint,                 -- NULL: not an event of the feed
  subject uuid,
  outcome text NOT NULL,           -- 'acknowledged', 'refused', 'unreachable', 'postponed', 'givenUp'
  status smallint,                 -- of the answer; NULL: there was none
  took_ms integer NOT NULL,
  answer text,                     -- its beginning, or why there was none; NULL: not kept
  PRIMARY KEY (endpoint_no, delivery_no)
);
CREATE INDEX webhook_delivery_subject ON webhook_delivery (endpoint_no, subject, delivery_no) WHERE subject IS NOT NULL;
-- Samples of its values would be copies of answers.
ALTER TABLE webhook_delivery ALTER COLUMN answer SET STATISTICS 0;

-- What happened to endpoints, for those endpoints of their tenant that are sent operations.
CREATE TABLE webhook_notice (
  notice_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in the order of commits
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  endpoint_id uuid NOT NULL,
  kind text NOT NULL,              -- 'webhook.failing', 'webhook.disabled', 'webhook.recovered'
  reason text,
  at_ms bigint NOT NULL
);
CREATE INDEX webhook_notice_tenant ON webhook_notice (tenant, feed, notice_no);
CREATE INDEX webhook_notice_at ON webhook_notice (at_ms);

-- The nodes that send. What a node is to send is its own for as long as it stands here.
CREATE TABLE webhook_sender (
  node text COLLATE "C" PRIMARY KEY,
  until_ms bigint NOT NULL         -- from then on another may take what it has
) WITH (fillfactor = 10);

-- ── Silence (PROTOCOL §14.7): when publishers and consumers were last there, and what is expected of them ──────────────────

-- Some of each page is left free: rows are changed every five minutes while their publishers and consumers are there.
CREATE TABLE presence (
  kind smallint NOT NULL,          -- 1: what publishes to a feed, 2: a consumer
  tenant text COLLATE "C" NOT NULL, -- of a publisher
  key_id text COLLATE "C" NOT NULL, -- of a consumer
  part text COLLATE "C" NOT NULL,  -- the publisher's feed, or the consumer's name; 'default': the key itself
  first_ms bigint,                 -- NULL: not seen yet
  last_ms bigint,                  -- to some minutes
  pauses text NOT NULL,            -- JSON: [day, milliseconds], the longest pause that ended on each of the last 14 days
  active_ms bigint,                -- since when something can be expected of it
  silent_ms bigint,                -- since when it is silent; NULL: it is not
  reported boolean NOT NULL,       -- false: its silence, or the end of it, is still to be reported
  expected_ms bigint,              -- as it was set; 0: nothing is expected; NULL: it is learned
  PRIMARY KEY (kind, tenant, key_id, part)
) WITH (fillfactor = 60);
CREATE INDEX presence_silent ON presence (silent_ms) WHERE silent_ms IS NOT NULL;

-- The node that looks, one at a time.
CREATE TABLE silence_turn (
  only_row boolean PRIMARY KEY CHECK (only_row),
  number bigint NOT NULL,
  checked_ms bigint NOT NULL,
  watched_ms bigint NOT NULL,      -- since when there were no more than some minutes between two looks
  minute integer NOT NULL          -- up to which publications were looked through
) WITH (fillfactor = 10);
INSERT INTO silence_turn VALUES (true, 0, 0, 0, 0);

-- ── Audit: who changed what, written in the transaction of the change ──────────────────────────────────────────────────────

CREATE TABLE audit (
  audit_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE,         -- version 7
  at_ms bigint NOT NULL,           -- by the clock of the node
  actor text NOT NULL,             -- 'key:' or 'cli:' and an opaque id, or 'service'
  action text NOT NULL,
  tenant uuid,                     -- NULL: of no tenant
  target text,                     -- id of what was changed
  detail text NOT NULL             -- JSON
);
CREATE INDEX audit_tenant ON audit (tenant, audit_no);
CREATE INDEX audit_target ON audit (target, audit_no);
CREATE INDEX audit_at ON audit (at_ms);
CREATE INDEX audit_action ON audit (action, audit_no);

-- Names of actors, apart from the audit (docs/decisions/0039): a row here can be erased.
CREATE TABLE actor_name (
  actor text COLLATE "C" PRIMARY KEY, -- as in audit
  name text NOT NULL
);
-- Samples of a column's values would be copies of names. No query needs them.
ALTER TABLE actor_name ALTER COLUMN name SET STATISTICS 0;

-- ── Usage: requests of keys (PROTOCOL §14) ─────────────────────────────────────────────────────────────────────────────────

-- In order of time first: what nodes add to in one half minute lies together. Half of each page of hours is left free, so that a row
-- that is added to stays on its page, and no index is touched.
CREATE TABLE usage_hour (
  hour integer NOT NULL,       -- hours since 1970, UTC
  key_id text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  status smallint NOT NULL,
  requests bigint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (hour, key_id, operation, status)
) WITH (fillfactor = 45);

CREATE TABLE usage_day (
  day integer NOT NULL,        -- days since 1970, UTC
  key_id text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  status smallint NOT NULL,
  requests bigint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (day, key_id, operation, status)
);

-- ── Publications: what was published (PROTOCOL §14). Numbers and codes, nothing of any payload ─────────────────────────────

CREATE TABLE published (
  tenant uuid NOT NULL,
  minute integer NOT NULL,         -- minutes since 1970, UTC
  feed smallint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,        -- refused ones included
  stored bigint NOT NULL,
  repeated bigint NOT NULL,
  unchanged bigint NOT NULL,
  first_sequence bigint,           -- of what was stored; NULL: nothing was
  last_sequence bigint,
  warnings text NOT NULL,          -- JSON: how often each code came
  refused bigint NOT NULL,
  warning_places text NOT NULL,    -- JSON: by code, examples of where it came: pointers, no values (PROTOCOL §14.2)
  PRIMARY KEY (tenant, minute, feed, key_id)
) WITH (fillfactor = 70);
CREATE INDEX published_minute ON published (minute);

-- Refusals one by one, the first 100 of a key and hour.
CREATE TABLE refusal (
  tenant uuid NOT NULL,
  minute integer NOT NULL,
  feed smallint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  place integer NOT NULL,          -- which of the key and hour it is, from 0
  at_ms bigint NOT NULL,
  request_id text NOT NULL,
  code text NOT NULL,
  faults text NOT NULL,            -- JSON: pointers and codes, no values
  PRIMARY KEY (tenant, minute, feed, key_id, place)
);
CREATE INDEX refusal_minute ON refusal (minute);

CREATE TABLE refusal_hour (
  hour integer NOT NULL,           -- hours since 1970, UTC
  key_id text COLLATE "C" NOT NULL,
  refusals bigint NOT NULL,
  PRIMARY KEY (hour, key_id)
) WITH (fillfactor = 70);

-- ── Console sessions: who is signed in to the console, and links that sign somebody in (PROTOCOL §15) ──────────────────────

-- Secrets stand here as SHA-256 hashes alone.
CREATE TABLE login_link (
  link_hash text COLLATE "C" PRIMARY KEY,
  key_id text COLLATE "C" NOT NULL,
  expires_ms bigint NOT NULL     -- of no use from then on
);
CREATE INDEX login_link_by_end ON login_link (expires_ms);

CREATE TABLE console_session (
  cookie_hash text COLLATE "C" PRIMARY KEY,
  half_hash text NOT NULL,       -- of what the page sends beside the cookie
  key_id text COLLATE "C" NOT NULL,
  begun_ms bigint NOT NULL,
  ends_ms bigint NOT NULL,
  used_ms bigint NOT NULL        -- at most a minute behind
);
CREATE INDEX console_session_by_key ON console_session (key_id, used_ms);
CREATE INDEX console_session_by_use ON console_session (used_ms);
