<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/**
 * What the site made of each listing: shown under an address, refused for a reason, or removed. They are kept here. No service
 * takes them yet; a VerdictReceiver, given with the filter `property_events_verdict_receiver`, is told each of them once.
 */
final class Verdicts
{
    public const SHOWN = 'shown';
    public const REFUSED = 'refused';
    public const REMOVED = 'removed';
    private const BATCH = 500;

    public function __construct(private readonly Store $store)
    {
    }

    /** In the transaction that makes it true. @param array<string, int|string> $row of the listing: `ref` and `number` */
    public function note(array $row, string $verdict, string $reason = '', string $address = ''): void
    {
        $this->store->run(
            "UPDATE {$this->listings()} SET verdict = %s, verdict_number = %d, verdict_reason = %s, verdict_address = %s, verdict_at = %d,
                told_at = 0 WHERE ref = %s",
            $verdict,
            (int) $row['number'],
            mb_substr(wp_check_invalid_utf8($reason, true), 0, 500),
            strlen($address) <= 500 ? $address : '',
            time(),
            $row['ref'],
        );
    }

    /** @return list<array{reference: string, sequenceNumber: int, verdict: string, reason: string, address: string, at: int}> */
    public function list(int $limit, int $offset = 0, bool $untoldOnly = false): array
    {
        $which = $untoldOnly ? "verdict <> '' AND told_at = 0" : "verdict <> ''";
        $rows = $this->store->rows("SELECT * FROM {$this->listings()} WHERE $which ORDER BY verdict_at, ref LIMIT %d OFFSET %d", $limit, $offset);
        return array_map(static fn (array $row): array => [
            'reference' => $row['ref'],
            'sequenceNumber' => (int) $row['verdict_number'],
            'verdict' => $row['verdict'],
            'reason' => $row['verdict_reason'],
            'address' => $row['verdict_address'],
            'at' => (int) $row['verdict_at'],
        ], $rows);
    }

    /** Why listings are not shown, the most frequent reason first. @return list<array{reason: string, listings: string, example: string}> */
    public function refusals(): array
    {
        return $this->store->rows(
            "SELECT verdict_reason AS reason, count(*) AS listings, max(ref) AS example FROM {$this->listings()}
            WHERE verdict = %s GROUP BY verdict_reason ORDER BY listings DESC, reason LIMIT 20",
            self::REFUSED,
        );
    }

    /** Tells a receiver, if there is one, what it has not been told. A receiver that throws is told again by the next run. */
    public function deliver(): void
    {
        $receiver = apply_filters('property_events_verdict_receiver', null);
        if (!$receiver instanceof VerdictReceiver || ($verdicts = $this->list(self::BATCH, 0, true)) === []) {
            return;
        }
        try {
            $receiver->receive($verdicts);
        } catch (\Exception) {
            return;
        }
        foreach ($verdicts as ['reference' => $ref, 'sequenceNumber' => $number, 'verdict' => $verdict]) {
            $this->store->run(
                "UPDATE {$this->listings()} SET told_at = %d WHERE ref = %s AND verdict_number = %d AND verdict = %s",
                time(),
                $ref,
                $number,
                $verdict,
            );
        }
    }

    private function listings(): string
    {
        return $this->store->table('listings');
    }
}
