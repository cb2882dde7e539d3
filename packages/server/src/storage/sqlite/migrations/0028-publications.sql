-- What was published (PROTOCOL §14): numbers and codes, nothing of any payload. The tables are empty, so the step takes milliseconds.
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
  at_ms INTEGER NOT NULL,          -- milliseconds since 1970
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
