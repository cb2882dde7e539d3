<?php

declare(strict_types=1);

namespace PropertyEvents\WordPress;

/** What stands in a listing's post. Without WordPress: arrays in, arrays out. */
final class PostContent
{
    /** The fields' names begin with it. */
    public const META = 'property_events_';
    public const FIELDS = [
        'ref' => 'string', 'agent_reference' => 'string', 'category' => 'string', 'status' => 'string', 'type' => 'string',
        'price_text' => 'string', 'price' => 'string', 'rent_per_month' => 'string', 'deposit' => 'string',
        'bedrooms' => 'string', 'bathrooms' => 'string', 'reception_rooms' => 'string', 'address' => 'string', 'town' => 'string',
        'postcode' => 'string', 'latitude' => 'string', 'longitude' => 'string', 'tenure' => 'string', 'furnished' => 'string',
        'council_tax_band' => 'string', 'energy_rating' => 'string', 'available_on' => 'string', 'added_on' => 'string',
        'features' => 'array', 'tours' => 'array', 'documents' => 'array',
    ];
    private const TEXT_LENGTH = 500;
    private const LIST_LENGTH = 50;

    /**
     * Title, text and fields of the post of a listing (of PropertyListing::of). Title, content and excerpt are HTML and may
     * stand in a page as they are; fields are plain text, to be escaped where they are shown.
     *
     * @param array<string, mixed> $listing
     * @return array{post_title: string, post_content: string, post_excerpt: string, meta_input: array<string, string|list<mixed>>}
     */
    public static function of(array $listing): array
    {
        $fields = [];
        foreach (self::fields($listing) as $name => $value) {
            $fields[self::META . $name] = is_array($value) ? $value : self::short((string) $value);
        }
        return [
            'post_title' => self::escaped(self::short(self::title($listing))),
            'post_content' => self::inert($listing['description']['html'] !== '' ? $listing['description']['html'] : $listing['summary']['html']),
            'post_excerpt' => self::inert(self::escaped($listing['summary']['text'])),
            'meta_input' => $fields,
        ];
    }

    /** The words of a listing's address in the site; '' leaves it to WordPress. Public, so it has no number of a house. */
    public static function slugWords(array $listing): string
    {
        return self::short(self::title($listing));
    }

    /**
     * HTML in which nothing is run or fetched: no shortcode of whatever plugin, and no address that WordPress would ask for a
     * preview of.
     */
    public static function inert(string $html): string
    {
        return str_replace(['[', ']', '://'], ['&#091;', '&#093;', ':&#047;&#047;'], $html);
    }

    /** `YYYY-MM-DD 00:00:00` for a day that has come, else null: WordPress holds posts of a later day back. */
    public static function dateOf(?string $day, string $today): ?string
    {
        return $day !== null && $day <= $today && $day >= '1970-01-02' ? "$day 00:00:00" : null;
    }

    /** @param array<string, mixed> $listing */
    private static function title(array $listing): string
    {
        $parts = array_filter([$listing['type']['name'] ?? null, $listing['address']['town']]);
        return $listing['address']['display'] ?? ($parts === [] ? 'Property' : implode(', ', $parts));
    }

    /** @param array<string, mixed> $listing @return array<string, int|float|string|list<mixed>|null> */
    private static function fields(array $listing): array
    {
        $position = $listing['address']['position'];
        $links = static fn (array $media): array => array_map(
            static fn (array $item): array => ['url' => $item['url'], 'caption' => self::short($item['caption'])],
            array_slice($media, 0, self::LIST_LENGTH),
        );
        return [
            'ref' => $listing['reference'],
            'agent_reference' => $listing['agentReference'],
            'category' => $listing['category'],
            'status' => $listing['status']['name'] ?? null,
            'type' => $listing['type']['name'] ?? null,
            'price_text' => $listing['price']['text'],
            'price' => $listing['price']['amount'],
            'rent_per_month' => $listing['price']['rentPerMonth'],
            'deposit' => $listing['price']['deposit'],
            'bedrooms' => $listing['bedrooms'],
            'bathrooms' => $listing['bathrooms'],
            'reception_rooms' => $listing['receptionRooms'],
            'address' => $listing['address']['display'],
            'town' => $listing['address']['town'],
            'postcode' => $listing['address']['postcode'],
            'latitude' => $position['latitude'] ?? null,
            'longitude' => $position['longitude'] ?? null,
            'tenure' => $listing['tenure']['name'] ?? null,
            'furnished' => $listing['furnished']['name'] ?? null,
            'council_tax_band' => $listing['councilTaxBand']['name'] ?? null,
            'energy_rating' => $listing['energyRating']['name'] ?? null,
            'available_on' => $listing['availableOn'],
            'added_on' => $listing['addedOn'],
            'features' => array_map(self::short(...), array_slice($listing['features'], 0, self::LIST_LENGTH)),
            'tours' => $links($listing['tours']),
            'documents' => $links($listing['documents']),
        ];
    }

    private static function short(string $text): string
    {
        return preg_match('/^.{0,' . self::TEXT_LENGTH . '}/su', $text, $match) === 1 ? $match[0] : '';
    }

    private static function escaped(string $text): string
    {
        return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
    }
}
