<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** One picture in the folder of uploads, under a name that follows from its address and date: found again after a crash. */
final class PictureFile
{
    public const MAX_BYTES = 8 * 2 ** 20;
    private const MAX_PIXELS = 50_000_000;
    /** GD takes some five bytes for a pixel, twice while it makes a copy. */
    private const MAX_COPIED_PIXELS = 2_500_000;
    private const TYPES = ['image/jpeg' => 'jpg', 'image/png' => 'png', 'image/webp' => 'webp', 'image/gif' => 'gif'];
    private const TIMEOUT_SECONDS = 10;
    private const TOO_LARGE = 'The picture is larger than 8 MB.';

    private function __construct(
        public readonly string $path,
        public readonly string $mimeType,
        public readonly int $width,
        public readonly int $height,
    ) {
    }

    /**
     * @param string $hash of the picture: of its address, and its date if it has one
     * @throws PictureException when there is no picture at the address that may be kept
     */
    public static function ofAddress(string $url, string $hash, Budget $budget): self
    {
        $stem = self::stemOf($hash);
        foreach (self::TYPES as $mimeType => $ending) {
            if (is_file("$stem.$ending")) {
                [, $width, $height] = self::check("$stem.$ending");
                return new self("$stem.$ending", $mimeType, $width, $height);
            }
        }
        if (!wp_mkdir_p(dirname($stem))) {
            throw new PictureException(__('The folder of uploads cannot be written.', 'property-events'));
        }
        try {
            self::fetch($url, "$stem.part", $budget);
            if (filesize("$stem.part") > self::MAX_BYTES) {
                throw new PictureException(self::TOO_LARGE, true);
            }
            self::joinChunks("$stem.part");
            [$mimeType, $width, $height] = self::check("$stem.part");
            $path = "$stem." . self::TYPES[$mimeType];
            if (!rename("$stem.part", $path)) {
                throw new PictureException(__('The folder of uploads cannot be written.', 'property-events'));
            }
            chmod($path, 0644);
        } finally {
            if (is_file("$stem.part")) {
                unlink("$stem.part");
            }
        }
        return new self($path, $mimeType, $width, $height);
    }

    /** Deletes what is left of it, as of a run that was killed. */
    public static function discard(string $hash): void
    {
        array_map(unlink(...), glob(self::stemOf($hash) . '*') ?: []);
    }

    private static function stemOf(string $hash): string
    {
        return wp_upload_dir(null, false)['basedir'] . '/property-events/' . substr($hash, 0, 2) . '/' . substr($hash, 0, 32);
    }

    /** @return array<string, mixed> as WordPress keeps it beside an attachment */
    public function metadata(bool $withSmallerCopies): array
    {
        require_once ABSPATH . 'wp-admin/includes/image.php';
        $metadata = [
            'width' => $this->width,
            'height' => $this->height,
            'file' => _wp_relative_upload_path($this->path),
            'filesize' => (int) filesize($this->path),
        ];
        if (!$withSmallerCopies || $this->width * $this->height > self::MAX_COPIED_PIXELS) {
            return $metadata;
        }
        $editor = wp_get_image_editor($this->path);
        $sizes = array_intersect_key(wp_get_registered_image_subsizes(), array_flip(['thumbnail', 'medium', 'medium_large', 'large', 'post-thumbnail']));
        return is_wp_error($editor) ? $metadata : $metadata + ['sizes' => $editor->multi_resize($sizes)];
    }

    /**
     * Never an address of the site's own network: WordPress refuses those. But for that of the service, which the administrator has given
     * and the site asks anyhow: its demo has its pictures there.
     */
    private static function fetch(string $url, string $path, Budget $budget): void
    {
        $service = parse_url(Settings::load()->url);
        $isService = static function (string $host, ?int $port) use ($service): bool {
            return is_array($service) && $host === ($service['host'] ?? '') && $port === ($service['port'] ?? null);
        };
        $itsHost = static fn (bool $is, string $host, string $at): bool => $is || $isService($host, parse_url($at, PHP_URL_PORT));
        $itsPort = static fn (array $ports, string $host, string $at): array => $isService($host, parse_url($at, PHP_URL_PORT))
            ? [...$ports, parse_url($at, PHP_URL_PORT)] : $ports;
        add_filter('http_request_host_is_external', $itsHost, 10, 3);
        add_filter('http_allowed_safe_ports', $itsPort, 10, 3);
        try {
            self::fetchInto($url, $path, $budget);
        } finally {
            remove_filter('http_request_host_is_external', $itsHost);
            remove_filter('http_allowed_safe_ports', $itsPort);
        }
    }

