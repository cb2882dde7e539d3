-- Contacts that have not changed for long (D17, docs/decisions/0034).

-- Those that are to be erased, or that the agency has kept.
CREATE TABLE expiring_contact (
  tenant uuid NOT NULL,
  subject uuid NOT NULL,              -- contact_ref
  position bigint NOT NULL,           -- of its latest event; when it has another, this row is about nothing
  unchanged_since_ms bigint NOT NULL, -- when that was made, or the contact was kept; milliseconds since 1970
  listed_ms bigint,                   -- since when it is on the list; NULL: it was kept
  PRIMARY KEY (tenant, subject)
);
CREATE INDEX expiring_contact_kept ON expiring_contact (tenant, unchanged_since_ms) WHERE listed_ms IS NULL;

-- Up to which position the latest events of contacts were looked at.
CREATE TABLE expiry_progress (
  tenant uuid PRIMARY KEY,
  listed bigint NOT NULL
);

SELECT share_with_nodes('expiring_contact', 'SELECT, INSERT, UPDATE, DELETE'),
  share_with_nodes('expiry_progress', 'SELECT, INSERT, UPDATE');
