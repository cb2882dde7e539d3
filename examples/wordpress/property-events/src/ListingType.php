<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** The plugin's own kind of posts, for sites whose theme has none, and the fields that every listing has. */
final class ListingType
{
    public const NAME = 'property_listing';

    public static function register(): void
    {
        register_post_type(self::NAME, [
            'labels' => [
                'name' => __('Listings', 'property-events'),
                'singular_name' => __('Listing', 'property-events'),
                'edit_item' => __('Listing (the feed writes over changes made here)', 'property-events'),
                'search_items' => __('Search listings', 'property-events'),
                'not_found' => __('No listings yet.', 'property-events'),
            ],
            'public' => true,
            'has_archive' => 'listings',
            'rewrite' => ['slug' => 'listings', 'with_front' => false],
            'menu_icon' => 'dashicons-admin-home',
            'supports' => ['title', 'editor', 'excerpt', 'thumbnail'],
            'show_in_rest' => true,
            'map_meta_cap' => true,
            // Listings come from the feed.
            'capabilities' => ['create_posts' => 'do_not_allow'],
        ]);
        foreach (PostContent::FIELDS as $field => $type) {
            register_post_meta(self::NAME, PostContent::META . $field, [
                'type' => $type,
                'single' => true,
                'show_in_rest' => $type === 'string',
                'auth_callback' => '__return_false',
            ]);
        }
        if (get_option('property_events_new_addresses')) {
            delete_option('property_events_new_addresses');
            flush_rewrite_rules(false);
        }
    }

    /** @return array<string, string> what an agency may choose, by name */
    public static function choices(): array
    {
        $types = get_post_types(['public' => true], 'objects');
        unset($types['attachment'], $types['page']);
        return array_map(static fn (\WP_Post_Type $type): string => $type->labels->name, $types);
    }
}
