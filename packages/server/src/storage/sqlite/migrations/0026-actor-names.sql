-- Names of actors, apart from the audit (docs/decisions/0039): a row here can be erased. A new table: milliseconds.
CREATE TABLE actor_name (
  actor TEXT PRIMARY KEY,           -- as in audit
  name TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- From an action to its rows: some milliseconds for each thousand rows of the audit.
CREATE INDEX audit_action ON audit (action, audit_no);
