-- Who is signed in to the console, and links that sign somebody in (PROTOCOL §15). Secrets stand here as SHA-256 hashes alone. The tables
-- are empty, so the step takes milliseconds.
CREATE TABLE login_link (
  link_hash TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  expires_ms INTEGER NOT NULL    -- of no use from then on; milliseconds since 1970
) STRICT, WITHOUT ROWID;
CREATE INDEX login_link_by_end ON login_link (expires_ms);

CREATE TABLE console_session (
  cookie_hash TEXT PRIMARY KEY,
  half_hash TEXT NOT NULL,       -- of what the page sends beside the cookie
  key_id TEXT NOT NULL,
  begun_ms INTEGER NOT NULL,
  ends_ms INTEGER NOT NULL,
  used_ms INTEGER NOT NULL       -- at most a minute behind
) STRICT, WITHOUT ROWID;
CREATE INDEX console_session_by_key ON console_session (key_id, used_ms);
CREATE INDEX console_session_by_use ON console_session (used_ms);

-- Where people reach the console of a node; NULL: it serves none.
ALTER TABLE node ADD COLUMN console_url TEXT;
