-- The schema of a store in SQLite, feature by feature. Once 0.1.0 is released it is not edited: a change is a further file.
-- Look at it with the sqlite3 shell, also while the service runs:  .schema event
-- Times are ticks: 100 ns since 1970-01-01 UTC. In the shell:  datetime(created / 10000000, 'unixepoch')
-- Those in columns `…_ms` are milliseconds since then.

-- ── The store ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE meta (
  -- What is said once about the whole store:
  --   store_id        random, the same in every copy of this store
  --   catalogue       JSON, event type short codes to numbers; they stand in the stored events, so it never changes
  --   start_sequence  the offset of the first epoch, as asked for when the store was created
  --   first_offset    the offset of feeds made from now on; rises with every new epoch
  --   needs_epoch     1 in a copy: numbers may have been shown that it does not hold, publishing waits for a new epoch
  --   pepper_id       the pepper that new keys are made with, once `pepper finish` has said so
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Publishing is stopped by an operator, for planned work. Without a row it is not.
CREATE TABLE maintenance (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  since_ms INTEGER NOT NULL,
  retry_after INTEGER NOT NULL   -- seconds
) STRICT;

-- ── Tenants ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE tenant (
  tenant_no INTEGER PRIMARY KEY AUTOINCREMENT, -- order of creation; never a number that was given before
  tenant TEXT NOT NULL UNIQUE,   -- lower-case UUID
  name TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  suspended INTEGER NOT NULL,    -- 1: its keys are refused
  reference TEXT,                -- the operator's own name for it
  without_duties INTEGER NOT NULL -- 1: its receipts say nothing of duties by law
) STRICT;
CREATE UNIQUE INDEX tenant_reference ON tenant (reference) WHERE reference IS NOT NULL;
CREATE INDEX tenant_name ON tenant (name);

-- Tenants that leave (PROTOCOL §5.10).
CREATE TABLE leaving_tenant (
  tenant TEXT PRIMARY KEY REFERENCES tenant (tenant) ON DELETE CASCADE,
  since_ms INTEGER NOT NULL,        -- since when nothing is taken for it
  reading_ends_ms INTEGER NOT NULL, -- from then on its keys are refused
  unpublished_ms INTEGER            -- when the last of its properties was found to be removed; NULL: they are being removed
) STRICT, WITHOUT ROWID;

-- Deleting a tenant with all it owns (docs/decisions/0044).
CREATE TABLE tenant_deletion (
  deletion TEXT PRIMARY KEY,        -- UUIDv7, so they lie in the order in which they were begun
  tenant TEXT NOT NULL,
  actor TEXT NOT NULL,
  state TEXT NOT NULL,              -- 'exporting', 'deleting', 'forgetting', 'deleted'
  facts TEXT NOT NULL,              -- JSON: the export, the feeds as they were, and the name until it is 'deleted'
  counts TEXT NOT NULL,             -- JSON: rows removed so far
  property_digest TEXT NOT NULL,    -- of the events removed so far (tenants/deletion/deletion.ts)
  contact_digest TEXT NOT NULL,
  exporter TEXT,                    -- the node that writes the export
  property_no INTEGER,              -- feed_no of its feeds once they are gone, which nobody else is given
  contact_no INTEGER,
  begun_ms INTEGER NOT NULL,
  deleted_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tenant_deletion_open ON tenant_deletion (tenant) WHERE state <> 'deleted';
CREATE INDEX tenant_deletion_tenant ON tenant_deletion (tenant, deletion);

-- Nodes that hold nothing any more that they read of the tenant.
CREATE TABLE tenant_deletion_node (
  deletion TEXT NOT NULL,
  node TEXT NOT NULL,
  PRIMARY KEY (deletion, node)
) STRICT, WITHOUT ROWID;

-- ── Events ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE feed (
  -- One row per tenant and kind of event: the counter that numbers are given from.
  -- `feed_no` stands for (tenant, feed) in the other tables, and is never a number that another feed had.
  feed_no INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL REFERENCES tenant (tenant),
  feed TEXT NOT NULL,            -- 'property' or 'contact'
  epoch TEXT NOT NULL,           -- changes when numbers were carried past a gap
  offset INTEGER NOT NULL,       -- sequence number = position + offset, for events to come
  revision INTEGER NOT NULL,     -- rises when stored payloads are reduced
  last_position INTEGER NOT NULL,
  last_created INTEGER,          -- ticks; NULL while the feed is empty
  -- Publishing can wait for a new epoch in one feed and go on in the others. The meta value `needs_epoch` stands for every feed.
  needs_epoch INTEGER NOT NULL DEFAULT 0,
  -- Moving one tenant to another store (docs/decisions/0019). NULL: the tenant is at home here. Else nothing can be published to the
  -- feed: 'leaving' (it is being moved to another store), 'left' (it was, and windows are not answered here any more), 'arriving RUN' (it
  -- is being moved to here by that run of the command), 'abandoned' (it was, and was taken back).
  move TEXT,
  stamp_floor INTEGER,           -- no later stamp lies before it: windows were answered until then, in the store the feed came from; ticks
  thinned INTEGER NOT NULL DEFAULT 0, -- rises when retention takes payloads; it enters names of segments and entity tags
  live_count INTEGER NOT NULL DEFAULT 0, -- subjects that are there; see the triggers of `subject`
  branch_views INTEGER NOT NULL DEFAULT 0, -- 1: it has views that appends enter events in
  UNIQUE (tenant, feed)
) STRICT;

-- A tenant that is made again has the numbers that its feeds had: connections remember them.
CREATE TRIGGER feed_number_kept BEFORE DELETE ON feed BEGIN
  UPDATE tenant_deletion SET
    property_no = iif(old.feed = 'property', old.feed_no, property_no),
    contact_no = iif(old.feed = 'contact', old.feed_no, contact_no)
  WHERE tenant = old.tenant AND state <> 'deleted';
END;

-- From (tenant, feed), by which all tables name a feed but those of the log, to the number that the log has for it.
CREATE VIEW feed_key AS SELECT feed_no, tenant, CASE feed WHEN 'property' THEN 1 ELSE 2 END AS feed FROM feed;

CREATE TABLE event (
  -- place = feed_no << 40 | position: a feed lies together, in order, so a page is one run through this tree.
  -- Position n of feed 3:  SELECT CAST(json AS TEXT) FROM event WHERE place = 3 << 40 | n
  place INTEGER PRIMARY KEY,
  feed_no INTEGER NOT NULL,
  created INTEGER NOT NULL,      -- ticks, strictly rising in a feed
  sequence INTEGER NOT NULL,     -- sequenceNumber, as in the JSON
  id BLOB NOT NULL,              -- the 16 bytes of the UUID; in the shell: hex(id)
  subject BLOB NOT NULL,         -- agent_ref or contact_ref, 16 bytes
  category TEXT,                 -- 'sales', 'lettings'; NULL for contacts
  branch TEXT,
  code TEXT NOT NULL,            -- eventTypeShortCode
  state TEXT NOT NULL,           -- 'full'; 'thinned', 'erased' or 'restricted' once the payload is reduced
  checksum INTEGER NOT NULL,     -- CRC-32 of json, begun from the position (event-checksum.ts)
  json BLOB NOT NULL             -- the bytes on the wire; last, so that the other columns are read without it
) STRICT;

-- From a time to a position. Measured against a binary search over the dense positions, which needs no index: a bound
-- costs 7 us instead of 124 us and 25 kB of cold reads instead of 181 kB in a feed of a million; in return 18 kB more
-- WAL per single-event commit (both time indexes; 62 kB without) and 21 bytes per event.
CREATE UNIQUE INDEX event_created ON event (feed_no, created);
-- From a subject to its events: for its history, and for everything that must reach all events of one subject.
-- The place stands at the end of every entry by itself, so a history is one run through this index.
CREATE INDEX event_subject ON event (feed_no, subject);
-- The events by which properties appear and go, in order (events/listings.ts).
CREATE INDEX event_listing ON event (feed_no) WHERE code IN ('PropertyPublished', 'PropertyUnpublished');

CREATE TABLE event_id (
  -- Every id ever taken. content_hash: SHA-256 of what was sent, NULL where a repeat must not be answered.
  -- An id can stand for an event with another id: it was sent with a payload equal to that event's, and nothing stored.
  feed_no INTEGER NOT NULL,
  id BLOB NOT NULL,
  position INTEGER NOT NULL,
  content_hash BLOB,
  -- When an id was taken that has no event of its own: it came with an unchanged payload and is kept for 30 days. Ticks.
  -- NULL: the id of an event, which is kept for ever.
  skipped INTEGER,
  PRIMARY KEY (feed_no, id)
) STRICT, WITHOUT ROWID;
-- Holds only such ids, so that finding the oldest costs nothing however many events there are.
CREATE INDEX event_id_skipped ON event_id (skipped) WHERE skipped IS NOT NULL;
-- From an event to the ids that were skipped because they came with its payload: their hashes go with it.
CREATE INDEX event_id_skipped_position ON event_id (feed_no, position) WHERE skipped IS NOT NULL;

CREATE TABLE subject (
  -- The latest event of every property or contact.
  feed_no INTEGER NOT NULL,
  subject BLOB NOT NULL,
  position INTEGER NOT NULL,
  published INTEGER NOT NULL,
  category TEXT,
  branch TEXT,
  code TEXT NOT NULL,
  payload_hash BLOB,             -- SHA-256 of the latest payload; NULL after a removal
  spelling TEXT NOT NULL,        -- how the subject's first event spells its UUID; '' for lower case
  update_date_hash BLOB,         -- 8 bytes of a hash of the latest payload's update_date (subject-identity.ts); NULL: it has none
  kept_code TEXT,                -- what the latest event of a restricted contact would be shown with; NULL: it is not restricted
  PRIMARY KEY (feed_no, subject)
) STRICT, WITHOUT ROWID;
-- The latest events in order, so that reading only those never walks through superseded ones.
CREATE INDEX subject_latest ON subject (feed_no, category, position);

-- How many subjects of a feed are there, in its counter: what `published` says of them, counted with each change, whoever makes it.
CREATE TRIGGER subject_appeared AFTER INSERT ON subject WHEN new.published = 1 BEGIN
  UPDATE feed SET live_count = live_count + 1 WHERE feed_no = new.feed_no;
END;
CREATE TRIGGER subject_changed AFTER UPDATE OF published ON subject WHEN new.published <> old.published BEGIN
  UPDATE feed SET live_count = live_count + new.published - old.published WHERE feed_no = new.feed_no;
END;
CREATE TRIGGER subject_gone AFTER DELETE ON subject WHEN old.published = 1 BEGIN
  UPDATE feed SET live_count = live_count - 1 WHERE feed_no = old.feed_no;
END;

CREATE TABLE view (
  -- A part of a feed with dense ordinals of its own. The whole feed needs none: its ordinal is the position.
  feed_no INTEGER NOT NULL,
  view TEXT NOT NULL,
  filter TEXT NOT NULL,          -- what an event must be to stand in it
  last_ordinal INTEGER NOT NULL,
  PRIMARY KEY (feed_no, view)
) STRICT, WITHOUT ROWID;

CREATE TABLE view_entry (
  feed_no INTEGER NOT NULL,
  view TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  position INTEGER NOT NULL,
  created INTEGER NOT NULL,      -- as in event
  PRIMARY KEY (feed_no, view, ordinal)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX view_entry_created ON view_entry (feed_no, view, created);

-- Views of sets of branches (D11, docs/decisions/0042).
CREATE TABLE branch_set (
  -- A set of branches that a grant names. Its views are 'branches.SET.all', '.sales' and '.lettings', rows of `view` as others are.
  feed_no INTEGER NOT NULL,
  branch_set TEXT NOT NULL,      -- 16 hex digits of a hash over its branches
  branches TEXT NOT NULL,        -- as in `key_grant`
  state TEXT NOT NULL,           -- 'filling', 'ready' (appends enter events in its views), 'dropping'
  filled INTEGER NOT NULL,       -- events up to this position are entered; what comes after `ready` is not noted here
  PRIMARY KEY (feed_no, branch_set)
) STRICT, WITHOUT ROWID;

CREATE TABLE branch_of_set (
  -- The branches of the sets, one by one.
  feed_no INTEGER NOT NULL,
  branch TEXT NOT NULL,
  branch_set TEXT NOT NULL,
  PRIMARY KEY (feed_no, branch, branch_set)
) STRICT, WITHOUT ROWID;

CREATE TABLE branch_latest (
  -- Subjects whose latest event is of a branch of the set: so that reading only those never walks through superseded ones.
  feed_no INTEGER NOT NULL,
  subject BLOB NOT NULL,
  branch_set TEXT NOT NULL,
  category TEXT,
  position INTEGER NOT NULL,
  PRIMARY KEY (feed_no, subject, branch_set)
) STRICT, WITHOUT ROWID;
CREATE INDEX branch_latest_order ON branch_latest (feed_no, branch_set, category, position);

-- ── Reading ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- As of which event of a feed a key lists current events. Removed after 10 minutes.
CREATE TABLE moment (
  key_id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  feed INTEGER NOT NULL,           -- 1: property, 2: contact
  view TEXT NOT NULL,
  epoch TEXT NOT NULL,
  position INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  fixed_ms INTEGER NOT NULL,
  used_ms INTEGER NOT NULL,        -- when a page was asked for; 0: the last one was
  PRIMARY KEY (key_id, tenant, feed, view)
) STRICT, WITHOUT ROWID;

-- ── Keys ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE key (
  key_no INTEGER PRIMARY KEY AUTOINCREMENT, -- order of creation; never a number that was given before
  key_id TEXT NOT NULL UNIQUE,
  secret_hash BLOB NOT NULL,     -- HMAC-SHA-256 of the secret with the pepper; the key itself is nowhere
  pepper_id TEXT NOT NULL,
  label TEXT NOT NULL,
  operator INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  revoked_ms INTEGER,
  last_used_ms INTEGER,          -- at most a minute behind
  -- Requests a second and burst of one key (D10). NULL, both: those of the process that serves it.
  rate_per_second INTEGER CHECK (rate_per_second > 0),
  rate_burst INTEGER CHECK (rate_burst > 0),
  admin_scopes TEXT,             -- of an operator key, separated by spaces; NULL: none
  networks TEXT,                 -- that it may be used from, separated by spaces; NULL: any
  replaces TEXT,                 -- id of the key that it was made for
  -- How it reads where that is not as usual (D12, PROTOCOL §3.5). Given when the key is made, and never changed.
  event_types TEXT,              -- whose numbers event types have: 'default', 'published-0'; NULL: the store's
  current_only INTEGER NOT NULL DEFAULT 0, -- 1: its lists show current events
  reference_ids INTEGER NOT NULL DEFAULT 0 -- 1: it is shown references as transaction ids
) STRICT;

CREATE TABLE key_grant (
  key_no INTEGER NOT NULL REFERENCES key (key_no) ON DELETE CASCADE,
  grant_no INTEGER NOT NULL,
  tenant TEXT NOT NULL REFERENCES tenant (tenant),
  scopes TEXT NOT NULL,          -- separated by spaces
  branches TEXT,                 -- a JSON list of `branch_id`s that the grant is limited to (D11); NULL: all. Then `scopes` has marked words
  PRIMARY KEY (key_no, grant_no)
) STRICT, WITHOUT ROWID;
CREATE INDEX key_grant_tenant ON key_grant (tenant, key_no);
CREATE INDEX key_grant_limited ON key_grant (tenant, key_no) WHERE branches IS NOT NULL;

-- Rises with each change of a key, a grant, the pepper, and of whatever else decides what a key may do, by whatever
-- program: a service that has seen a key at this version need not look for it again. Last uses are not counted.
CREATE TABLE keys_version (version INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX keys_version_is_one ON keys_version ((true));
INSERT INTO keys_version VALUES (0);
CREATE TRIGGER key_added AFTER INSERT ON key BEGIN
  UPDATE keys_version SET version = version + 1;
END;
CREATE TRIGGER key_changed AFTER UPDATE OF secret_hash, pepper_id, label, operator, expires_ms, revoked_ms, rate_per_second, rate_burst, admin_scopes, networks ON key BEGIN
  UPDATE keys_version SET version = version + 1;
END;
CREATE TRIGGER key_removed AFTER DELETE ON key BEGIN
  UPDATE keys_version SET version = version + 1;
END;
CREATE TRIGGER key_grant_added AFTER INSERT ON key_grant BEGIN
  UPDATE keys_version SET version = version + 1;
END;
CREATE TRIGGER key_grant_changed AFTER UPDATE ON key_grant BEGIN
  UPDATE keys_version SET version = version + 1;
END;
CREATE TRIGGER key_grant_removed AFTER DELETE ON key_grant BEGIN
  UPDATE keys_version SET version = version + 1;
END;
CREATE TRIGGER tenant_state_changed AFTER UPDATE OF suspended, without_duties ON tenant BEGIN
  UPDATE keys_version SET version = version + 1;
END;
CREATE TRIGGER pepper_first_set AFTER INSERT ON meta WHEN new.name = 'pepper_id' BEGIN
  UPDATE keys_version SET version = version + 1;
END;
CREATE TRIGGER pepper_changed AFTER UPDATE OF value ON meta WHEN new.name = 'pepper_id' BEGIN
  UPDATE keys_version SET version = version + 1;
END;
CREATE TRIGGER leaving_tenant_added AFTER INSERT ON leaving_tenant BEGIN
  UPDATE keys_version SET version = version + 1;
END;
CREATE TRIGGER leaving_tenant_changed AFTER UPDATE OF reading_ends_ms ON leaving_tenant BEGIN
  UPDATE keys_version SET version = version + 1;
END;
CREATE TRIGGER leaving_tenant_removed AFTER DELETE ON leaving_tenant BEGIN
  UPDATE keys_version SET version = version + 1;
END;
-- What a service has seen of a key says whether its views of branches are there.
CREATE TRIGGER branch_set_changed AFTER UPDATE OF state ON branch_set BEGIN
  UPDATE keys_version SET version = version + 1;
END;
CREATE TRIGGER branch_set_removed AFTER DELETE ON branch_set BEGIN
  UPDATE keys_version SET version = version + 1;
END;

-- ── Nodes ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The processes that serve this store, each announcing itself now and then.
CREATE TABLE node (
  node TEXT PRIMARY KEY,         -- random, another one with each start
  place TEXT NOT NULL,           -- machine and process id
  pepper_ids TEXT NOT NULL,      -- of the peppers it knows, separated by spaces
  seen_ms INTEGER NOT NULL,      -- when it last announced itself
  ignores_proxy INTEGER NOT NULL, -- 1: clients come through a proxy that the process does not trust
  console_url TEXT               -- where people reach its console; NULL: it serves none
) STRICT;

-- ── Erasure (D17, docs/decisions/0027): payloads are reduced, and everything else stays ────────────────────────────────────

CREATE TABLE erasure (
  erasure TEXT PRIMARY KEY,        -- UUIDv7, so they lie in the order in which they were begun
  tenant TEXT NOT NULL,
  feed INTEGER NOT NULL,           -- 1: property, 2: contact
  subject BLOB,                    -- agent_ref or contact_ref, 16 bytes; NULL where one event was erased
  event_id BLOB,                   -- of that event; NULL where a subject was erased
  reason TEXT NOT NULL,            -- a code of PROTOCOL §5.7
  case_ref TEXT,
  received_on TEXT,                -- YYYY-MM-DD
  actor TEXT NOT NULL,             -- id of the key that asked for it
  state TEXT NOT NULL,             -- 'reducing', 'reduced', 'unreachable', 'overwritten'
  next_position INTEGER NOT NULL,  -- events before it are reduced
  last_position INTEGER NOT NULL,  -- the last one that is to be reduced
  events INTEGER NOT NULL,         -- how many are to be reduced
  reduced INTEGER NOT NULL,        -- how many of them have been
  revision INTEGER NOT NULL,       -- the feed's, after the last step
  closing_event BLOB,              -- id of the event that closed the subject
  closing_sequence INTEGER,
  begun_ms INTEGER NOT NULL,
  reduced_ms INTEGER,
  unreachable_ms INTEGER,
  overwritten_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX erasure_open ON erasure (erasure) WHERE state IN ('reducing', 'reduced');
-- From a tenant to its receipts, without walking through those of others.
CREATE INDEX erasure_tenant ON erasure (tenant, erasure);

-- Nodes that hold nothing any more that they read of the feed before.
CREATE TABLE erasure_node (
  erasure TEXT NOT NULL,
  node TEXT NOT NULL,
  PRIMARY KEY (erasure, node)
) STRICT, WITHOUT ROWID;

-- Which events were reduced with which revision of their feed: for copies that keep the history.
CREATE TABLE reduced_event (
  feed_no INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  position INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (feed_no, revision, position)
) STRICT, WITHOUT ROWID;

-- Who had been sent an erased contact (D28): what keys had been sent of the feed when an erasure became unreachable, of the hours that
-- reached up to it. Rows of `sent`, which later reads of the same hour are added to.
CREATE TABLE erasure_sent (
  erasure TEXT NOT NULL,
  key_id TEXT NOT NULL,
  view TEXT NOT NULL,
  hour INTEGER NOT NULL,
  block INTEGER NOT NULL,
  ranges TEXT NOT NULL,
  PRIMARY KEY (erasure, hour, key_id, view, block)
) STRICT, WITHOUT ROWID;

-- Erasures for which that was recorded.
CREATE TABLE erasure_disclosure (
  erasure TEXT PRIMARY KEY,
  doubt_ms INTEGER                 -- a run had said nothing since then; NULL: all had
) STRICT, WITHOUT ROWID;

-- ── Holds (D17, docs/decisions/0028): a subject that is not to be erased, nor reduced by retention, until a day ────────────

CREATE TABLE hold (
  hold TEXT PRIMARY KEY,           -- UUIDv7, so they lie in the order in which they were added
  tenant TEXT NOT NULL,
  feed INTEGER NOT NULL,           -- 1: property, 2: contact
  subject BLOB NOT NULL,           -- agent_ref or contact_ref, 16 bytes
  ground TEXT NOT NULL,            -- a code of PROTOCOL §5.7
  case_ref TEXT,
  actor TEXT NOT NULL,
  added_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL,       -- the first one at which it holds no more
  reported_ms INTEGER,             -- when its expiry was reported
  ended_ms INTEGER,                -- NULL: nobody has ended it
  ended_by TEXT
) STRICT, WITHOUT ROWID;
-- Of a subject, those that may hold it.
CREATE INDEX hold_subject ON hold (tenant, feed, subject, until_ms) WHERE ended_ms IS NULL;
CREATE INDEX hold_unreported ON hold (until_ms) WHERE ended_ms IS NULL AND reported_ms IS NULL;
CREATE INDEX hold_tenant ON hold (tenant, hold);

-- ── Restriction (D17, docs/decisions/0033): what was published of a contact is kept, and its events show that it is gone ───

CREATE TABLE kept_event (
  feed_no INTEGER NOT NULL,
  subject BLOB NOT NULL,           -- contact_ref, 16 bytes
  position INTEGER NOT NULL,       -- of the event, whose state is 'restricted'
  sequence INTEGER NOT NULL,
  json BLOB NOT NULL,              -- as it was published
  checksum INTEGER NOT NULL,       -- as in event
  PRIMARY KEY (feed_no, subject, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE restriction (
  restriction TEXT PRIMARY KEY,    -- UUIDv7, so they lie in the order in which they were begun
  tenant TEXT NOT NULL,
  feed INTEGER NOT NULL,           -- 1: property, 2: contact
  subject BLOB NOT NULL,           -- contact_ref, 16 bytes
  reason TEXT NOT NULL,            -- a code of PROTOCOL §5.7
  case_ref TEXT,
  actor TEXT NOT NULL,
  state TEXT NOT NULL,             -- 'hiding', 'hidden', 'restricted', 'lifting', 'lifted', 'erased'
  next_position INTEGER NOT NULL,  -- events before it are hidden, or shown again
  last_position INTEGER NOT NULL,  -- the last one that is to be
  closing_event BLOB NOT NULL,     -- id of the event that took the contact from consumers
  closing_sequence INTEGER NOT NULL,
  begun_ms INTEGER NOT NULL,
  restricted_ms INTEGER,
  ended_ms INTEGER,
  ended_by TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX restriction_open ON restriction (restriction) WHERE state IN ('hiding', 'hidden', 'lifting');
CREATE INDEX restriction_tenant ON restriction (tenant, restriction);
CREATE INDEX restriction_subject ON restriction (tenant, feed, subject)
  WHERE state IN ('hiding', 'hidden', 'restricted', 'lifting');

-- ── Retention (D17, docs/decisions/0034): superseded events lose their payloads with age ───────────────────────────────────

-- What a tenant has in place of the service's own setting.
CREATE TABLE retention_rule (
  tenant TEXT NOT NULL,
  rule TEXT NOT NULL,              -- 'retain-contacts', 'retain-properties', 'expire-contacts'
  days INTEGER NOT NULL,           -- 0: off
  PRIMARY KEY (tenant, rule)
) STRICT, WITHOUT ROWID;

-- How far the two walks through each feed have come (see privacy/retention/retention.ts).
CREATE TABLE thin_progress (
  feed_no INTEGER PRIMARY KEY,
  aged INTEGER NOT NULL,           -- position: what was superseded up to there, and old enough, is thinned
  superseded INTEGER NOT NULL,     -- position: what events up to there have superseded was looked at
  held_from INTEGER,               -- position of the first event that was passed because its subject was on hold or restricted
  held_before INTEGER              -- ticks: what had been superseded before then was due at the time
) STRICT;

-- Which events were thinned with which step of their feed: for moving a tenant.
CREATE TABLE thinned_event (
  feed_no INTEGER NOT NULL,
  thinned INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (feed_no, thinned, position)
) STRICT, WITHOUT ROWID;

-- The node that thins, one at a time.
CREATE TABLE thin_turn (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  node TEXT NOT NULL,
  until_ms INTEGER NOT NULL
) STRICT;
INSERT INTO thin_turn VALUES (1, '', 0);

-- ── Contact expiry (D17, docs/decisions/0034): contacts that have not changed for long ─────────────────────────────────────

-- Those that are to be erased, or that the agency has kept.
CREATE TABLE expiring_contact (
  tenant TEXT NOT NULL,
  subject BLOB NOT NULL,               -- contact_ref, 16 bytes
  position INTEGER NOT NULL,           -- of its latest event; when it has another, this row is about nothing
  unchanged_since_ms INTEGER NOT NULL, -- when that was made, or the contact was kept
  listed_ms INTEGER,                   -- since when it is on the list; NULL: it was kept
  PRIMARY KEY (tenant, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX expiring_contact_kept ON expiring_contact (tenant, unchanged_since_ms) WHERE listed_ms IS NULL;

-- Up to which position the latest events of contacts were looked at.
CREATE TABLE expiry_progress (
  tenant TEXT PRIMARY KEY,
  listed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- ── The log of what was sent (D28) ─────────────────────────────────────────────────────────────────────────────────────────

-- What each key was sent: within an hour, of one block of 16,384 numbers.
CREATE TABLE sent (
  key_id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  feed INTEGER NOT NULL,         -- 1: property, 2: contact
  view TEXT NOT NULL,            -- of ordinals; 'numbers' of sequence numbers
  hour INTEGER NOT NULL,         -- hours since 1970; in the shell: datetime(hour * 3600, 'unixepoch')
  block INTEGER NOT NULL,
  ranges TEXT NOT NULL,          -- JSON: [first, last] of each, ascending
  PRIMARY KEY (key_id, tenant, feed, view, hour, block)
) STRICT, WITHOUT ROWID;
-- From a block of a feed to what keys were sent of it: for the recipients of what was erased.
CREATE INDEX sent_block ON sent (tenant, feed, block, hour, key_id, view);

-- The threads that send, each with how far what it has sent stands in the table above.
CREATE TABLE sent_run (
  run TEXT PRIMARY KEY,          -- random, another one with each start
  began_ms INTEGER NOT NULL,
  through_ms INTEGER NOT NULL,
  lost_ms INTEGER,               -- found silent at that time
  ended INTEGER NOT NULL         -- 1: all it sent stands there
) STRICT;

-- ── Consumers: who has seen what (D28) ─────────────────────────────────────────────────────────────────────────────────────

-- The consumers of feeds: a key, or a key and a name.
CREATE TABLE consumer (
  tenant TEXT NOT NULL,
  feed INTEGER NOT NULL,           -- 1: property, 2: contact
  key_id TEXT NOT NULL,
  name TEXT NOT NULL,              -- 'default': the key itself
  acknowledged INTEGER,            -- sequence number up to which it has done everything, as it says; NULL: it has not said
  epoch TEXT,                      -- of that number
  acknowledged_ms INTEGER,
  PRIMARY KEY (tenant, feed, key_id, name)
) STRICT, WITHOUT ROWID;

-- What a consumer was sent of one view, and how its last request of it went.
CREATE TABLE consumer_view (
  tenant TEXT NOT NULL,
  feed INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  name TEXT NOT NULL,
  view TEXT NOT NULL,              -- 'single': events that were asked for one by one
  space TEXT NOT NULL,             -- what the numbers are: 'ordinals' of the view, 'positions', or sequence 'numbers'
  epoch TEXT NOT NULL,             -- of ordinals and positions; empty for numbers
  ranges TEXT NOT NULL,            -- JSON: [first, last] of each, ascending; 500 at most
  asked_ms INTEGER NOT NULL,
  quiet_ms INTEGER,                -- last told that there is nothing new
  status INTEGER NOT NULL,
  route TEXT NOT NULL,
  PRIMARY KEY (tenant, feed, key_id, name, view, space, epoch)
) STRICT, WITHOUT ROWID;

-- When each number of it was first sent, for some months. The rows of a view, space and epoch never overlap.
CREATE TABLE consumer_sent (
  tenant TEXT NOT NULL,
  feed INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  name TEXT NOT NULL,
  view TEXT NOT NULL,
  space TEXT NOT NULL,
  epoch TEXT NOT NULL,
  low INTEGER NOT NULL,            -- the first and the last number
  high INTEGER NOT NULL,
  minute INTEGER NOT NULL,         -- minutes since 1970; in the shell: datetime(minute * 60, 'unixepoch')
  route TEXT NOT NULL,
  PRIMARY KEY (tenant, feed, key_id, name, view, space, epoch, low)
) STRICT, WITHOUT ROWID;
CREATE INDEX consumer_sent_minute ON consumer_sent (minute);
CREATE INDEX consumer_sent_of ON consumer_sent (tenant, feed, key_id, name, minute);

-- Requests of consumers that were refused, by code.
CREATE TABLE consumer_refusal (
  key_id TEXT NOT NULL,
  name TEXT NOT NULL,
  tenant TEXT NOT NULL,            -- empty: refused before the tenant was known
  code TEXT NOT NULL,
  status INTEGER NOT NULL,
  since_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (key_id, name, tenant, code)
) STRICT, WITHOUT ROWID;

-- What became of properties at consumers, as they say.
CREATE TABLE consumer_result (
  tenant TEXT NOT NULL,
  subject BLOB NOT NULL,           -- agent_ref, 16 bytes
  key_id TEXT NOT NULL,
  name TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  outcome TEXT NOT NULL,           -- live, held, refused
  code TEXT,
  message TEXT,
  url TEXT,
  result_ms INTEGER NOT NULL,
  PRIMARY KEY (tenant, subject, key_id, name)
) STRICT, WITHOUT ROWID;

-- The same as a log, for some months: a row for each change of outcome or address, and for the first report after the
-- property was withdrawn or published again.
CREATE TABLE consumer_result_change (
  tenant TEXT NOT NULL,
  subject BLOB NOT NULL,           -- agent_ref, 16 bytes
  key_id TEXT NOT NULL,
  name TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  result_ms INTEGER NOT NULL,
  outcome TEXT NOT NULL,           -- live, held, refused
  code TEXT,
  url TEXT,
  PRIMARY KEY (tenant, subject, key_id, name, sequence, result_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX consumer_result_change_ms ON consumer_result_change (result_ms);

-- An erasure takes what consumers have said, which may have been made of the payloads: their words, and addresses of pages. That of one
-- event takes what was said of that version by any number: up to the property's next event.
CREATE TRIGGER erasure_takes_results AFTER INSERT ON erasure WHEN NEW.feed = 1 BEGIN
  DELETE FROM consumer_result WHERE tenant = NEW.tenant AND subject = NEW.subject;
  DELETE FROM consumer_result
  WHERE NEW.subject IS NULL AND tenant = NEW.tenant
    AND subject = (SELECT subject FROM event WHERE place =
      (SELECT feed_no << 40 | NEW.last_position FROM feed_key WHERE tenant = NEW.tenant AND feed = 1))
    AND sequence >= (SELECT sequence FROM event WHERE place =
      (SELECT feed_no << 40 | NEW.last_position FROM feed_key WHERE tenant = NEW.tenant AND feed = 1))
    AND sequence < coalesce((SELECT later.sequence FROM event AS taken
      JOIN event AS later INDEXED BY event_subject
        ON later.feed_no = taken.feed_no AND later.subject = taken.subject AND later.place > taken.place
      WHERE taken.place = (SELECT feed_no << 40 | NEW.last_position FROM feed_key WHERE tenant = NEW.tenant AND feed = 1)
      ORDER BY later.place LIMIT 1), 1 << 53);
  DELETE FROM consumer_result_change WHERE tenant = NEW.tenant AND subject = NEW.subject;
  DELETE FROM consumer_result_change
  WHERE NEW.subject IS NULL AND tenant = NEW.tenant
    AND subject = (SELECT subject FROM event WHERE place =
      (SELECT feed_no << 40 | NEW.last_position FROM feed_key WHERE tenant = NEW.tenant AND feed = 1))
    AND sequence >= (SELECT sequence FROM event WHERE place =
      (SELECT feed_no << 40 | NEW.last_position FROM feed_key WHERE tenant = NEW.tenant AND feed = 1))
    AND sequence < coalesce((SELECT later.sequence FROM event AS taken
      JOIN event AS later INDEXED BY event_subject
        ON later.feed_no = taken.feed_no AND later.subject = taken.subject AND later.place > taken.place
      WHERE taken.place = (SELECT feed_no << 40 | NEW.last_position FROM feed_key WHERE tenant = NEW.tenant AND feed = 1)
      ORDER BY later.place LIMIT 1), 1 << 53);
END;

-- ── Webhooks: the endpoints of tenants, and how far each of them is (D30) ──────────────────────────────────────────────────

CREATE TABLE webhook (
  endpoint_no INTEGER PRIMARY KEY AUTOINCREMENT,
  endpoint_id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  feed INTEGER NOT NULL,
  key_id TEXT NOT NULL,           -- whose rights it has
  rights TEXT NOT NULL,           -- JSON: what that key could read when the endpoint was made
  created_ms INTEGER NOT NULL,
  url TEXT NOT NULL,
  label TEXT NOT NULL,
  events TEXT NOT NULL,           -- 'feed', 'operations'
  view TEXT NOT NULL,
  payload TEXT NOT NULL,          -- 'full', 'thin'
  changes INTEGER NOT NULL,       -- 1: what has changed is sent too
  mode TEXT NOT NULL,             -- 'every', 'latest'
  format TEXT NOT NULL,           -- 'event', 'cloudevents'
  concurrency INTEGER NOT NULL,
  max_per_second INTEGER,         -- NULL: no limit
  timeout_seconds INTEGER NOT NULL,
  state TEXT NOT NULL,            -- 'enabled', 'paused', 'disabled'
  reason TEXT,                    -- why it is not enabled
  since_ms INTEGER,               -- since when
  settled INTEGER NOT NULL,       -- nothing up to this number is left, but for what waits
  epoch TEXT NOT NULL,            -- of which it was told last
  failing_since_ms INTEGER,       -- NULL: it works
  acknowledged INTEGER,           -- the number that was acknowledged last
  acknowledged_ms INTEGER,
  logged INTEGER NOT NULL,        -- the last number in its log
  writes INTEGER NOT NULL,        -- what senders have written so far; one that counts more has lost what it wrote
  lease_no INTEGER NOT NULL,      -- rises whenever another may send, or something else is to be sent
  lease_node TEXT                 -- the node that sends; NULL: none does
) STRICT;
CREATE INDEX webhook_tenant ON webhook (tenant, endpoint_id);
CREATE INDEX webhook_key ON webhook (key_id);
CREATE INDEX webhook_sending ON webhook (lease_node, endpoint_no) WHERE state = 'enabled';

-- What an endpoint's messages are signed with.
CREATE TABLE webhook_secret (
  secret_id TEXT PRIMARY KEY,
  endpoint_no INTEGER NOT NULL,
  sealed BLOB NOT NULL,           -- AES-256-GCM, with a key from the pepper
  pepper_id TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  ends_ms INTEGER                 -- it signs until then; NULL: until it is replaced
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_secret_endpoint ON webhook_secret (endpoint_no);

-- Properties whose oldest event was refused: one row for each. Their later events stand behind it, and are found in the feed.
CREATE TABLE webhook_waiting (
  endpoint_no INTEGER NOT NULL,
  subject BLOB NOT NULL,          -- 16 bytes
  sequence INTEGER NOT NULL,      -- of the event that is sent next
  tries INTEGER NOT NULL,
  next_try_ms INTEGER NOT NULL,   -- 0: at once
  PRIMARY KEY (endpoint_no, subject)
) STRICT, WITHOUT ROWID;

-- Events that were given up, until somebody has them sent again.
CREATE TABLE webhook_given_up (
  endpoint_no INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  subject BLOB NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (endpoint_no, sequence)
) STRICT, WITHOUT ROWID;

-- The version that each property was acknowledged with, where changes since then are sent.
CREATE TABLE webhook_version (
  endpoint_no INTEGER NOT NULL,
  subject BLOB NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (endpoint_no, subject)
) STRICT, WITHOUT ROWID;

-- What was tried, for 7 days, and at most the last 10,000 tries of an endpoint.
CREATE TABLE webhook_delivery (
  endpoint_no INTEGER NOT NULL,
  delivery_no INTEGER NOT NULL,   -- 1, 2, 3 … of an endpoint
  at_ms INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  sequence INTEGER,               -- NULL: not an event of the feed
  subject BLOB,
  outcome TEXT NOT NULL,          -- 'acknowledged', 'refused', 'unreachable', 'postponed', 'givenUp'
  status INTEGER,                 -- of the answer; NULL: there was none
  took_ms INTEGER NOT NULL,
  answer TEXT,                    -- its beginning, or why there was none; NULL: not kept
  PRIMARY KEY (endpoint_no, delivery_no)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_delivery_subject ON webhook_delivery (endpoint_no, subject, delivery_no) WHERE subject IS NOT NULL;

-- An erasure takes what receivers have answered about its subject: what was tried stays. So does each step of its end, since tries were
-- under way when it began, and it ends when every node has forgotten what it read before.
CREATE TRIGGER erasure_takes_answers AFTER INSERT ON erasure BEGIN
  UPDATE webhook_delivery SET answer = NULL
  WHERE answer IS NOT NULL
    AND endpoint_no IN (SELECT endpoint_no FROM webhook WHERE tenant = NEW.tenant AND feed = NEW.feed)
    AND subject = coalesce(NEW.subject, (SELECT subject FROM event WHERE place =
      (SELECT feed_no << 40 | NEW.last_position FROM feed_key WHERE tenant = NEW.tenant AND feed = NEW.feed)));
END;
CREATE TRIGGER erasure_takes_late_answers AFTER UPDATE OF state ON erasure WHEN NEW.state <> OLD.state BEGIN
  UPDATE webhook_delivery SET answer = NULL
  WHERE answer IS NOT NULL
    AND endpoint_no IN (SELECT endpoint_no FROM webhook WHERE tenant = NEW.tenant AND feed = NEW.feed)
    AND subject = coalesce(NEW.subject, (SELECT subject FROM event WHERE place =
      (SELECT feed_no << 40 | NEW.last_position FROM feed_key WHERE tenant = NEW.tenant AND feed = NEW.feed)));
END;

-- What happened to endpoints, for those endpoints of their tenant that are sent operations.
CREATE TABLE webhook_notice (
  notice_no INTEGER PRIMARY KEY AUTOINCREMENT,-- in the order of commits
  tenant TEXT NOT NULL,
  feed INTEGER NOT NULL,
  endpoint_id TEXT NOT NULL,
  kind TEXT NOT NULL,             -- 'webhook.failing', 'webhook.disabled', 'webhook.recovered'
  reason TEXT,
  at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_notice_tenant ON webhook_notice (tenant, feed, notice_no);
CREATE INDEX webhook_notice_at ON webhook_notice (at_ms);

-- The nodes that send. What a node is to send is its own for as long as it stands here.
CREATE TABLE webhook_sender (
  node TEXT PRIMARY KEY,
  until_ms INTEGER NOT NULL       -- from then on another may take what it has
) STRICT, WITHOUT ROWID;

-- ── Silence (PROTOCOL §14.7): when publishers and consumers were last there, and what is expected of them ──────────────────

CREATE TABLE presence (
  kind INTEGER NOT NULL,           -- 1: what publishes to a feed, 2: a consumer
  tenant TEXT NOT NULL,            -- of a publisher
  key_id TEXT NOT NULL,            -- of a consumer
  part TEXT NOT NULL,              -- the publisher's feed, or the consumer's name; 'default': the key itself
  first_ms INTEGER,                -- NULL: not seen yet
  last_ms INTEGER,                 -- to some minutes
  pauses TEXT NOT NULL,            -- JSON: [day, milliseconds], the longest pause that ended on each of the last 14 days
  active_ms INTEGER,               -- since when something can be expected of it
  silent_ms INTEGER,               -- since when it is silent; NULL: it is not
  reported INTEGER NOT NULL,       -- 0: its silence, or the end of it, is still to be reported
  expected_ms INTEGER,             -- as it was set; 0: nothing is expected; NULL: it is learned
  PRIMARY KEY (kind, tenant, key_id, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX presence_silent ON presence (silent_ms) WHERE silent_ms IS NOT NULL;

-- The node that looks, one at a time.
CREATE TABLE silence_turn (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  number INTEGER NOT NULL,
  checked_ms INTEGER NOT NULL,
  watched_ms INTEGER NOT NULL,     -- since when there were no more than some minutes between two looks
  minute INTEGER NOT NULL          -- up to which publications were looked through
) STRICT;
INSERT INTO silence_turn VALUES (1, 0, 0, 0, 0);

-- ── Audit: who changed what, written in the commit of the change ───────────────────────────────────────────────────────────

-- Look at it with:
--   SELECT datetime(at_ms / 1000, 'unixepoch'), actor, action, tenant, target, detail FROM audit ORDER BY audit_no
CREATE TABLE audit (
  audit_no INTEGER PRIMARY KEY AUTOINCREMENT, -- order of commits; no number is given twice
  id TEXT NOT NULL UNIQUE,       -- UUID version 7
  at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,           -- 'key:' or 'cli:' and an opaque id, or 'service'
  action TEXT NOT NULL,
  tenant TEXT,                   -- NULL: of no tenant
  target TEXT,                   -- id of what was changed
  detail TEXT NOT NULL           -- JSON
) STRICT;
CREATE INDEX audit_tenant ON audit (tenant, audit_no);
CREATE INDEX audit_target ON audit (target, audit_no);
CREATE INDEX audit_at ON audit (at_ms);
CREATE INDEX audit_action ON audit (action, audit_no);

-- A row stays as it is. `audit prune` names the time, in milliseconds, before which rows may go, until its commit.
CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN
  SELECT raise(ABORT, 'rows of the audit are never changed');
END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit
WHEN OLD.at_ms >= coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'audit_pruned_before'), 0)
BEGIN
  SELECT raise(ABORT, 'rows of the audit are removed by audit prune alone');
END;
-- REPLACE would remove a row without a word to the trigger above.
CREATE TRIGGER audit_not_replaced BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id OR audit_no = NEW.audit_no)
BEGIN
  SELECT raise(ABORT, 'rows of the audit are never changed');
END;

-- Names of actors, apart from the audit (docs/decisions/0039): a row here can be erased.
CREATE TABLE actor_name (
  actor TEXT PRIMARY KEY,           -- as in audit
  name TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- ── Usage: requests of keys (PROTOCOL §14) ─────────────────────────────────────────────────────────────────────────────────

-- In order of time first: what is added to in one half minute lies together, on as few pages as it can, and each page is written once.
CREATE TABLE usage_hour (
  hour INTEGER NOT NULL,       -- hours since 1970, UTC
  key_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  status INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (hour, key_id, operation, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_day (
  day INTEGER NOT NULL,        -- days since 1970, UTC
  key_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  status INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (day, key_id, operation, status)
) STRICT, WITHOUT ROWID;

-- ── Publications: what was published (PROTOCOL §14). Numbers and codes, nothing of any payload ─────────────────────────────

CREATE TABLE published (
  tenant TEXT NOT NULL,
  minute INTEGER NOT NULL,         -- minutes since 1970, UTC
  feed INTEGER NOT NULL,           -- 1: property, 2: contact
  key_id TEXT NOT NULL,
  requests INTEGER NOT NULL,       -- refused ones included
  stored INTEGER NOT NULL,
  repeated INTEGER NOT NULL,
  unchanged INTEGER NOT NULL,
  first_sequence INTEGER,          -- of what was stored; NULL: nothing was
  last_sequence INTEGER,
  warnings TEXT NOT NULL,          -- JSON: how often each code came
  refused INTEGER NOT NULL,
  warning_places TEXT NOT NULL,    -- JSON: by code, examples of where it came: pointers, no values (PROTOCOL §14.2)
  PRIMARY KEY (tenant, minute, feed, key_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX published_minute ON published (minute);

-- Refusals one by one, the first 100 of a key and hour.
CREATE TABLE refusal (
  tenant TEXT NOT NULL,
  minute INTEGER NOT NULL,
  feed INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  place INTEGER NOT NULL,          -- which of the key and hour it is, from 0
  at_ms INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  code TEXT NOT NULL,
  faults TEXT NOT NULL,            -- JSON: pointers and codes, no values
  PRIMARY KEY (tenant, minute, feed, key_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX refusal_minute ON refusal (minute);

CREATE TABLE refusal_hour (
  hour INTEGER NOT NULL,           -- hours since 1970, UTC
  key_id TEXT NOT NULL,
  refusals INTEGER NOT NULL,
  PRIMARY KEY (hour, key_id)
) STRICT, WITHOUT ROWID;

-- ── Console sessions: who is signed in to the console, and links that sign somebody in (PROTOCOL §15) ──────────────────────

-- Secrets stand here as SHA-256 hashes alone.
CREATE TABLE login_link (
  link_hash TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  expires_ms INTEGER NOT NULL    -- of no use from then on
) STRICT, WITHOUT ROWID;
CREATE INDEX login_link_by_end ON login_link (expires_ms);

CREATE TABLE console_session (
  cookie_hash TEXT PRIMARY KEY,
  half_hash TEXT NOT NULL,       -- of what the page sends beside the cookie
  key_id TEXT NOT NULL,
  begun_ms INTEGER NOT NULL,
  ends_ms INTEGER NOT NULL,
  used_ms INTEGER NOT NULL       -- at most a minute behind
) STRICT, WITHOUT ROWID;
CREATE INDEX console_session_by_key ON console_session (key_id, used_ms);
CREATE INDEX console_session_by_use ON console_session (used_ms);
