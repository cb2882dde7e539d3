<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** How the site stands to the feed. */
final class Status
{
    private function __construct(
        public readonly string $outcome,
        public readonly string $message,
        public readonly int $ranAt,
        public readonly int $caughtUpAt,
        public readonly bool $isReadAnew,
        public readonly ?int $number,
        public readonly int $shown,
        public readonly int $pending,
        public readonly int $drafts,
        public readonly int $refused,
        public readonly int $picturesKept,
        public readonly int $picturesWanted,
        public readonly int $picturesRefused,
    ) {
    }

    public static function now(): self
    {
        $store = Store::open();
        $state = $store->state();
        $listings = $store->row(
            "SELECT coalesce(sum(shown), 0) AS shown, coalesce(sum(pending), 0) AS pending,
                coalesce(sum(removed_at > 0 AND post_id > 0), 0) AS drafts, coalesce(sum(verdict = 'refused'), 0) AS refused
            FROM {$store->table('listings')}",
        ) ?? [];
        $pictures = array_column($store->rows("SELECT state, count(*) AS pictures FROM {$store->table('images')} GROUP BY state"), 'pictures', 'state');
        $place = json_decode($state['checkpoint'], true);
        return new self(
            $state['outcome'],
            $state['message'],
            (int) $state['ran_at'],
            (int) $state['caught_up_at'],
            $state['whole_since'] !== '0',
            is_int($place['after'] ?? null) ? $place['after'] : null,
            (int) $listings['shown'],
            (int) $listings['pending'],
            (int) $listings['drafts'],
            (int) $listings['refused'],
            (int) ($pictures['kept'] ?? 0),
            (int) ($pictures['wanted'] ?? 0),
            (int) ($pictures['refused'] ?? 0),
        );
    }

    /** @return array<string, string> what a person reads */
    public function lines(): array
    {
        $outcome = match ($this->outcome) {
            '' => __('No run yet.', 'property-events'),
            Run::CAUGHT_UP => __('The site has what the feed has.', 'property-events'),
            Run::MORE => __('There is work left; the next run goes on.', 'property-events'),
            default => '',
        };
        $outcome = trim("$outcome $this->message");
        $lines = [
            __('Last run', 'property-events') => self::when($this->ranAt) . ($this->ranAt === 0 ? '' : ". $outcome"),
            __('In step with the feed', 'property-events') => $this->isReadAnew ? __('The whole feed is being read.', 'property-events') : self::when($this->caughtUpAt),
            __('Listings', 'property-events') => $this->listings(),
            __('Pictures', 'property-events') => sprintf(__('%1$d kept, %2$d to be downloaded, %3$d refused', 'property-events'), $this->picturesKept, $this->picturesWanted, $this->picturesRefused),
        ];
        return $this->number === null ? $lines : $lines + [__('Place in the feed', 'property-events') => sprintf(__('after event %d', 'property-events'), $this->number)];
    }

    public function listings(): string
    {
        $refused = $this->refused === 0 ? '' : sprintf(__(', %d refused (wp property-events verdicts)', 'property-events'), $this->refused);
        $words = __('%1$d shown, %2$d to be made, %3$d removed and kept as drafts%4$s', 'property-events');
        return sprintf($words, $this->shown, $this->pending, $this->drafts, $refused);
    }

    private static function when(int $at): string
    {
        return $at === 0 ? __('Never', 'property-events') : wp_date('j F Y, H:i:s', $at);
    }
}
