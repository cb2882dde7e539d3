<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** What WordPress remembers of the rows it has read. */
final class Memory
{
    /** Forgets it in this process alone: a cache that other processes share stays as it is. */
    public static function forget(): void
    {
        if (function_exists('wp_cache_supports') && wp_cache_supports('flush_runtime')) {
            wp_cache_flush_runtime();
        }
        $GLOBALS['wpdb']->flush();
    }
}
