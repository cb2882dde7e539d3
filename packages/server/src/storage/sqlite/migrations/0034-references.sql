ALTER TABLE key ADD COLUMN reference_ids INTEGER NOT NULL DEFAULT 0; -- 1: it is shown references as transaction ids
