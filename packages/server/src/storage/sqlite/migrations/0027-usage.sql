-- Requests of keys (PROTOCOL §14). The tables are empty, so the step takes milliseconds. In order of time first: what is added to in one
-- half minute lies together, on as few pages as it can, and each page is written once.
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
