-- Views of sets of branches (D11, docs/decisions/0042). What is new is empty, and `key_grant` has a row a grant: the step takes milliseconds.

CREATE TABLE branch_set (
  -- A set of branches that a grant names. Its views are 'branches.SET.all', '.sales' and '.lettings', rows of `view` as others are.
  feed_no INTEGER NOT NULL,
  branch_set TEXT NOT NULL,      -- 16 hex digits of a hash over its branches
  branches TEXT NOT NULL,        -- as in `key_grant`
  state TEXT NOT NULL,           -- 'filling', 'ready' (appends enter events in its views), 'dropping'
  filled INTEGER NOT NULL,       -- events up to this position are entered; what comes after `ready` is not noted here
  PRIMARY KEY (feed_no, branch_set)
) STRICT, WITHOUT ROWID;

CREATE TABLE branch_of_set (
  -- The branches of the sets, one by one.
  feed_no INTEGER NOT NULL,
  branch TEXT NOT NULL,
  branch_set TEXT NOT NULL,
  PRIMARY KEY (feed_no, branch, branch_set)
) STRICT, WITHOUT ROWID;

CREATE TABLE branch_latest (
  -- Subjects whose latest event is of a branch of the set: so that reading only those never walks through superseded ones.
  feed_no INTEGER NOT NULL,
  subject BLOB NOT NULL,
  branch_set TEXT NOT NULL,
  category TEXT,
  position INTEGER NOT NULL,
  PRIMARY KEY (feed_no, subject, branch_set)
) STRICT, WITHOUT ROWID;
CREATE INDEX branch_latest_order ON branch_latest (feed_no, branch_set, category, position);

CREATE INDEX key_grant_limited ON key_grant (tenant, key_no) WHERE branches IS NOT NULL;

ALTER TABLE feed ADD COLUMN branch_views INTEGER NOT NULL DEFAULT 0; -- 1: it has views that appends enter events in

-- What a service has seen of a key says whether its views are there.
CREATE TRIGGER branch_set_changed AFTER UPDATE OF state ON branch_set BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
CREATE TRIGGER branch_set_removed AFTER DELETE ON branch_set BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
