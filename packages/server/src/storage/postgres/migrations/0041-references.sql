ALTER TABLE key ADD COLUMN reference_ids boolean NOT NULL DEFAULT false; -- it is shown references as transaction ids
