-- Publishing can wait for a new epoch in one feed and go on in the others. The meta value `needs_epoch` stands for every feed,
-- as before.
ALTER TABLE feed ADD COLUMN needs_epoch INTEGER NOT NULL DEFAULT 0;
