<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** What visitors see: the shortcode `[property_events_listings]`, and the facts around a listing's text on its own page. */
final class ListingsPage
{
    private const PER_PAGE = 12;
    private const MOST_PER_PAGE = 60;
    private const PAGE = 'listings-page';

    public static function register(): void
    {
        wp_register_style('property-events', plugins_url('assets/listings.css', __DIR__), [], VERSION);
        add_shortcode('property_events_listings', self::listings(...));
        add_filter('the_content', self::withFacts(...), 20);
    }

    /** @param array<string, string>|string $given `category` (sales or lettings) and `per_page` */
    private static function listings(array|string $given): string
    {
        $wanted = shortcode_atts(['category' => '', 'per_page' => (string) self::PER_PAGE], is_array($given) ? $given : []);
        $page = max(1, absint(wp_unslash($_GET[self::PAGE] ?? 1)));
        $fields = [['key' => PostContent::META . 'ref', 'compare' => 'EXISTS']];
        if (in_array($wanted['category'], ['sales', 'lettings'], true)) {
            $fields[] = ['key' => PostContent::META . 'category', 'value' => $wanted['category']];
        }
        $query = new \WP_Query([
            'post_type' => Settings::load()->postType,
            'post_status' => 'publish',
            'posts_per_page' => max(1, min(self::MOST_PER_PAGE, absint($wanted['per_page']))),
            'paged' => $page,
            'orderby' => ['date' => 'DESC', 'ID' => 'DESC'],
            'ignore_sticky_posts' => true,
            'meta_query' => $fields,
        ]);
        wp_enqueue_style('property-events');
        if ($query->posts === []) {
            return '<p class="property-events-none">' . esc_html__('There are no listings at the moment.', 'property-events') . '</p>';
        }
        $cards = implode('', array_map(self::card(...), $query->posts));
        return "<ul class=\"property-events-listings\">$cards</ul>" . self::pages($page, (int) $query->max_num_pages);
    }

    private static function card(\WP_Post $post): string
    {
        $address = esc_url((string) get_permalink($post));
        $picture = get_the_post_thumbnail($post, 'medium_large', ['loading' => 'lazy', 'alt' => '']);
        $status = property_events_field('status', $post);
        $summary = wp_trim_words(html_entity_decode(wp_strip_all_tags($post->post_excerpt), ENT_QUOTES), 24);
        return '<li class="property-events-listing">'
            . ($picture === '' ? '<div class="property-events-picture property-events-no-picture"></div>' : "<div class=\"property-events-picture\">$picture</div>")
            . '<div class="property-events-words"><h2><a href="' . $address . '">' . get_the_title($post) . '</a></h2>'
            . '<p class="property-events-price">' . esc_html(property_events_field('price_text', $post)) . '</p>'
            . '<p class="property-events-facts">' . esc_html(self::facts($post)) . '</p>'
            . ($summary === '' ? '' : '<p>' . esc_html($summary) . '</p>')
            . ($status === '' ? '' : '<p class="property-events-status">' . esc_html($status) . '</p>')
            . '</div></li>';
    }

    private static function facts(\WP_Post $post): string
    {
        [$bedrooms, $bathrooms] = [(int) property_events_field('bedrooms', $post), (int) property_events_field('bathrooms', $post)];
        $parts = [
            property_events_field('type', $post),
            $bedrooms === 0 ? '' : sprintf(_n('%d bedroom', '%d bedrooms', $bedrooms, 'property-events'), $bedrooms),
            $bathrooms === 0 ? '' : sprintf(_n('%d bathroom', '%d bathrooms', $bathrooms, 'property-events'), $bathrooms),
        ];
        return implode(' · ', array_filter($parts, 'strlen'));
    }

    private static function pages(int $page, int $pages): string
    {
        if ($pages <= 1) {
            return '';
        }
        $links = paginate_links([
            'base' => add_query_arg(self::PAGE, '%#%'),
            'format' => '',
            'current' => $page,
            'total' => $pages,
            'type' => 'list',
            'prev_text' => __('Previous', 'property-events'),
            'next_text' => __('Next', 'property-events'),
        ]);
        return '<nav class="property-events-pages" aria-label="' . esc_attr__('Pages of listings', 'property-events') . '">' . $links . '</nav>';
    }

