<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** What the administrator has set. `PROPERTY_EVENTS_URL` and `PROPERTY_EVENTS_KEY` in wp-config.php come first. */
final class Settings
{
    public const OPTION = 'property_events_settings';
    public const INTERVALS = [1, 5, 15, 30, 60];

    public function __construct(
        public readonly string $url = '',
        public readonly string $key = '',
        public readonly string $postType = ListingType::NAME,
        public readonly int $intervalMinutes = 5,
    ) {
    }

    public static function load(): self
    {
        $kept = get_option(self::OPTION, []);
        $kept = is_array($kept) ? $kept : [];
        $text = static fn (string $name, string $otherwise): string => is_string($kept[$name] ?? null) ? $kept[$name] : $otherwise;
        return new self(
            defined('PROPERTY_EVENTS_URL') ? (string) \PROPERTY_EVENTS_URL : $text('url', ''),
            defined('PROPERTY_EVENTS_KEY') ? (string) \PROPERTY_EVENTS_KEY : $text('key', ''),
            $text('post_type', ListingType::NAME),
            is_int($kept['interval_minutes'] ?? null) ? $kept['interval_minutes'] : 5,
        );
    }

    /** In one array, which no page of WordPress shows, and not loaded with every page. What wp-config.php sets is not kept twice. */
    public function save(): void
    {
        update_option(self::OPTION, [
            'url' => defined('PROPERTY_EVENTS_URL') ? '' : $this->url,
            'key' => defined('PROPERTY_EVENTS_KEY') ? '' : $this->key,
            'post_type' => $this->postType,
            'interval_minutes' => $this->intervalMinutes,
        ], false);
    }

    public function areComplete(): bool
    {
        return $this->url !== '' && $this->key !== '';
    }

    /**
     * What was sent from the form, and what is wrong with it. An empty key means the one that is kept.
     *
     * @param array<string, mixed> $sent
     * @param list<string> $postTypes that may be chosen
     * @return array{self, list<string>}
     */
    public static function fromForm(array $sent, self $kept, array $postTypes): array
    {
        $text = static fn (string $name): string => is_string($sent[$name] ?? null) ? trim($sent[$name]) : '';
        // What wp-config.php sets is no field of the form.
        $url = defined('PROPERTY_EVENTS_URL') ? $kept->url : rtrim($text('url'), '/');
        $key = defined('PROPERTY_EVENTS_KEY') || $text('key') === '' ? $kept->key : $text('key');
        $interval = (int) $text('interval_minutes');
        $faults = array_filter([
            self::addressFault($url),
            preg_match('/^[\x21-\x7e]{1,500}\z/', $key) === 1 ? null
                : __('The key must be as it was given to you: not empty, no blanks, no line breaks.', 'property-events'),
            in_array($text('post_type'), $postTypes, true) ? null : __('Choose one of the kinds of posts in the list.', 'property-events'),
            in_array($interval, self::INTERVALS, true) ? null : __('Choose one of the intervals in the list.', 'property-events'),
        ]);
        return [new self($url, $key, $text('post_type'), $interval), array_values($faults)];
    }

    /** A key goes over TLS only, or does not leave the machine. */
    public static function addressFault(string $url): ?string
    {
        $parts = parse_url($url);
        $isAddress = is_array($parts) && isset($parts['scheme'], $parts['host'])
            && preg_match('~^https?://[^\s<>"\'\\\\]+\z~', $url) === 1 && !isset($parts['query']) && !isset($parts['fragment']);
        if (!$isAddress) {
            return __('The address must begin with https:// and have no blanks, no "?" and no "#".', 'property-events');
        }
        if (isset($parts['user'])) {
            return __('The address must have no user name and no password in it.', 'property-events');
        }
        if ($parts['scheme'] === 'http' && !in_array($parts['host'], ['localhost', '127.0.0.1', '[::1]'], true)) {
            return __('The address must begin with https://, because the key is sent to it.', 'property-events');
        }
        return null;
    }
}
