<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** When runs begin: at the interval, half a minute after a run that left work, and when a webhook says that there is something new. */
final class Schedule
{
    private const HOOK = 'property_events_run';
    private const NEXT_HOOK = 'property_events_run_on';
    private const NAME = 'property_events_interval';
    private const PAUSE_SECONDS = 30;

    private static bool $hasRun = false;

    public static function register(): void
    {
        add_filter('cron_schedules', static function (array $schedules): array {
            $minutes = Settings::load()->intervalMinutes;
            $schedules[self::NAME] = ['interval' => $minutes * 60, 'display' => sprintf(_n('Property Events: every minute', 'Property Events: every %d minutes', $minutes, 'property-events'), $minutes)];
            return $schedules;
        });
        add_action(self::HOOK, static fn () => self::run());
        add_action(self::NEXT_HOOK, static fn () => self::run(isWanted: true));
    }

    public static function begin(): void
    {
        self::end();
        wp_schedule_event(time(), self::NAME, self::HOOK);
    }

    public static function end(): void
    {
        wp_clear_scheduled_hook(self::HOOK);
        wp_clear_scheduled_hook(self::NEXT_HOOK);
    }

    public static function runSoon(int $inSeconds = 0): void
    {
        if (wp_next_scheduled(self::NEXT_HOOK) === false) {
            wp_schedule_single_event(time() + $inSeconds, self::NEXT_HOOK);
        }
    }

    /** The answer to whoever asks for it does not wait for the run. */
    public static function runNow(): void
    {
        self::runSoon();
        // Where the host calls wp-cron.php itself, that is soon enough, and all that it allows.
        if (!defined('DISABLE_WP_CRON') || !DISABLE_WP_CRON) {
            spawn_cron();
        }
    }

    /** @param bool $isWanted there may be something new since the run began that is under way */
    private static function run(bool $isWanted = false): void
    {
        // WP-Cron may call both events in one process, which the host gives the time of one.
        if (self::$hasRun) {
            self::runSoon(self::PAUSE_SECONDS);
            return;
        }
        self::$hasRun = true;
        [$outcome] = Run::once();
        if ($outcome === Run::MORE || ($outcome === Run::BUSY && $isWanted)) {
            self::runSoon(self::PAUSE_SECONDS);
        }
    }
}
