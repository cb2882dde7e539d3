<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** Settings → Property Events. Every form has a nonce, and every action asks whether the user may manage the site. */
final class SettingsPage
{
    private const SLUG = 'property-events';
    private const CAPABILITY = 'manage_options';
    /** What a form may ask for, and what the page says afterwards. */
    private const ACTIONS = ['save', 'check', 'run', 'allow', 'resync', 'page'];

    public static function register(string $plugin): void
    {
        add_action('admin_menu', static function (): void {
            add_options_page('Property Events', 'Property Events', self::CAPABILITY, self::SLUG, self::show(...));
        });
        foreach (self::ACTIONS as $action) {
            add_action("admin_post_property_events_$action", static function () use ($action): void {
                self::answer($action);
            });
        }
        add_filter("plugin_action_links_$plugin", static fn (array $links): array => [
            '<a href="' . esc_url(self::address()) . '">Settings</a>',
            ...$links,
        ]);
    }

    private static function address(): string
    {
        return admin_url('options-general.php?page=' . self::SLUG);
    }

    private static function answer(string $action): void
    {
        if (!current_user_can(self::CAPABILITY)) {
            wp_die('You may not change these settings.', '', ['response' => 403]);
        }
        check_admin_referer("property_events_$action");
        [$kind, $words] = match ($action) {
            'save' => self::save(),
            'check' => self::check(),
            'run' => self::run(),
            'allow' => self::allow(),
            'resync' => self::resync(),
            'page' => self::makePage(),
        };
        set_transient(self::noticeName(), [$kind, $words], 300);
        wp_safe_redirect(self::address());
        exit;
    }

    /** @return array{string, string} kind of the notice and its words */
    private static function save(): array
    {
        $kept = Settings::load();
        [$settings, $faults] = Settings::fromForm(wp_unslash($_POST), $kept, array_keys(ListingType::choices()));
        if ($faults !== []) {
            return ['error', 'Nothing was saved. ' . implode(' ', $faults)];
        }
        $settings->save();
        Schedule::begin();
        if ($settings->postType !== $kept->postType) {
            $store = Store::open();
            $store->run("UPDATE {$store->table('listings')} SET pending = 1, tries = 0 WHERE removed_at = 0");
        }
        return ['success', 'Saved. The next run begins within a minute, or press "Run now".'];
    }

    /** @return array{string, string} */
    private static function check(): array
    {
        $settings = Settings::load();
        if (!$settings->areComplete()) {
            return ['error', 'Save an address and a key first.'];
        }
        $store = Store::open();
        ['status' => $status, 'heads' => $heads, 'problem' => $problem] = (new FeedReader($settings, new Copy($store), $store))->heads();
        $head = FeedReader::propertyHead($heads);
        return match (true) {
            $head !== null => ['success', "The service accepts the key. Its property feed is at number {$head['sequenceNumber']}."],
            $status === 0 => ['error', "The service does not answer: $problem"],
            $status === 404 => ['warning', 'The address answers, but has no reads of its own. Feeds of other services are read page by page; see that the first run ends well.'],
            $status === 200 => ['error', 'The address answers, but the key may not read a property feed, or this is no feed.'],
            default => ['error', "The service refuses the key or the address ($status). $problem"],
        };
    }

    /** @return array{string, string} */
    private static function run(): array
    {
        [$outcome, $message] = Run::once();
        if ($outcome === Run::MORE) {
            Schedule::runSoon();
        }
        return match ($outcome) {
            Run::CAUGHT_UP => ['success', 'The site has what the feed has.'],
            Run::MORE => ['info', 'The run has used its 20 seconds. The next one goes on in a moment.'],
            Run::BUSY => ['info', $message],
            default => ['error', $message],
        };
    }

    /** @return array{string, string} */
    private static function allow(): array
    {
        $store = Store::open();
        $store->run("UPDATE {$store->table('state')} SET allows_mass_removal = 1 WHERE id = 1");
        Schedule::runSoon();
        return ['success', 'The next run removes what the feed has removed.'];
    }

    /** @return array{string, string} */
    private static function resync(): array
    {
        return Resync::begin(false)
            ? ['success', 'The next run reads the whole feed anew. Listings stay as they are until it has.']
            : ['info', 'A run is under way. Try again in a moment.'];
    }

    /** @return array{string, string} */
    private static function makePage(): array
    {
        $page = ['post_type' => 'page', 'post_status' => 'draft', 'post_title' => 'Our listings', 'post_content' => '[property_events_listings]'];
        $id = wp_insert_post($page, true);
        return is_wp_error($id)
            ? ['error', $id->get_error_message()]
            : ['success', 'The page "Our listings" is among your pages, as a draft. Look at it and publish it.'];
    }

