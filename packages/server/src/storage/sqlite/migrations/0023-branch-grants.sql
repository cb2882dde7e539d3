-- Grants by branch (D11). Noted in the schema alone: milliseconds, however many keys there are.
ALTER TABLE key_grant ADD COLUMN branches TEXT; -- a JSON list of `branch_id`s that the grant is limited to; NULL: all. Then `scopes` has marked words
