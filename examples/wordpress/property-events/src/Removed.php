<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** The page of a listing that went answers 410, so that search engines forget it, and not 404. */
final class Removed
{
    public static function register(): void
    {
        // Before WordPress guesses which other page may have been meant.
        add_action('template_redirect', static function (): void {
            if (!is_404() || !self::isRemoved((string) get_query_var('name'))) {
                return;
            }
            add_filter('do_redirect_guess_404_permalink', '__return_false');
            status_header(410);
            nocache_headers();
        }, 1);
    }

    private static function isRemoved(string $slug): bool
    {
        $type = get_query_var('post_type');
        if ($slug === '' || (is_string($type) && $type !== '' && $type !== Settings::load()->postType)) {
            return false;
        }
        $store = Store::open();
        return $store->row("SELECT ref FROM {$store->table('listings')} WHERE slug = %s AND shown = 0 LIMIT 1", $slug) !== null;
    }
}
