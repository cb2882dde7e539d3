<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/**
 * The feed's listings in the plugin's table, with the checkpoint: both change in one transaction. Posts are made of it later,
 * so a run that is killed anywhere loses nothing and repeats nothing.
 *
 * As a PropertyCopy it counts what visitors see. While the whole feed is read no post changes, so what would go is known at
 * the end, and only then asked.
 */
final class Copy implements \PropertyCopy
{
    /** Bytes of payload in one statement; MySQL takes 1 MiB at least as it comes. */
    private const STATEMENT_BYTES = 512 * 1024;

    public function __construct(private readonly Store $store)
    {
    }

    public function checkpoint(): ?string
    {
        $checkpoint = $this->store->state()['checkpoint'];
        return $checkpoint === '' ? null : $checkpoint;
    }

    /** The whole feed is being read, and has not been read to its end. */
    public function isReadAnew(): bool
    {
        return $this->store->state()['whole_since'] !== '0';
    }

    /**
     * @param list<array<string, mixed>> $changes
     * @param array{startsOver: bool, complete: bool} $phase
     */
    public function apply(array $changes, string $checkpoint, array $phase): void
    {
        $this->store->inTransaction(function () use ($changes, $checkpoint, $phase): void {
            $state = ['checkpoint' => $checkpoint];
            if ($phase['startsOver']) {
                $this->store->run('UPDATE ' . $this->listings() . ' SET stale = 1 WHERE removed_at = 0');
                // Who was told may have been restored from a backup together with the service.
                $this->store->run('UPDATE ' . $this->listings() . ' SET told_at = 0');
                $state['whole_since'] = time();
            }
            $this->put(array_filter($changes, static fn (array $change): bool => $change['kind'] === 'upsert'));
            foreach ($changes as $change) {
                if ($change['kind'] === 'odd' && self::isUsable($change['ref'])) {
                    $this->refuse($change['ref'], $change['number'], $change['reason']);
                }
            }
            $this->take(array_filter($changes, static fn (array $change): bool => $change['kind'] === 'remove'));
            if ($phase['complete']) {
                $this->store->run(
                    'UPDATE ' . $this->listings() . " SET removed_at = %d, pending = 1, tries = 0, stale = 0, payload = ''
                    WHERE stale = 1 AND removed_at = 0",
                    time(),
                );
                $state['whole_since'] = 0;
            }
            $this->store->setState($state);
        });
    }

    public function count(): int
    {
        return $this->store->number('SELECT count(*) FROM ' . $this->listings() . ' WHERE ' . $this->isHeld());
    }

    public function held(array $refs): array
    {
        if ($refs === [] || $this->isReadAnew()) {
            return [];
        }
        $these = 'ref IN (' . Store::places($refs) . ')';
        return $this->store->column('SELECT ref FROM ' . $this->listings() . " WHERE $these AND " . $this->isHeld(), ...$refs);
    }

    public function stale(): array
    {
        $goes = '(stale = 1 OR removed_at > 0)';
        return $this->store->column('SELECT ref FROM ' . $this->listings() . " WHERE $goes AND " . $this->isHeld());
    }

    /** Visitors see it, and it has not been counted as removed. */
    private function isHeld(): string
    {
        $since = (int) $this->store->state()['whole_since'];
        return 'shown = 1 AND ' . ($since === 0 ? 'removed_at = 0' : "(removed_at = 0 OR removed_at >= $since)");
    }

    /** @param array<array<string, mixed>> $changes */
    private function put(array $changes): void
    {
        [$rows, $bytes, $longest] = [[], 0, $this->store->longestStatement()];
        foreach ($changes as $change) {
            if (!self::isUsable($change['ref'])) {
                continue;
            }
            $payload = $change['payload'];
            // It names a person, and no page needs it.
            unset($payload['principal']);
            $text = json_encode($payload, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION);
            // A longer one would end the connection, and the run with it.
            if ($this->store->lengthOf($text) + 1024 > $longest) {
                $this->refuse($change['ref'], $change['number'], "It is longer than the database takes at once (max_allowed_packet, $longest bytes).");
                continue;
            }
            if ($bytes > 0 && $bytes + strlen($text) > self::STATEMENT_BYTES) {
                $this->write($rows);
                [$rows, $bytes] = [[], 0];
            }
            $rows[] = [$change['ref'], $change['number'], $text];
            $bytes += strlen($text);
        }
        $this->write($rows);
    }

    /**
     * What the database refuses of one listing is no reason to leave out the others.
     *
     * @param list<array{string, int, string}> $rows reference, number and payload of each
     */
    private function write(array $rows): void
    {
        try {
            $this->insert($rows);
        } catch (StoreException $problem) {
            if (!$problem->isOfContent) {
                throw $problem;
            }
            if (count($rows) === 1) {
                $this->refuse($rows[0][0], $rows[0][1], $problem->getMessage());
                return;
            }
            foreach ($rows as $row) {
                $this->write([$row]);
            }
        }
    }

    /** What the site shows of it stays, and a read of the whole feed does not take it away. */
    private function refuse(string $ref, int $number, string $reason): void
    {
        $this->store->run(
            'INSERT INTO ' . $this->listings() . " (ref, number, payload) VALUES (%s, %d, '')
            ON DUPLICATE KEY UPDATE pending = IF(removed_at > 0, pending, 0), number = VALUES(number), stale = 0",
            $ref,
            $number,
        );
        (new Verdicts($this->store))->note(['ref' => $ref, 'number' => $number], Verdicts::REFUSED, $reason);
    }

    /** @param list<array{string, int, string}> $listings */
    private function insert(array $listings): void
    {
        if ($listings === []) {
            return;
        }
        $rows = Store::places($listings, '(%s, %d, %s, 1)');
        // A listing that is read again as it was leaves its post alone.
        $this->store->run(
            'INSERT INTO ' . $this->listings() . " (ref, number, payload, pending) VALUES $rows
            ON DUPLICATE KEY UPDATE
                tries = IF(number = VALUES(number) AND payload = VALUES(payload) AND removed_at = 0, tries, 0),
                pending = IF(number = VALUES(number) AND payload = VALUES(payload) AND removed_at = 0, pending, 1),
                number = VALUES(number), payload = VALUES(payload), stale = 0, removed_at = 0, erased = 0",
            ...array_merge(...$listings),
        );
    }

    private static function isUsable(string $ref): bool
    {
        return preg_match('/^[\x21-\x7e]{1,64}\z/', $ref) === 1;
    }

    /** @param array<array<string, mixed>> $changes */
    private function take(array $changes): void
    {
        $byRef = array_column($changes, null, 'ref');
        foreach (array_chunk(array_map(strval(...), array_keys($byRef)), 500) as $refs) {
            $held = $this->store->column('SELECT ref FROM ' . $this->listings() . ' WHERE ref IN (' . Store::places($refs) . ')', ...$refs);
            foreach ($held as $ref) {
                $change = $byRef[$ref];
                $isErased = ($change['payload']['erased'] ?? false) === true ? 1 : 0;
                // The 30 days of a draft begin once; an erasure cuts them short.
                $this->store->run(
                    'UPDATE ' . $this->listings() . " SET pending = IF(removed_at = 0 OR (%d > erased AND post_id > 0), 1, pending),
                        removed_at = IF(removed_at = 0, %d, removed_at), erased = GREATEST(erased, %d),
                        tries = 0, stale = 0, payload = '', number = %d
                    WHERE ref = %s",
                    $isErased,
                    time(),
                    $isErased,
                    $change['number'],
                    $ref,
                );
            }
        }
    }

    private function listings(): string
    {
        return $this->store->table('listings');
    }
}
