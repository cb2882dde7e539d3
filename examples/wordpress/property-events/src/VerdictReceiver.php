<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** Takes what the site made of listings, to tell a service or a person. */
interface VerdictReceiver
{
    /**
     * At most 500 at a time, once each, oldest first. Returning means that they are kept on the other side; an exception means
     * that they come again.
     *
     * @param list<array{reference: string, sequenceNumber: int, verdict: string, reason: string, address: string, at: int}> $verdicts
     */
    public function receive(array $verdicts): void;
}
