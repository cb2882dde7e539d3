<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/**
 * The plugin's tables, transactions and lock, over WordPress's own connection. Every statement with a value is prepared, and a
 * statement that the database refuses throws a StoreException.
 */
final class Store
{
    /**
     * Refusals that have nothing to do with what a statement says: no room, no memory, locks, too many connections, a server that ends,
     * is read-only, or has lost the connection.
     */
    private const OF_THE_SERVER = [1021, 1037, 1038, 1040, 1041, 1053, 1114, 1153, 1203, 1205, 1206, 1213, 1290, 1317, 1836, 1927, 1969, 2002, 2006,
        2013, 3024];

    public function __construct(private readonly \wpdb $db)
    {
    }

    public static function open(): self
    {
        return new self($GLOBALS['wpdb']);
    }

    public function table(string $name): string
    {
        return "{$this->db->prefix}property_events_$name";
    }

    /** @return int rows that the statement changed */
    public function run(string $sql, int|float|string ...$values): int
    {
        return (int) $this->asked(fn (string $text) => $this->db->query($text), $sql, $values);
    }

    /** @return list<array<string, string>> */
    public function rows(string $sql, int|float|string ...$values): array
    {
        return $this->asked(fn (string $text) => $this->db->get_results($text, ARRAY_A), $sql, $values) ?? [];
    }

    /** @return array<string, string>|null */
    public function row(string $sql, int|float|string ...$values): ?array
    {
        return $this->rows($sql, ...$values)[0] ?? null;
    }

    /** @return list<string> the first column */
    public function column(string $sql, int|float|string ...$values): array
    {
        return array_map(static fn (array $row): string => (string) reset($row), $this->rows($sql, ...$values));
    }

    public function number(string $sql, int|float|string ...$values): int
    {
        return (int) ($this->column($sql, ...$values)[0] ?? 0);
    }

    /** Bytes of the longest statement that the database takes. */
    public function longestStatement(): int
    {
        return $this->number('SELECT @@max_allowed_packet');
    }

    /** As long as it is when it stands in a statement. */
    public function lengthOf(string $text): int
    {
        return strlen($this->db->_real_escape($text));
    }

    /** "%s, %s, %s" */
    public static function places(array $values, string $place = '%s'): string
    {
        return implode(', ', array_fill(0, count($values), $place));
    }

    /** Runs `$work` in one transaction, which is undone when it throws. */
    public function inTransaction(callable $work): mixed
    {
        $this->run('START TRANSACTION');
        try {
            $result = $work();
            $this->run('COMMIT');
            return $result;
        } catch (\Throwable $problem) {
            $this->db->query('ROLLBACK');
            // What WordPress remembers may be of rows that never came to be.
            Memory::forget();
            throw $problem;
        }
    }

    /** False: another run has it. The lock goes with the connection, however the process ends. */
    public function lock(): bool
    {
        return $this->number('SELECT GET_LOCK(%s, 0)', $this->lockName()) === 1;
    }

    public function unlock(): void
    {
        $this->db->query($this->db->prepare('SELECT RELEASE_LOCK(%s)', $this->lockName()));
    }

    /** @return array<string, string> */
    public function state(): array
    {
        return $this->row('SELECT * FROM ' . $this->table('state') . ' WHERE id = 1')
            ?? throw new StoreException(__('The table of the plugin has lost its row. Deactivate the plugin and activate it again.', 'property-events'));
    }

    /**
     * Changes the state's row, only while this connection holds the lock: WordPress connects anew by itself when it lost its
     * connection, and what it lost with that must not be passed over.
     *
     * @param array<string, int|string> $values
     */
    public function setState(array $values): void
    {
        $sets = implode(', ', array_map(
            static fn (string $name, mixed $value): string => "$name = " . (is_int($value) ? '%d' : '%s'),
            array_keys($values),
            $values,
        ));
        $changed = $this->run(
            'UPDATE ' . $this->table('state') . " SET writes = writes + 1, $sets WHERE id = 1 AND IS_USED_LOCK(%s) = CONNECTION_ID()",
            ...[...array_values($values), $this->lockName()],
        );
        if ($changed !== 1) {
            throw new StoreException(__('The connection to the database was lost during the run. The next run goes on from where this one was.', 'property-events'));
        }
    }

    /** One database may serve several sites. MySQL takes 64 characters. */
    private function lockName(): string
    {
        return 'property_events_' . substr(hash('sha256', DB_NAME . '/' . $this->db->prefix), 0, 32);
    }

    /** @param list<int|float|string> $values */
    private function asked(callable $ask, string $sql, array $values): mixed
    {
        $shown = $this->db->suppress_errors(true);
        try {
            $result = $ask($values === [] ? $sql : $this->db->prepare($sql, $values));
        } finally {
            $this->db->suppress_errors($shown);
        }
        if ($result === false || $this->db->last_error !== '') {
            // WordPress itself refuses what its own check of characters does not take; then the connection has no error.
            $code = $this->db->dbh instanceof \mysqli ? $this->db->dbh->errno : 0;
            throw new StoreException("The database refused a statement: {$this->db->last_error}", !in_array($code, self::OF_THE_SERVER, true));
        }
        return $result;
    }
}
