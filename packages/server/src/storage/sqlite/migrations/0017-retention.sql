-- Retention (D17, docs/decisions/0034): superseded events lose their payloads with age.

-- Rises with every step that took some; it enters names of segments and entity tags.
ALTER TABLE feed ADD COLUMN thinned INTEGER NOT NULL DEFAULT 0;

-- What a tenant has in place of the service's own setting.
CREATE TABLE retention_rule (
  tenant TEXT NOT NULL,
  rule TEXT NOT NULL,              -- 'retain-contacts', 'retain-properties', 'expire-contacts'
  days INTEGER NOT NULL,           -- 0: off
  PRIMARY KEY (tenant, rule)
) STRICT, WITHOUT ROWID;

-- How far the two walks through each feed have come (see storage/retention-store.ts).
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
