<?php
/**
 * For themes. `property_events_field('price_text')` in the loop gives "Offers over £450,000"; the names of the fields are those
 * of PostContent::FIELDS. What it gives is plain text: show it with esc_html().
 */

declare(strict_types=1);

use PropertyEvents\WordPress\Photographs;
use PropertyEvents\WordPress\PostContent;

/** A field of a listing as text, '' where the listing has none. */
function property_events_field(string $name, int|WP_Post|null $post = null): string
{
    $found = get_post($post);
    $value = $found instanceof WP_Post ? get_post_meta($found->ID, PostContent::META . $name, true) : '';
    return is_scalar($value) ? (string) $value : '';
}

/**
 * The photographs of a listing that are in the media library, in their order.
 *
 * @return list<array{attachmentId: int, caption: string}>
 */
function property_events_photographs(int|WP_Post|null $post = null): array
{
    $found = get_post($post);
    return $found instanceof WP_Post ? Photographs::of($found->ID, 'photograph') : [];
}