    private static function fetchInto(string $url, string $path, Budget $budget): void
    {
        $answer = wp_safe_remote_get($url, [
            'timeout' => max(1, min(self::TIMEOUT_SECONDS, (int) ceil(min($budget->secondsLeft(), 3600)))),
            'redirection' => 2,
            'stream' => true,
            'filename' => $path,
            'limit_response_size' => self::MAX_BYTES + 1,
            'headers' => ['accept' => implode(', ', array_keys(self::TYPES)), 'accept-encoding' => 'identity'],
        ]);
        if (is_wp_error($answer)) {
            // WordPress says with this code that it does not go there.
            $isRefused = $answer->get_error_code() === 'http_request_failed' && wp_http_validate_url($url) === false;
            throw new PictureException($isRefused
                ? __('WordPress fetches nothing from this address: no host has its name, it is in the site’s own network, or its port is none of 80, 443 and 8080.', 'property-events')
                : $answer->get_error_message(), $isRefused);
        }
        $status = (int) wp_remote_retrieve_response_code($answer);
        if ($status !== 200) {
            throw new PictureException("The address was answered with status $status.");
        }
        $expected = wp_remote_retrieve_header($answer, 'content-length');
        clearstatcache(true, $path);
        if (is_string($expected) && ctype_digit($expected) && (int) $expected <= self::MAX_BYTES && filesize($path) < (int) $expected) {
            throw new PictureException(__('The picture was cut off.', 'property-events'));
        }
    }

    /** Where PHP has no curl, WordPress 6 writes a body in chunks into the file as it came: lengths in hexadecimal between the parts. */
    public static function joinChunks(string $path): void
    {
        $source = fopen($path, 'rb');
        if (preg_match('/^[0-9a-f]{1,8}\r\n\z/i', (string) fgets($source, 16)) !== 1) {
            fclose($source);
            return;
        }
        rewind($source);
        $target = fopen("$path.joined", 'wb');
        $left = 0;
        while (($line = fgets($source, 64)) !== false && ($left = (int) hexdec(preg_replace('/[^0-9a-f].*/is', '', $line) ?? '')) > 0) {
            $left -= (int) stream_copy_to_stream($source, $target, $left);
            if ($left > 0) {
                break;
            }
            fread($source, 2);
        }
        array_map(fclose(...), [$source, $target]);
        rename("$path.joined", $path);
        clearstatcache(true, $path);
        if ($left > 0 || $line === false) {
            throw new PictureException(__('The picture was cut off.', 'property-events'));
        }
    }

    /**
     * What the file is, by its bytes and not by its name.
     *
     * @return array{string, int, int} type, width and height
     * @throws PictureException when it may not be kept
     */
    public static function check(string $path): array
    {
        $bytes = (int) filesize($path);
        if ($bytes === 0 || $bytes > self::MAX_BYTES) {
            throw new PictureException($bytes === 0 ? __('The picture is empty.', 'property-events') : self::TOO_LARGE, true);
        }
        $facts = @getimagesize($path);
        $mimeType = is_array($facts) ? $facts['mime'] : '';
        if (!isset(self::TYPES[$mimeType])) {
            throw new PictureException(__('It is no JPEG, PNG, WebP or GIF.', 'property-events'), true);
        }
        [$width, $height] = $facts;
        if ($width < 1 || $height < 1 || $width * $height > self::MAX_PIXELS) {
            throw new PictureException(__('The picture has more than 50 million pixels, or none.', 'property-events'), true);
        }
        return [$mimeType, $width, $height];
    }
}
