-- Moving one tenant to another store (docs/decisions/0019). NULL: the tenant is at home here. Else nothing can be published to
-- the feed: 'leaving' (it is being moved to another store), 'left' (it was, and windows are not answered here any more),
-- 'arriving RUN' (it is being moved to here by that run of the command), 'abandoned' (it was, and was taken back).
ALTER TABLE feed ADD COLUMN move TEXT;
-- No later stamp lies before it: windows of this feed were answered until then, in the store it came from. Ticks.
ALTER TABLE feed ADD COLUMN stamp_floor INTEGER;
