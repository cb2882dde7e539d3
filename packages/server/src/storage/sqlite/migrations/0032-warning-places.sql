-- Examples of where each warning came (PROTOCOL §14.2). A new column of the row alone: the step takes milliseconds.
ALTER TABLE published ADD COLUMN warning_places TEXT NOT NULL DEFAULT '{}'; -- JSON: by code, pointers, no values
