-- Who has seen what (D28). All tables are empty, so the step takes milliseconds. Texts of primary keys are compared by bytes, whatever the
-- database's collation, so that rows are locked in one order.

-- The consumers of feeds: a key, or a key and a name.
CREATE TABLE consumer (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,  -- 'default': the key itself
  acknowledged bigint,             -- sequence number up to which it has done everything, as it says; NULL: it has not said
  epoch text,                      -- of that number
  acknowledged_ms bigint,          -- milliseconds since 1970
  PRIMARY KEY (tenant, feed, key_id, name)
) WITH (fillfactor = 70);

-- What a consumer was sent of one view, and how its last request of it went.
CREATE TABLE consumer_view (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  view text COLLATE "C" NOT NULL,  -- 'single': events that were asked for one by one
  space text COLLATE "C" NOT NULL, -- what the numbers are: 'ordinals' of the view, 'positions', or sequence 'numbers'
  epoch text COLLATE "C" NOT NULL, -- of ordinals and positions; empty for numbers
  ranges int8multirange NOT NULL,  -- 500 at most
  asked_ms bigint NOT NULL,
  quiet_ms bigint,                 -- last told that there is nothing new
  status smallint NOT NULL,
  route text NOT NULL,
  PRIMARY KEY (tenant, feed, key_id, name, view, space, epoch)
) WITH (fillfactor = 70);

-- The same by minute and route, for some days.
CREATE TABLE consumer_sent (
  tenant uuid NOT NULL,
  feed smallint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  minute integer NOT NULL,         -- minutes since 1970
  view text COLLATE "C" NOT NULL,
  space text COLLATE "C" NOT NULL,
  epoch text COLLATE "C" NOT NULL,
  route text COLLATE "C" NOT NULL,
  ranges int8multirange NOT NULL,
  PRIMARY KEY (tenant, feed, key_id, name, minute, view, space, epoch, route)
);
CREATE INDEX consumer_sent_minute ON consumer_sent (minute);

-- Requests of consumers that were refused, by code.
CREATE TABLE consumer_refusal (
  key_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL, -- empty: refused before the tenant was known
  code text COLLATE "C" NOT NULL,
  status smallint NOT NULL,
  since_ms bigint NOT NULL,
  last_ms bigint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (key_id, name, tenant, code)
) WITH (fillfactor = 70);

-- What became of properties at consumers, as they say.
CREATE TABLE consumer_result (
  tenant uuid NOT NULL,
  subject uuid NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  outcome text NOT NULL,           -- live, held, refused
  code text,
  message text,
  url text,
  result_ms bigint NOT NULL,
  PRIMARY KEY (tenant, subject, key_id, name)
);

SELECT share_with_nodes('consumer', 'SELECT, INSERT, UPDATE, DELETE'), share_with_nodes('consumer_view', 'SELECT, INSERT, UPDATE, DELETE'),
  share_with_nodes('consumer_sent', 'SELECT, INSERT, UPDATE, DELETE'), share_with_nodes('consumer_refusal', 'SELECT, INSERT, UPDATE, DELETE'),
  share_with_nodes('consumer_result', 'SELECT, INSERT, UPDATE, DELETE');

-- An erasure takes what consumers have said, which may have been made of the payloads: their words, and addresses of pages. The trigger
-- locks the table of erasures for a moment.
CREATE FUNCTION take_results() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF NEW.feed = 1 AND NEW.subject IS NOT NULL THEN
    DELETE FROM consumer_result WHERE tenant = NEW.tenant AND subject = NEW.subject;
  ELSIF NEW.feed = 1 THEN
    DELETE FROM consumer_result AS r USING event AS e
    WHERE e.tenant = NEW.tenant AND e.feed = NEW.feed AND e.position = NEW.last_position
      AND r.tenant = e.tenant AND r.subject = e.subject AND r.sequence = e.sequence;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER erasure_takes_results AFTER INSERT ON erasure FOR EACH ROW EXECUTE FUNCTION take_results();
