-- Requests of keys (PROTOCOL §14). The tables are empty, so the step takes milliseconds. In order of time first: what nodes add to in one
-- half minute lies together. Half of each page of hours is left free, so that a row that is added to stays on its page, and no
-- index is touched.
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

SELECT share_with_nodes('usage_hour', 'SELECT, INSERT, UPDATE, DELETE');
SELECT share_with_nodes('usage_day', 'SELECT, INSERT, UPDATE, DELETE');
