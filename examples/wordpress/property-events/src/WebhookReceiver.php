<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/**
 * Takes webhooks as the sign that the feed has something new: a run begins at once, and reads it. So what comes twice, late or not at all
 * changes nothing, and the interval stays as it is for whatever no webhook came for.
 */
final class WebhookReceiver
{
    private const NAMESPACE = 'property-events/v1';
    private const ROUTE = '/webhook';
    /** What a run finds something new after. Anything else is taken, and nothing is done. */
    private const NEWS = ['property.event', 'feed.epochChanged'];

    public static function register(): void
    {
        add_action('rest_api_init', static function (): void {
            register_rest_route(self::NAMESPACE, self::ROUTE, [
                'methods' => 'POST',
                'callback' => self::receive(...),
                // Whoever knows the secret may.
                'permission_callback' => '__return_true',
            ]);
        });
    }

    public static function address(): string
    {
        return rest_url(self::NAMESPACE . self::ROUTE);
    }

    private static function receive(\WP_REST_Request $request): \WP_REST_Response|\WP_Error
    {
        $secrets = Settings::load()->webhookSecrets();
        if ($secrets === []) {
            return new \WP_Error('webhooks_off', 'This site has no secret of webhooks: give it one on the settings page of the plugin.', ['status' => 404]);
        }
        $headers = [];
        foreach (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as $name) {
            $headers[$name] = $request->get_header($name);
        }
        try {
            $message = \PropertyWebhook::verify($request->get_body(), $headers, $secrets);
        } catch (\InvalidWebhookException $invalid) {
            return new \WP_Error('invalid_webhook', $invalid->getMessage(), ['status' => 400]);
        }
        if (in_array($message->type, self::NEWS, true)) {
            Schedule::runNow();
        }
        return new \WP_REST_Response(null, 204);
    }
}
