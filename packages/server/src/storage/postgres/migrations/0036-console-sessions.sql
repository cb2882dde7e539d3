-- Who is signed in to the console, and links that sign somebody in (PROTOCOL §15). Secrets stand here as SHA-256 hashes alone. The tables
-- are empty, so the step takes milliseconds; `node` is locked for as long, which only announcements of nodes wait for.
CREATE TABLE login_link (
  link_hash text COLLATE "C" PRIMARY KEY,
  key_id text COLLATE "C" NOT NULL,
  expires_ms bigint NOT NULL     -- of no use from then on; milliseconds since 1970
);
CREATE INDEX login_link_by_end ON login_link (expires_ms);

CREATE TABLE console_session (
  cookie_hash text COLLATE "C" PRIMARY KEY,
  half_hash text NOT NULL,       -- of what the page sends beside the cookie
  key_id text COLLATE "C" NOT NULL,
  begun_ms bigint NOT NULL,
  ends_ms bigint NOT NULL,
  used_ms bigint NOT NULL        -- at most a minute behind
);
CREATE INDEX console_session_by_key ON console_session (key_id, used_ms);
CREATE INDEX console_session_by_use ON console_session (used_ms);

-- Where people reach the console of a node; NULL: it serves none.
ALTER TABLE node ADD COLUMN console_url text;

SELECT share_with_nodes('login_link', 'SELECT, INSERT, UPDATE, DELETE');
SELECT share_with_nodes('console_session', 'SELECT, INSERT, UPDATE, DELETE');