    /** Price, photographs and facts around the text of a listing on its own page. */
    private static function withFacts(string $content): string
    {
        $post = get_post();
        $isListing = $post instanceof \WP_Post && property_events_field('ref', $post) !== '';
        if (!$isListing || !is_singular() || !in_the_loop() || !is_main_query() || get_queried_object_id() !== $post->ID) {
            return $content;
        }
        wp_enqueue_style('property-events');
        $head = '<p class="property-events-price">' . esc_html(property_events_field('price_text', $post)) . '</p>'
            . '<p class="property-events-facts">' . esc_html(implode(' · ', array_filter([self::facts($post), property_events_field('status', $post)], 'strlen'))) . '</p>';
        return '<div class="property-events-single">' . $head . self::pictures($post, 'photograph', '') . $content
            . self::features($post) . self::particulars($post) . self::pictures($post, 'floor_plan', __('Floor plans', 'property-events')) . self::documents($post) . '</div>';
    }

    private static function pictures(\WP_Post $post, string $kind, string $heading): string
    {
        $pictures = Photographs::of($post->ID, $kind);
        if ($pictures === []) {
            return '';
        }
        $items = array_map(static function (array $picture): string {
            $image = wp_get_attachment_image($picture['attachmentId'], 'large', false, ['loading' => 'lazy']);
            $caption = $picture['caption'] === '' ? '' : '<figcaption>' . esc_html($picture['caption']) . '</figcaption>';
            return "<li><figure>$image$caption</figure></li>";
        }, $pictures);
        return ($heading === '' ? '' : '<h2>' . esc_html($heading) . '</h2>') . '<ul class="property-events-pictures">' . implode('', $items) . '</ul>';
    }

    private static function features(\WP_Post $post): string
    {
        $features = get_post_meta($post->ID, PostContent::META . 'features', true);
        if (!is_array($features) || $features === []) {
            return '';
        }
        $items = array_map(static fn (mixed $feature): string => '<li>' . esc_html((string) $feature) . '</li>', $features);
        return '<h2>' . esc_html__('Features', 'property-events') . '</h2><ul>' . implode('', $items) . '</ul>';
    }

    private static function particulars(\WP_Post $post): string
    {
        $names = ['tenure' => __('Tenure', 'property-events'), 'furnished' => __('Furnishing', 'property-events'), 'deposit' => __('Deposit', 'property-events'), 'available_on' => __('Available from', 'property-events'),
            'council_tax_band' => __('Council tax band', 'property-events'), 'energy_rating' => __('Energy rating', 'property-events'), 'agent_reference' => __('Reference', 'property-events')];
        $rows = '';
        foreach ($names as $field => $name) {
            $value = property_events_field($field, $post);
            $value = match (true) {
                $field === 'deposit' && is_numeric($value) => '£' . number_format((float) $value, 0),
                $field === 'available_on' && $value !== '' => (string) mysql2date('j F Y', "$value 00:00:00"),
                default => $value,
            };
            $rows .= $value === '' ? '' : '<dt>' . esc_html($name) . '</dt><dd>' . esc_html($value) . '</dd>';
        }
        return $rows === '' ? '' : '<h2>' . esc_html__('Details', 'property-events') . "</h2><dl class=\"property-events-particulars\">$rows</dl>";
    }

    private static function documents(\WP_Post $post): string
    {
        $items = '';
        foreach (['tours' => __('Tour', 'property-events'), 'documents' => __('Document', 'property-events')] as $field => $name) {
            $links = get_post_meta($post->ID, PostContent::META . $field, true);
            foreach (is_array($links) ? $links : [] as $link) {
                $words = ($link['caption'] ?? '') === '' ? $name : $link['caption'];
                $items .= '<li><a rel="nofollow noopener noreferrer" href="' . esc_url((string) ($link['url'] ?? ''), ['http', 'https']) . '">' . esc_html($words) . '</a></li>';
            }
        }
        return $items === '' ? '' : '<h2>' . esc_html__('More', 'property-events') . "</h2><ul>$items</ul>";
    }
}
