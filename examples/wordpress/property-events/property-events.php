<?php
/**
 * Plugin Name: Property Events
 * Description: Keeps the listings of a property event feed as posts: new homes, prices, photographs and removals, without an import to start by hand.
 * Version: 0.1.0
 * Requires at least: 6.1
 * Requires PHP: 8.1
 * License: MIT
 * License URI: https://opensource.org/license/mit
 * Text Domain: property-events
 * Domain Path: /languages
 */

declare(strict_types=1);

namespace PropertyEvents\WordPress;

if (!defined('ABSPATH')) {
    exit;
}

const VERSION = '0.1.0';

// The feed's own files, unchanged. Another plugin may carry the same ones.
foreach (['PropertyFeed', 'PropertyListing', 'PropertyWebhook'] as $name) {
    if (!class_exists("\\$name", false)) {
        require_once __DIR__ . "/lib/$name.php";
    }
}
spl_autoload_register(static function (string $class): void {
    $name = substr($class, strlen(__NAMESPACE__) + 1);
    $path = __DIR__ . "/src/$name.php";
    if (str_starts_with($class, __NAMESPACE__ . '\\') && preg_match('/^\w+\z/', $name) === 1 && is_file($path)) {
        require_once $path;
    }
});
require_once __DIR__ . '/src/template-tags.php';

register_activation_hook(__FILE__, static function (): void {
    Schema::bringUpToDate();
    Schedule::begin();
    update_option('property_events_new_addresses', 1);
});
register_deactivation_hook(__FILE__, static function (): void {
    Schedule::end();
    flush_rewrite_rules(false);
});

add_action('init', static function (): void {
    load_plugin_textdomain('property-events', false, dirname(plugin_basename(__FILE__)) . '/languages');
    Schema::bringUpToDate();
    ListingType::register();
    ListingsPage::register();
    if (is_admin()) {
        ListingColumns::register();
    }
});
Schedule::register();
WebhookReceiver::register();
Removed::register();
Photographs::register();
if (is_admin()) {
    SettingsPage::register(plugin_basename(__FILE__));
}
if (defined('WP_CLI') && WP_CLI) {
    \WP_CLI::add_command('property-events', Command::class);
}
