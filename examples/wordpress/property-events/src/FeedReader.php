<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/**
 * Brings the copy up to the feed with PropertyFeed, for as long as the budget lasts.
 *
 * A copy begins with a snapshot. One that did not end within a run is not begun again, since it might never end: the history
 * is then read from its first number, a page at a time, and goes on where the last run stopped.
 */
final class FeedReader
{
    private const TYPE = 'property';
    /** Seconds without a byte. */
    private const TIMEOUT_SECONDS = 10;
    /** Why this run read the whole feed again, as after a restore of the service; '' when it did not. */
    private string $readAgain = '';

    public function __construct(
        private readonly Settings $settings,
        private readonly Copy $copy,
        private readonly Store $store,
    ) {
    }

    /**
     * @return bool true: the copy has what the feed has; false: the next run goes on
     * @throws \PropertyFeedException as PropertyFeed::sync
     */
    public function read(Budget $budget, bool $allowMassRemoval): bool
    {
        // The next run is the next attempt.
        $feed = new \PropertyFeed(
            $this->settings->url,
            $this->settings->key,
            self::TYPE,
            timeoutSeconds: self::TIMEOUT_SECONDS,
            attempts: 1,
        );
        $checkpoint = self::begunSnapshot($this->copy->checkpoint()) ? $this->startOfHistory() : $this->copy->checkpoint();
        $apply = function (array $changes, string $kept, array $phase) use ($budget): void {
            $this->copy->apply($changes, $kept, $phase);
            // A batch without changes is the end of a read, which costs nothing to finish.
            if ($changes !== [] && !$phase['complete'] && $budget->isSpent()) {
                throw new RunIsOver();
            }
        };
        try {
            $feed->sync(static fn (): ?string => $checkpoint, $apply, $this->copy, $allowMassRemoval);
            return true;
        } catch (RunIsOver) {
            return false;
        } finally {
            $this->readAgain = $feed->readAgain();
        }
    }

    public function readAgain(): string
    {
        return $this->readAgain;
    }

    private static function begunSnapshot(?string $checkpoint): bool
    {
        $place = $checkpoint === null ? [] : json_decode($checkpoint, true);
        return ($place['mode'] ?? null) === 'start' && ($place['begun'] ?? true) === true;
    }

    /** A checkpoint before the first event; the one that is kept where the service does not read by numbers. */
    private function startOfHistory(): ?string
    {
        $kept = (string) $this->copy->checkpoint();
        $head = self::propertyHead($this->heads()['heads']);
        if ($head === null) {
            return $kept;
        }
        $place = ['mode' => 'numbers', 'epoch' => $head['epoch'], 'revision' => $head['revision'], 'after' => 0];
        return json_encode($place + json_decode($kept, true), JSON_THROW_ON_ERROR);
    }

    /**
     * Asks the service what the key may read: one small request, for the button on the settings page too.
     *
     * @return array{status: int, heads: list<mixed>, problem: string} status 0 when nothing came
     */
    public function heads(): array
    {
        $answer = wp_remote_get("{$this->settings->url}/v1/heads", [
            'headers' => ['x-api-key' => $this->settings->key],
            'timeout' => self::TIMEOUT_SECONDS,
            // A redirect would take the key with it.
            'redirection' => 0,
            'limit_response_size' => 2 ** 20,
        ]);
        if (is_wp_error($answer)) {
            return ['status' => 0, 'heads' => [], 'problem' => $answer->get_error_message()];
        }
        $body = json_decode(wp_remote_retrieve_body($answer), true);
        $heads = is_array($body) && is_array($body['heads'] ?? null) ? $body['heads'] : [];
        $detail = is_array($body) && is_string($body['detail'] ?? null) ? $body['detail'] : '';
        return ['status' => (int) wp_remote_retrieve_response_code($answer), 'heads' => $heads, 'problem' => $detail];
    }

    /** @param list<mixed> $heads @return array{epoch: string, revision: int, sequenceNumber: int}|null */
    public static function propertyHead(array $heads): ?array
    {
        foreach ($heads as $head) {
            $isWhole = is_array($head) && ($head['feed'] ?? '') === 'property' && is_string($head['epoch'] ?? null)
                && is_int($head['revision'] ?? null) && is_int($head['sequenceNumber'] ?? null);
            if ($isWhole) {
                return $head;
            }
        }
        return null;
    }
}
