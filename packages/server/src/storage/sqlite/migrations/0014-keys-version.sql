-- Rises with each change of a key, a grant, a tenant's suspension or the pepper, by whatever program: a service that has seen a key at this
-- version need not look for it again. Last uses are not counted.
INSERT INTO meta (name, value) VALUES ('keys_version', '0');
CREATE TRIGGER key_added AFTER INSERT ON key BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
CREATE TRIGGER key_changed AFTER UPDATE OF secret_hash, pepper_id, label, operator, expires_ms, revoked_ms, rate_per_second, rate_burst ON key BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
CREATE TRIGGER key_removed AFTER DELETE ON key BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
CREATE TRIGGER key_grant_added AFTER INSERT ON key_grant BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
CREATE TRIGGER key_grant_changed AFTER UPDATE ON key_grant BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
CREATE TRIGGER key_grant_removed AFTER DELETE ON key_grant BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
CREATE TRIGGER tenant_suspension_changed AFTER UPDATE OF suspended ON tenant BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
CREATE TRIGGER pepper_first_set AFTER INSERT ON meta WHEN new.name = 'pepper_id' BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
CREATE TRIGGER pepper_changed AFTER UPDATE OF value ON meta WHEN new.name = 'pepper_id' BEGIN
  UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE name = 'keys_version';
END;
