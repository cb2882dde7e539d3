<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** Settings → Property Events. Every form has a nonce, and every action asks whether the user may manage the site. */
final class SettingsPage
{
    private const SLUG = 'property-events';
    private const CAPABILITY = 'manage_options';
    /** What a form may ask for, and what the page says afterwards. */
    private const ACTIONS = ['save', 'check', 'run', 'allow', 'resync', 'page', 'pictures'];

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
            wp_die(__('You may not change these settings.', 'property-events'), '', ['response' => 403]);
        }
        check_admin_referer("property_events_$action");
        [$kind, $words] = match ($action) {
            'save' => self::save(),
            'check' => self::check(),
            'run' => self::run(),
            'allow' => self::allow(),
            'resync' => self::resync(),
            'page' => self::makePage(),
            'pictures' => self::retryPictures(),
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
            return ['error', __('Nothing was saved. ', 'property-events') . implode(' ', $faults)];
        }
        $settings->save();
        Schedule::begin();
        if ($settings->postType !== $kept->postType) {
            $store = Store::open();
            $store->run("UPDATE {$store->table('listings')} SET pending = 1, tries = 0 WHERE removed_at = 0");
        }
        return ['success', __('Saved. The next run begins within a minute, or press "Run now".', 'property-events')];
    }

    /** @return array{string, string} */
    private static function check(): array
    {
        $settings = Settings::load();
        if (!$settings->areComplete()) {
            return ['error', __('Save an address and a key first.', 'property-events')];
        }
        $store = Store::open();
        ['status' => $status, 'heads' => $heads, 'problem' => $problem] = (new FeedReader($settings, new Copy($store), $store))->heads();
        $head = FeedReader::propertyHead($heads);
        return match (true) {
            $head !== null => ['success', sprintf(__('The service accepts the key. Its property feed is at number %d.', 'property-events'), $head['sequenceNumber'])],
            $status === 0 => ['error', sprintf(__('The service does not answer: %s', 'property-events'), $problem)],
            $status === 404 => ['warning', __('The address answers, but has no reads of its own. Feeds of other services are read page by page; see that the first run ends well.', 'property-events')],
            $status === 200 => ['error', __('The address answers, but the key may not read a property feed, or this is no feed.', 'property-events')],
            default => ['error', sprintf(__('The service refuses the key or the address (%1$d). %2$s', 'property-events'), $status, $problem)],
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
            Run::CAUGHT_UP => ['success', __('The site has what the feed has.', 'property-events')],
            Run::MORE => ['info', __('The run has used its 20 seconds. The next one goes on in a moment.', 'property-events')],
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
        return ['success', __('The next run removes what the feed has removed.', 'property-events')];
    }

    /** @return array{string, string} */
    private static function resync(): array
    {
        return Resync::begin(false)
            ? ['success', __('The next run reads the whole feed anew. Listings stay as they are until it has.', 'property-events')]
            : ['info', 'A run is under way. Try again in a moment.'];
    }

    /** @return array{string, string} */
    private static function makePage(): array
    {
        $page = ['post_type' => 'page', 'post_status' => 'draft', 'post_title' => __('Our listings', 'property-events'), 'post_content' => '[property_events_listings]'];
        $id = wp_insert_post($page, true);
        return is_wp_error($id)
            ? ['error', $id->get_error_message()]
            : ['success', __('The page "Our listings" is among your pages, as a draft. Look at it and publish it.', 'property-events')];
    }

    /** @return array{string, string} */
    private static function retryPictures(): array
    {
        $pictures = (new Photographs(Store::open()))->retry();
        Schedule::runSoon();
        return ['success', sprintf(_n('%d picture is tried again by the next runs.', '%d pictures are tried again by the next runs.', $pictures, 'property-events'), $pictures)];
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
        self::showRefusals();
        self::showForm(Settings::load());
        echo '</div>';
    }

    private static function showStatus(): void
    {
        $status = Status::now();
        echo '<h2>' . esc_html__('How it stands', 'property-events') . '</h2><table class="widefat striped" style="max-width: 60em"><tbody>';
        foreach ($status->lines() as $name => $words) {
            printf('<tr><th scope="row" style="width: 14em">%s</th><td>%s</td></tr>', esc_html($name), esc_html($words));
        }
        echo '</tbody></table><div style="display: flex; gap: 0.5em; flex-wrap: wrap; margin: 1em 0">';
        self::button('run', __('Run now', 'property-events'));
        self::button('check', __('Check the connection', 'property-events'));
        if ($status->outcome === Run::HELD) {
            self::button('allow', __('Let the next run remove them', 'property-events'));
        }
        self::button('resync', __('Start over', 'property-events'));
        self::button('page', __('Make a page of listings', 'property-events'));
        echo '</div>';
    }

    /** What visitors do not see, and why. */
    private static function showRefusals(): void
    {
        $store = Store::open();
        $listings = (new Verdicts($store))->refusals();
        $pictures = (new Photographs($store))->refusals();
        self::showReasons(__('Refused listings', 'property-events'), $listings, 'listings');
        self::showReasons(__('Pictures that are not here', 'property-events'), $pictures, 'pictures');
        if ($pictures !== []) {
            self::button('pictures', __('Try these pictures again', 'property-events'));
        }
    }

    /** @param list<array<string, string>> $rows @param 'listings'|'pictures' $what */
    private static function showReasons(string $heading, array $rows, string $what): void
    {
        if ($rows === []) {
            return;
        }
        printf(
            '<h2>%s</h2><table class="widefat striped property-events-%s" style="max-width: 60em"><thead><tr><th scope="col">%s</th><th scope="col">%s</th><th scope="col">%s</th></tr></thead><tbody>',
            esc_html($heading),
            esc_attr($what),
            esc_html__('Number', 'property-events'),
            esc_html__('Reason', 'property-events'),
            esc_html__('One of them', 'property-events'),
        );
        foreach ($rows as $row) {
            printf(
                '<tr><td>%s</td><td>%s</td><td style="word-break: break-all">%s</td></tr>',
                esc_html(number_format_i18n((int) $row[$what])),
                esc_html($row['reason']),
                esc_html($row['example']),
            );
        }
        echo '</tbody></table>';
    }

    /** Why a field cannot be changed here. */
    private static function fixedBy(string $constant): string
    {
        /* translators: %s: the name of a constant in wp-config.php */
        return defined($constant) ? sprintf(__('Set in wp-config.php as %s, and cannot be changed here.', 'property-events'), $constant) : '';
    }

    private static function showForm(Settings $settings): void
    {
        [$fixedUrl, $fixedKey] = [self::fixedBy('PROPERTY_EVENTS_URL'), self::fixedBy('PROPERTY_EVENTS_KEY')];
        echo '<h2>' . esc_html__('Settings', 'property-events') . '</h2><form method="post" autocomplete="off" action="' . esc_url(admin_url('admin-post.php')) . '">';
        echo '<input type="hidden" name="action" value="property_events_save">';
        wp_nonce_field('property_events_save');
        echo '<table class="form-table" role="presentation"><tbody>';
        printf(
            '<tr><th scope="row"><label for="pe-url">%s</label></th><td><input id="pe-url" name="url" type="url" class="regular-text code"
            %s placeholder="https://feed.example.com" value="%s" aria-describedby="pe-url-words"><p class="description" id="pe-url-words">%s</p></td></tr>',
            esc_html__('Address of the service', 'property-events'),
            $fixedUrl === '' ? 'required' : 'readonly',
            esc_attr($settings->url),
            esc_html($fixedUrl),
        );
        // The key that is kept is in no page, not even hidden.
        printf(
            '<tr><th scope="row"><label for="pe-key">%s</label></th><td><input id="pe-key" name="key" type="password" class="regular-text code"
            %s autocomplete="new-password" value="" aria-describedby="pe-key-words"><p class="description" id="pe-key-words">%s</p></td></tr>',
            esc_html__('Key', 'property-events'),
            $fixedKey === '' ? '' : 'readonly',
            esc_html(match (true) {
                $fixedKey !== '' => $fixedKey,
                $settings->key === '' => __('One that may read property events (property:read).', 'property-events'),
                default => 'A key is kept and is not shown. Leave this empty to keep it.',
            }),
        );
        echo '<tr><th scope="row"><label for="pe-type">' . esc_html__('Listings are', 'property-events') . '</label></th><td><select id="pe-type" name="post_type">';
        foreach (ListingType::choices() as $name => $label) {
            printf('<option value="%s"%s>%s</option>', esc_attr($name), selected($name, $settings->postType, false), esc_html("$label ($name)"));
        }
        echo '</select><p class="description">'
            . esc_html__('The plugin has listings of its own. Choose another kind if your theme shows properties as posts of that kind.', 'property-events') . '</p></td></tr>';
        echo '<tr><th scope="row"><label for="pe-interval">' . esc_html__('Ask for changes every', 'property-events') . '</label></th><td><select id="pe-interval" name="interval_minutes">';
        foreach (Settings::INTERVALS as $minutes) {
            $label = sprintf(_n('minute', '%d minutes', $minutes, 'property-events'), $minutes);
            printf('<option value="%d"%s>%s</option>', absint($minutes), selected($minutes, $settings->intervalMinutes, false), esc_html($label));
        }
        echo '</select></td></tr>';
        self::showWebhookField($settings);
        echo '</tbody></table>';
        submit_button(__('Save', 'property-events'));
        $archive = get_post_type_archive_link($settings->postType);
        if ($archive !== false) {
            // Other than /listings/ where the site has plain permalinks.
            echo '</form><p>';
            /* translators: %s: a link */
            printf(esc_html__('All listings are at %s.', 'property-events') . ' ', '<a href="' . esc_url($archive) . '">' . esc_html($archive) . '</a>');
        } else {
            echo '</form><p>';
        }
        printf(
            /* translators: %1$s and %2$s: shortcodes */
            esc_html__('Show listings on any page with the shortcode %1$s, one category with %2$s.', 'property-events') . '</p>',
            '<code>[property_events_listings]</code>',
            '<code>[property_events_listings category="lettings"]</code>',
        );
    }

    private static function showWebhookField(Settings $settings): void
    {
        $fixed = self::fixedBy('PROPERTY_EVENTS_WEBHOOK_SECRET');
        printf(
            '<tr><th scope="row"><label for="pe-secret">%s</label></th><td><input id="pe-secret" name="webhook_secret" type="password" class="regular-text code"
            %s autocomplete="new-password" value="" aria-describedby="pe-secret-words"><p class="description" id="pe-secret-words">%s %s</p></td></tr>',
            esc_html__('Secret of webhooks', 'property-events'),
            $fixed === '' ? '' : 'readonly',
            esc_html(match (true) {
                $fixed !== '' => $fixed,
                $settings->webhookSecret === '' => __('Changes are here within seconds if the service sends webhooks. Give the secret that it shows for this address:', 'property-events'),
                default => __('A secret is kept and is not shown. Leave this empty to keep it, or write "off". Webhooks come to this address:', 'property-events'),
            }),
            '<code>' . esc_html(WebhookReceiver::address()) . '</code>',
        );
    }

    private static function button(string $action, string $label): void
    {
        echo '<form method="post" action="' . esc_url(admin_url('admin-post.php')) . '">';
        echo '<input type="hidden" name="action" value="' . esc_attr("property_events_$action") . '">';
        wp_nonce_field("property_events_$action", '_wpnonce', false);
        echo '<button class="button">' . esc_html($label) . '</button></form>';
    }
}
