-- The nodes that serve this store, each announcing itself now and then.
CREATE TABLE node (
  node uuid PRIMARY KEY,           -- random, another one with each start
  place text NOT NULL,             -- machine and process id
  pepper_ids text[] NOT NULL,      -- of the peppers it knows
  seen timestamptz NOT NULL
);

-- The pepper that new keys are made with, once `pepper finish` has said so. NULL: that of the keys there are.
ALTER TABLE store ADD COLUMN pepper_id text;

-- Nodes also remove ids that were kept for 30 days.
SELECT share_with_nodes('node', 'SELECT, INSERT, UPDATE, DELETE'), share_with_nodes('event_id', 'DELETE');
