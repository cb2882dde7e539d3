-- Names of actors, apart from the audit (docs/decisions/0039): a row here can be erased. A new table: nothing that is in use is locked.
CREATE TABLE actor_name (
  actor text PRIMARY KEY,           -- as in audit
  name text NOT NULL
);
-- Samples of a column's values would be copies of names. No query needs them.
ALTER TABLE actor_name ALTER COLUMN name SET STATISTICS 0;
SELECT share_with_nodes('actor_name', 'SELECT, INSERT, UPDATE, DELETE');
