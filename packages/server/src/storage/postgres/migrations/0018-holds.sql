-- Holds (D17, docs/decisions/0028): a property or contact that is not to be erased, nor reduced by retention, until a day.
CREATE TABLE hold (
  hold uuid PRIMARY KEY,           -- UUIDv7, so they lie in the order in which they were added
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  subject uuid NOT NULL,           -- agent_ref or contact_ref
  ground text NOT NULL,            -- a code of PROTOCOL §5.7
  case_ref text,
  actor text NOT NULL,
  added_ms bigint NOT NULL,        -- milliseconds since 1970
  until_ms bigint NOT NULL,        -- the first one at which it holds no more
  reported_ms bigint,              -- when its expiry was reported
  ended_ms bigint,                 -- NULL: nobody has ended it
  ended_by text
);
CREATE INDEX hold_tenant ON hold (tenant, hold);
CREATE INDEX hold_unreported ON hold (until_ms) WHERE ended_ms IS NULL AND reported_ms IS NULL;
-- Of a subject, those that may hold it.
CREATE INDEX hold_subject ON hold (tenant, feed, subject, until_ms) WHERE ended_ms IS NULL;

SELECT share_with_nodes('hold', 'SELECT, INSERT, UPDATE');
