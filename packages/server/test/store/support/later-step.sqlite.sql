-- A step as a later version of the program would bring one, for tests.
ALTER TABLE subject ADD COLUMN noticed INTEGER;
UPDATE subject SET noticed = position;
CREATE TABLE notice (tenant TEXT NOT NULL, text TEXT NOT NULL) STRICT;
INSERT INTO notice SELECT tenant, 'Croeso i’r fersiwn newydd – £0 🏡' FROM tenant;
