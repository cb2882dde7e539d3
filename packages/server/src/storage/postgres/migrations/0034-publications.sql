-- What was published (PROTOCOL §14): numbers and codes, nothing of any payload. The tables are empty, so the step takes milliseconds.
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
  warnings jsonb NOT NULL,         -- how often each code came
  refused bigint NOT NULL,
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
  at_ms bigint NOT NULL,           -- milliseconds since 1970
  request_id text NOT NULL,
  code text NOT NULL,
  faults jsonb NOT NULL,           -- pointers and codes, no values
  PRIMARY KEY (tenant, minute, feed, key_id, place)
);
CREATE INDEX refusal_minute ON refusal (minute);

CREATE TABLE refusal_hour (
  hour integer NOT NULL,           -- hours since 1970, UTC
  key_id text COLLATE "C" NOT NULL,
  refusals bigint NOT NULL,
  PRIMARY KEY (hour, key_id)
) WITH (fillfactor = 70);

SELECT share_with_nodes('published', 'SELECT, INSERT, UPDATE, DELETE');
SELECT share_with_nodes('refusal', 'SELECT, INSERT, UPDATE, DELETE');
SELECT share_with_nodes('refusal_hour', 'SELECT, INSERT, UPDATE, DELETE');
