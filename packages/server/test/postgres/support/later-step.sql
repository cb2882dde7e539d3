-- A step as a later version of the program would bring one, for tests: a column, a table of nodes, and work for afterwards.
ALTER TABLE subject ADD COLUMN noticed bigint;
CREATE TABLE notice (tenant uuid NOT NULL, text text NOT NULL);
INSERT INTO notice SELECT tenant, 'Croeso i’r fersiwn newydd – £0 🏡' FROM tenant;
SELECT share_with_nodes('notice', 'SELECT, INSERT');

CREATE FUNCTION notice_subjects(most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  done integer;
BEGIN
  UPDATE subject SET noticed = position WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM subject WHERE noticed IS NULL ORDER BY position LIMIT most));
  GET DIAGNOSTICS done = ROW_COUNT;
  RETURN done;
END $$;
