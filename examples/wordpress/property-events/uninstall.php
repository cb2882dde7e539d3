<?php
/**
 * Deletes what the plugin made: its posts and pictures, its tables, settings and schedule. A page with its shortcode stays.
 * Stopped halfway it can be begun again, because the tables that say what is ours go last.
 */

declare(strict_types=1);

namespace PropertyEvents\WordPress;

if (!defined('WP_UNINSTALL_PLUGIN')) {
    exit;
}

foreach (['Memory', 'Store', 'StoreException', 'Schema', 'ListingType', 'PostContent', 'Settings', 'Schedule'] as $name) {
    require_once __DIR__ . "/src/$name.php";
}

/** Of one site. */
function uninstall(): void
{
    $store = Store::open();
    if (get_option('property_events_tables') !== false) {
        $made = [
            'wp_delete_attachment' => "SELECT attachment_id FROM {$store->table('images')} WHERE attachment_id > 0",
            'wp_delete_post' => "SELECT post_id FROM {$store->table('listings')} WHERE post_id > 0",
        ];
        foreach ($made as $delete => $sql) {
            foreach ($store->column($sql) as $number => $id) {
                $delete((int) $id, true);
                if ($number % 50 === 49) {
                    Memory::forget();
                }
            }
        }
        Schema::drop();
    }
    $folder = wp_upload_dir(null, false)['basedir'] . '/property-events';
    // What a run that was killed left; then the folders, which are empty.
    array_map('unlink', glob("$folder/*/*") ?: []);
    array_map('rmdir', [...(glob("$folder/*") ?: []), ...(is_dir($folder) ? [$folder] : [])]);
    delete_option(Settings::OPTION);
    delete_option('property_events_new_addresses');
    Schedule::end();
}

if (is_multisite()) {
    foreach (get_sites(['fields' => 'ids', 'number' => 0]) as $site) {
        switch_to_blog($site);
        uninstall();
        restore_current_blog();
    }
} else {
    uninstall();
}
