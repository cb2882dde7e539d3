-- Deleting a tenant with all it owns (docs/decisions/0044). New tables, and three indexes of small ones: milliseconds.
CREATE TABLE tenant_deletion (
  deletion TEXT PRIMARY KEY,        -- UUIDv7, so they lie in the order in which they were begun
  tenant TEXT NOT NULL,
  actor TEXT NOT NULL,
  state TEXT NOT NULL,              -- 'exporting', 'deleting', 'forgetting', 'deleted'
  said TEXT NOT NULL,               -- JSON: the export, the feeds as they were, and the name until it is 'deleted'
  counts TEXT NOT NULL,             -- JSON: rows removed so far
  property_digest TEXT NOT NULL,    -- of the events removed so far (deletion-record.ts)
  contact_digest TEXT NOT NULL,
  exporter TEXT,                    -- the node that writes the export
  property_no INTEGER,              -- feed_no of its feeds, which nobody else is given; NULL in a copy
  contact_no INTEGER,
  begun_ms INTEGER NOT NULL,        -- milliseconds since 1970
  deleted_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tenant_deletion_open ON tenant_deletion (tenant) WHERE state <> 'deleted';
-- A tenant that is made again has the feed_no it had: connections remember them.
CREATE INDEX tenant_deletion_tenant ON tenant_deletion (tenant, deletion);

-- Nodes that hold nothing any more that they read of the tenant.
CREATE TABLE tenant_deletion_node (
  deletion TEXT NOT NULL,
  node TEXT NOT NULL,
  PRIMARY KEY (deletion, node)
) STRICT, WITHOUT ROWID;

-- From a tenant to its receipts, holds and restrictions, without walking through those of others.
CREATE INDEX erasure_feed ON erasure (feed_no, erasure);
CREATE INDEX hold_feed ON hold (feed_no, hold);
CREATE INDEX restriction_feed ON restriction (feed_no, restriction);
