<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** The list of listings in wp-admin: their picture, reference, price and status, and one category alone. */
final class ListingColumns
{
    private const FILTER = 'property_events_category';

    public static function register(): void
    {
        // Another kind of posts may be chosen, whose own columns stay.
        $type = Settings::load()->postType;
        add_filter("manage_{$type}_posts_columns", self::columns(...));
        add_action("manage_{$type}_posts_custom_column", self::show(...), 10, 2);
        add_filter("manage_edit-{$type}_sortable_columns", static fn (array $columns): array => $columns + ['property_events_price' => 'property_events_price']);
        add_action('admin_head-edit.php', static function (): void {
            echo '<style>.column-property_events_picture { width: 72px; } .column-property_events_price, .column-property_events_status { width: 12%; }</style>';
        });
        add_action('restrict_manage_posts', static function (string $shown) use ($type): void {
            if ($shown === $type) {
                self::showFilter();
            }
        });
        add_action('pre_get_posts', static function (\WP_Query $query) use ($type): void {
            if (is_admin() && $query->is_main_query() && $query->get('post_type') === $type) {
                self::narrow($query);
            }
        });
    }

    /** @param array<string, string> $columns @return array<string, string> */
    private static function columns(array $columns): array
    {
        $checkbox = array_intersect_key($columns, ['cb' => '']);
        $title = array_intersect_key($columns, ['title' => '']);
        return $checkbox + ['property_events_picture' => __('Picture', 'property-events')] + $title + [
            'property_events_reference' => __('Reference', 'property-events'),
            'property_events_price' => __('Price', 'property-events'),
            'property_events_status' => __('Status', 'property-events'),
        ] + $columns;
    }

    private static function show(string $column, int $postId): void
    {
        $field = static fn (string $name): string => property_events_field($name, $postId);
        $text = match ($column) {
            'property_events_reference' => $field('agent_reference') !== '' ? $field('agent_reference') : $field('ref'),
            'property_events_price' => $field('price_text'),
            'property_events_status' => $field('status'),
            default => '',
        };
        if ($column === 'property_events_picture') {
            echo wp_kses_post(get_the_post_thumbnail($postId, [60, 60], ['alt' => '', 'style' => 'max-width: 60px; height: auto']));
        } elseif (str_starts_with($column, 'property_events_')) {
            echo $text === '' ? '—' : esc_html($text);
        }
    }

    private static function showFilter(): void
    {
        $choices = ['' => __('Sales and lettings', 'property-events'), 'sales' => __('Sales', 'property-events'), 'lettings' => __('Lettings', 'property-events')];
        printf('<label class="screen-reader-text" for="%1$s">%2$s</label><select id="%1$s" name="%1$s">', esc_attr(self::FILTER), esc_html__('Category', 'property-events'));
        foreach ($choices as $value => $label) {
            printf('<option value="%s"%s>%s</option>', esc_attr($value), selected($value, self::wanted(), false), esc_html($label));
        }
        echo '</select>';
    }

    private static function narrow(\WP_Query $query): void
    {
        $fields = $query->get('meta_query') ?: [];
        if (self::wanted() !== '') {
            $fields[] = ['key' => PostContent::META . 'category', 'value' => self::wanted()];
        }
        if ($query->get('orderby') === 'property_events_price') {
            // Those without a price are in it, too.
            $fields['property_events_price'] = ['key' => PostContent::META . 'price', 'compare' => 'EXISTS', 'type' => 'DECIMAL(15,2)'];
        }
        $query->set('meta_query', $fields);
    }

    private static function wanted(): string
    {
        $sent = sanitize_key(wp_unslash($_GET[self::FILTER] ?? ''));
        return in_array($sent, ['sales', 'lettings'], true) ? $sent : '';
    }
}
