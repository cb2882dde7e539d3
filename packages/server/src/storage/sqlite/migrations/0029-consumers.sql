-- Who has seen what (D28). All tables are empty, so the step takes milliseconds.

-- The consumers of feeds: a key, or a key and a name.
CREATE TABLE consumer (
  tenant TEXT NOT NULL,
  feed TEXT NOT NULL,
  key_id TEXT NOT NULL,
  name TEXT NOT NULL,              -- 'default': the key itself
  acknowledged INTEGER,            -- sequence number up to which it has done everything, as it says; NULL: it has not said
  epoch TEXT,                      -- of that number
  acknowledged_ms INTEGER,         -- milliseconds since 1970
  PRIMARY KEY (tenant, feed, key_id, name)
) STRICT, WITHOUT ROWID;

-- What a consumer was sent of one view, and how its last request of it went.
CREATE TABLE consumer_view (
  tenant TEXT NOT NULL,
  feed TEXT NOT NULL,
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

-- The same by minute and route, for some days.
CREATE TABLE consumer_sent (
  tenant TEXT NOT NULL,
  feed TEXT NOT NULL,
  key_id TEXT NOT NULL,
  name TEXT NOT NULL,
  minute INTEGER NOT NULL,         -- minutes since 1970; in the shell: datetime(minute * 60, 'unixepoch')
  view TEXT NOT NULL,
  space TEXT NOT NULL,
  epoch TEXT NOT NULL,
  route TEXT NOT NULL,
  low INTEGER NOT NULL,            -- the first and the last number of the ranges
  high INTEGER NOT NULL,
  ranges TEXT NOT NULL,
  PRIMARY KEY (tenant, feed, key_id, name, minute, view, space, epoch, route)
) STRICT, WITHOUT ROWID;
CREATE INDEX consumer_sent_minute ON consumer_sent (minute);

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

-- An erasure takes what consumers have said, which may have been made of the payloads: their words, and addresses of pages.
CREATE TRIGGER erasure_takes_results AFTER INSERT ON erasure BEGIN
  DELETE FROM consumer_result
  WHERE tenant = (SELECT tenant FROM feed WHERE feed_no = NEW.feed_no AND feed = 'property') AND subject = NEW.subject;
  DELETE FROM consumer_result
  WHERE NEW.subject IS NULL AND tenant = (SELECT tenant FROM feed WHERE feed_no = NEW.feed_no AND feed = 'property')
    AND (subject, sequence) IN (SELECT subject, sequence FROM event WHERE place = (NEW.feed_no << 40) | NEW.last_position);
END;
