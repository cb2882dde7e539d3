<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** How long a run may take and how much memory. A run looks at it between two pieces of work, and ends when it is spent. */
final class Budget
{
    /** Leaves room for one more piece of work below 64 MB. */
    private const MEMORY_BYTES = 48 * 2 ** 20;

    /** @param callable(): float $clock seconds */
    public function __construct(
        private readonly float $endsAt,
        private readonly int $memoryBytes,
        private readonly mixed $clock,
    ) {
    }

    /** 20 s, or what the host allows less five, whichever is less; the memory of 64 MB. */
    public static function ofOneRun(): self
    {
        $allowed = (int) ini_get('max_execution_time');
        return new self(self::now() + self::secondsWithin($allowed, 20), self::MEMORY_BYTES, self::now(...));
    }

    /** For the command line: as long as it takes. Memory is bounded all the same. */
    public static function withoutEnd(): self
    {
        return new self(INF, self::MEMORY_BYTES, self::now(...));
    }

    /** @param int $allowed by the host, 0 for no limit */
    public static function secondsWithin(int $allowed, int $wanted): int
    {
        return $allowed <= 0 ? $wanted : max(1, min($wanted, $allowed - 5));
    }

    public function isSpent(): bool
    {
        return $this->secondsLeft() <= 0 || memory_get_usage() >= $this->memoryBytes;
    }

    public function secondsLeft(): float
    {
        return $this->endsAt - ($this->clock)();
    }

    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