    private static function noticeName(): string
    {
        return 'property_events_notice_' . get_current_user_id();
    }

    private static function show(): void
    {
        if (!current_user_can(self::CAPABILITY)) {
            return;
        }
        echo '<div class="wrap"><h1>Property Events</h1>';
        $notice = get_transient(self::noticeName());
        if (is_array($notice)) {
            delete_transient(self::noticeName());
            printf('<div class="notice notice-%s"><p>%s</p></div>', esc_attr($notice[0]), esc_html($notice[1]));
        }
        self::showStatus();
        self::showForm(Settings::load());
        echo '</div>';
    }

    private static function showStatus(): void
    {
        $status = Status::now();
        echo '<h2>How it stands</h2><table class="widefat striped" style="max-width: 60em"><tbody>';
        foreach ($status->lines() as $name => $words) {
            printf('<tr><th scope="row" style="width: 14em">%s</th><td>%s</td></tr>', esc_html($name), esc_html($words));
        }
        echo '</tbody></table><div style="display: flex; gap: 0.5em; flex-wrap: wrap; margin: 1em 0">';
        self::button('run', 'Run now');
        self::button('check', 'Check the connection');
        if ($status->outcome === Run::HELD) {
            self::button('allow', 'Let the next run remove them');
        }
        self::button('resync', 'Start over');
        self::button('page', 'Make a page of listings');
        echo '</div>';
    }

    private static function showForm(Settings $settings): void
    {
        $fixed = static fn (string $constant): string => defined($constant) ? " (set in wp-config.php as $constant)" : '';
        echo '<h2>Settings</h2><form method="post" autocomplete="off" action="' . esc_url(admin_url('admin-post.php')) . '">';
        echo '<input type="hidden" name="action" value="property_events_save">';
        wp_nonce_field('property_events_save');
        echo '<table class="form-table" role="presentation"><tbody>';
        printf(
            '<tr><th scope="row"><label for="pe-url">Address of the service%s</label></th><td><input id="pe-url" name="url" type="url" class="regular-text code"
            required placeholder="https://feed.example.com" value="%s"></td></tr>',
            esc_html($fixed('PROPERTY_EVENTS_URL')),
            esc_attr($settings->url),
        );
        // The key that is kept is in no page, not even hidden.
        printf(
            '<tr><th scope="row"><label for="pe-key">Key%s</label></th><td><input id="pe-key" name="key" type="password" class="regular-text code"
            autocomplete="new-password" value="" aria-describedby="pe-key-words"><p class="description" id="pe-key-words">%s</p></td></tr>',
            esc_html($fixed('PROPERTY_EVENTS_KEY')),
            esc_html($settings->key === '' ? 'One that may read property events (property:read).' : 'A key is kept and is not shown. Leave this empty to keep it.'),
        );
        echo '<tr><th scope="row"><label for="pe-type">Listings are</label></th><td><select id="pe-type" name="post_type">';
        foreach (ListingType::choices() as $name => $label) {
            printf('<option value="%s"%s>%s</option>', esc_attr($name), selected($name, $settings->postType, false), esc_html("$label ($name)"));
        }
        echo '</select><p class="description">The plugin has listings of its own. Choose another kind if your theme shows properties as posts of that kind.</p></td></tr>';
        echo '<tr><th scope="row"><label for="pe-interval">Ask for changes every</label></th><td><select id="pe-interval" name="interval_minutes">';
        foreach (Settings::INTERVALS as $minutes) {
            $label = $minutes === 1 ? 'minute' : "$minutes minutes";
            printf('<option value="%d"%s>%s</option>', absint($minutes), selected($minutes, $settings->intervalMinutes, false), esc_html($label));
        }
        echo '</select></td></tr></tbody></table>';
        submit_button('Save');
        echo '</form><p>Show listings on any page with the shortcode <code>[property_events_listings]</code>, one category with ';
        echo '<code>[property_events_listings category="lettings"]</code>.</p>';
    }

    private static function button(string $action, string $label): void
    {
        echo '<form method="post" action="' . esc_url(admin_url('admin-post.php')) . '">';
        echo '<input type="hidden" name="action" value="' . esc_attr("property_events_$action") . '">';
        wp_nonce_field("property_events_$action", '_wpnonce', false);
        echo '<button class="button">' . esc_html($label) . '</button></form>';
    }
}
