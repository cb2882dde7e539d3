<?php

declare(strict_types=1);

require_once __DIR__ . '/CodeNames.php';

use PropertyEvents\CodeNames;
use PropertyEvents\ListingTables;

/**
 * A property as a page shows it: names in place of codes, a price as text, photographs in their order, a description that is safe
 * to put into a page. Two files (this one and CodeNames.php), PHP 8.1 or later, no extension and no package needed.
 *
 *     $listing = PropertyListing::of($change['payload']);
 *     echo htmlspecialchars($listing['address']['display'] ?? ''), ' ', htmlspecialchars($listing['price']['text'] ?? '');
 *     echo $listing['description']['html'];
 *
 * The members are those of `listing()` in the TypeScript client, where each is explained (packages/client/src/listing). Only the
 * two members named `html` may stand in a page as they are; escape all others.
 */
final class PropertyListing
{
    private const LET_AGREED = 6;
    private const ON_APPLICATION = 1;
    /** Pounds; no home costs more. */
    private const HIGHEST_PRICE = 1e12;
    /** `12`, `12a`, `12-14`, `1/2`, `7 & 9`, also after something else: `Flat 3, 12`. */
    private const NUMBER_AT_END = '/^(?:.*, ?)?([0-9]{1,5}(?: ?[a-z])?(?: ?[-–\/&] ?[0-9]{1,5}(?: ?[a-z])?){0,3})\z/iu';
    /** Without its blank. */
    private const WHOLE_POSTCODE = '/^([A-Z]{1,2}\d[A-Z\d]?|GIR)(\d[A-Z]{2})\z/';
    /** In characters. */
    private const LONGEST_ADDRESS = 2048;
    private const WEB_ADDRESS = '/^(https?):\/\/(\[[0-9A-F.]*:[0-9A-F.]*:[0-9A-F:.]*\]|[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]*)'
        . '(:[0-9]{1,5})?([\/?#].*)?\z/isu';
    /** What JavaScript calls white space. */
    private const BLANK = '[\s\p{Z}\x{FEFF}]';

    /**
     * @param array<string, mixed> $payload the payload, read with json_decode($text, true)
     * @param 'sales'|'lettings'|null $category where it is known; else it is read from the payload
     * @return array<string, mixed>
     */
    public static function of(array $payload, ?string $category = null): array
    {
        $category ??= self::isLetting($payload) ? 'lettings' : 'sales';
        $details = self::record($payload, 'details');
        $price = self::price(self::record($payload, 'price_information'), $category === 'lettings');
        $address = self::address(self::record($payload, 'address'));
        $summary = self::describe(self::text($details, 'summary'));
        $description = self::describe(self::text($details, 'description'));
        $reference = self::text($payload, 'agent_ref');
        $status = self::named('status', self::integer($payload, 'status'));
        if ($status !== null) {
            $status['name'] ??= self::words(self::text($payload, 'statusstring'));
        }
        $listing = [
            'reference' => $reference === null ? null : strtolower($reference),
            'agentReference' => self::text($payload, 'reference'),
            'branchId' => self::text($payload, 'branch_id'),
            'category' => $category,
            'published' => self::flag($payload, 'published'),
            'status' => $status,
            'type' => self::named('propertyType', self::integer($payload, 'property_type')),
            'isNewHome' => self::flag($payload, 'new_home') === true,
            'price' => $price,
            'address' => $address,
            'summary' => $summary,
            'description' => $description,
            'directions' => self::describe(self::text($payload, 'directions')),
            ...self::facts($payload, $details),
            ...self::media($payload),
            'availableOn' => self::day($payload, 'date_available'),
            'addedOn' => self::day($payload, 'create_date'),
            'changedOn' => self::day($payload, 'update_date'),
            'removalReason' => self::reason(self::text($payload, 'removal_reason')),
        ];
        $listing['missing'] = self::missing($listing);
        return $listing;
    }

    /** What a code of a list means (the lists of CodeNames); null for one that is not in the list. */
    public static function nameOf(string $list, int|string $code): ?string
    {
        return CodeNames::LISTS[$list][$code] ?? null;
    }

    /** The code of a name, in either case; null for a text that is none of the list's names. */
    public static function codeOf(string $list, string $name): int|string|null
    {
        foreach (CodeNames::LISTS[$list] ?? [] as $code => $known) {
            if (strtolower($known) === strtolower($name)) {
                return $code;
            }
        }
        return null;
    }

    /** In words, also where the payload has a code. */
    private static function reason(?string $reason): ?string
    {
        return $reason === null ? null : self::nameOf('removalReason', $reason) ?? PropertyText::plain($reason);
    }

    /** @param array<string, mixed> $payload */
    private static function isLetting(array $payload): bool
    {
        $price = self::record($payload, 'price_information');
        $details = self::record($payload, 'details');
        $signs = [
            self::integer($price, 'rent_frequency'),
            self::decimal($price, 'deposit'),
            self::integer($payload, 'contract_months'),
            self::integer($payload, 'let_type'),
            self::integer($payload, 'minimum_term'),
            self::integer($details, 'furnished_type'),
            self::flag($details, 'deposit_replacement_scheme'),
        ];
        $isLetAgreed = self::integer($payload, 'status') === self::LET_AGREED;
        // 0 and false are no signs: typed senders write them into what they did not fill in.
        return $isLetAgreed || array_filter($signs, static fn ($sign) => $sign === true || $sign > 0) !== [];
    }

    /** @param array<string, mixed> $price @return array<string, mixed> */
    private static function price(array $price, bool $isLetting): array
    {
        $qualifier = self::integer($price, 'price_qualifier');
        $words = self::words(self::text($price, 'price_qualifier_string')) ?? '';
        $isOnApplication = $qualifier === self::ON_APPLICATION
            || preg_match('/^(?:poa|price on application)\.?\z/i', $words) === 1;
        $amount = self::decimal($price, 'price');
        if ($isOnApplication || ($amount !== null && ($amount <= 0 || $amount > self::HIGHEST_PRICE))) {
            $amount = null;
        }
        $frequency = $isLetting ? self::integer($price, 'rent_frequency') : null;
        $suffix = ListingTables::FREQUENCY_TEXTS[$frequency ?? -1] ?? null;
        $prefix = $qualifier === null || $qualifier === 0 ? $words : self::nameOf('priceQualifier', $qualifier) ?? $words;
        $parts = $amount === null ? [] : array_filter([$prefix, self::pounds($amount), $suffix ?? ''], 'strlen');
        $text = implode(' ', $parts);
        return [
            'text' => $isOnApplication ? 'POA' : ($text === '' ? null : $text),
            'amount' => $amount,
            'qualifier' => self::named('priceQualifier', $qualifier),
            'rentFrequency' => self::named('rentFrequency', $frequency),
            'rentPerMonth' => $amount === null || $suffix === null ? null : self::pence($amount * $frequency / 12) / 100,
            'deposit' => self::decimal($price, 'deposit'),
            'sharedOwnership' => self::sharedOwnership($price),
        ];
    }

    /** @param array<string, mixed> $price @return array<string, mixed>|null */
    private static function sharedOwnership(array $price): ?array
    {
        $percentage = self::decimal($price, 'shared_ownership_percentage');
        $rent = self::decimal($price, 'shared_ownership_rent');
        if (self::flag($price, 'shared_ownership') !== true && $percentage === null && $rent === null) {
            return null;
        }
        $frequency = self::named('rentFrequency', self::integer($price, 'shared_ownership_rent_frequency'));
        return ['percentage' => $percentage, 'rent' => $rent, 'rentFrequency' => $frequency];
    }

    private static function pounds(float $amount): string
    {
        $pence = self::pence($amount);
        $whole = '£' . number_format(intdiv($pence, 100), 0, '.', ',');
        return $pence % 100 === 0 ? $whole : sprintf('%s.%02d', $whole, $pence % 100);
    }

    private static function pence(float $amount): int
    {
        return (int) floor($amount * 100 + 0.5);
    }

    /** @param array<string, mixed> $address @return array<string, mixed> */
    private static function address(array $address): array
    {
        $plain = static fn (string $name): string => PropertyText::plain(self::text($address, $name) ?? '');
        $postcode = self::postcode($plain('postcode_1'), $plain('postcode_2'));
        [$street, $town] = [$plain('address_2'), $plain('town')];
        $rest = [$plain('address_3'), $plain('address_4'), $town, $postcode];
        $lines = self::eachOnce([...self::houseAndStreet($plain('house_name_number'), $street), ...$rest]);
        $shown = implode(', ', self::eachOnce([$street, ...array_slice($rest, 0, 3)]));
        $display = $plain('display_address');
        return [
            'display' => $display !== '' ? $display : ($shown !== '' ? $shown : null),
            'lines' => $lines,
            'town' => $town === '' ? null : $town,
            'postcode' => $postcode === '' ? null : $postcode,
            'position' => self::position($address),
        ];
    }

    /**
     * "12" belongs in front of its street, "Rose Cottage" on a line of its own; neither is said twice.
     *
     * @return list<string>
     */
    private static function houseAndStreet(string $house, string $street): array
    {
        if ($street === '' || self::beginsWith($street, $house)) {
            return [$street === '' ? $house : $street];
        }
        if (preg_match(self::NUMBER_AT_END, $house, $found) !== 1) {
            return [$house, $street];
        }
        $before = substr($house, 0, strlen($house) - strlen($found[1]));
        return [self::beginsWith($street, $found[1]) ? "$before$street" : "$house $street"];
    }

    /** Some programs write all of it into one of its two fields, or into both. */
    private static function postcode(string ...$parts): string
    {
        $parts = array_map('strtoupper', $parts);
        [$first, $second] = str_replace(' ', '', $parts);
        $whole = $first . $second;
        foreach ([$second, $first] as $part) {
            $isWhole = preg_match(self::WHOLE_POSTCODE, $part) === 1;
            $whole = $isWhole && str_contains($part, $first) && str_contains($part, $second) ? $part : $whole;
        }
        return preg_match(self::WHOLE_POSTCODE, $whole, $found) === 1 ? "$found[1] $found[2]" : implode(' ', self::eachOnce($parts));
    }

    /** @param array<string, mixed> $address @return array{latitude: float, longitude: float}|null */
    private static function position(array $address): ?array
    {
        $latitude = self::decimal($address, 'latitude');
        $longitude = self::decimal($address, 'longitude');
        if ($latitude === null || $longitude === null || abs($latitude) > 90 || abs($longitude) > 180) {
            return null;
        }
        return $latitude == 0 && $longitude == 0 ? null : ['latitude' => $latitude, 'longitude' => $longitude];
    }

    /** @param array<string, mixed> $payload @param array<string, mixed> $details @return array<string, mixed> */
    private static function facts(array $payload, array $details): array
    {
        $price = self::record($payload, 'price_information');
        $energy = self::record($details, 'epc_information');
        $features = array_map(self::wordsOf(...), self::texts($details, 'features'));
        $one = static fn (string $list, array $from, string $name): ?array => self::named($list, self::integer($from, $name));
        $word = static fn (string $list, array $from, string $name): ?array => self::namedWord($list, self::text($from, $name));
        $some = static fn (string $list, string $name): array => self::namedAll($list, self::integers($details, $name));
        $words = static fn (string $list, string $name): array => self::namedWords($list, self::texts($details, $name));
        return [
            'bedrooms' => self::integer($details, 'bedrooms'),
            'bathrooms' => self::integer($details, 'bathrooms'),
            'receptionRooms' => self::integer($details, 'reception_rooms'),
            'features' => array_values(array_filter($features, 'strlen')),
            'rooms' => array_map(self::room(...), self::records($details, 'rooms')),
            'internalArea' => self::area($details, 'internal_area'),
            'landArea' => self::area($details, 'land_area'),
            'sizes' => self::sizes(self::record($details, 'sizing')),
            'tenure' => $one('tenure', $price, 'tenure_type'),
            'leaseYears' => self::integer($price, 'tenure_unexpired_years'),
            'furnished' => $one('furnishedType', $details, 'furnished_type'),
            'letType' => $one('letType', $payload, 'let_type'),
            'entranceFloor' => $one('entranceFloor', $details, 'entrance_floor'),
            'condition' => $one('condition', $details, 'condition'),
            'councilTaxBand' => $word('councilTaxBand', $details, 'council_tax_band'),
            'energyRating' => $word('energyRating', $energy, 'current_energy_rating'),
            'potentialEnergyRating' => $word('energyRating', $energy, 'potential_energy_rating'),
            'heating' => $some('heating', 'heating'),
            'parking' => $some('parking', 'parking'),
            'outsideSpace' => $some('outsideSpace', 'outside_space'),
            'accessibility' => $some('accessibility', 'accessibility'),
            'electricity' => $words('electricity', 'electricity'),
            'water' => $word('water', $details, 'water'),
            'sewerage' => $word('sewerage', $details, 'sewerage'),
            'broadband' => $words('broadband', 'broadband'),
            'floodingSources' => self::namedWords('sourceOfFlooding', self::floodingSources($payload, $details)),
            'commercialUse' => $some('commercialUseClass', 'comm_use_class'),
        ];
    }

    /** In the order of their weight: the contract's place, the datafeed's, and one more. */
    private static function floodingSources(array $payload, array $details): array
    {
        foreach ([self::record($payload, 'risks'), self::record($details, 'risks'), $details] as $place) {
            $sources = self::texts($place, 'sources_of_flooding');
            if ($sources !== []) {
                return $sources;
            }
        }
        return [];
    }

    /** @param array<string, mixed> $room @return array<string, mixed> */
    private static function room(array $room): array
    {
        $unit = self::nameOf('roomDimensionUnit', self::integer($room, 'room_dimension_unit') ?? -1) ?? '';
        $length = self::decimal($room, 'room_length');
        $width = self::decimal($room, 'room_width');
        $measured = $length === null || $width === null
            ? null
            : self::tidyEnds(self::figure($length) . ' × ' . self::figure($width) . " $unit");
        return [
            'name' => self::wordsOf(self::text($room, 'room_name')),
            'description' => self::describe(self::text($room, 'room_description'))['text'],
            'size' => self::wordsOf(self::text($room, 'room_dimension_text')) ?: $measured,
        ];
    }

    /** @param array<string, mixed> $details @return array<string, mixed>|null */
    private static function area(array $details, string $name): ?array
    {
        $size = self::decimal($details, $name);
        $unit = self::named('areaUnit', self::integer($details, "{$name}_unit"));
        return $size === null || $size <= 0 ? null : ['size' => $size, 'unit' => $unit];
    }

    /** @param array<string, mixed> $sizing @return array<string, mixed>|null */
    private static function sizes(array $sizing): ?array
    {
        $minimum = self::decimal($sizing, 'minimum');
        $maximum = self::decimal($sizing, 'maximum');
        $unit = self::named('areaUnit', self::integer($sizing, 'area_unit'));
        return $minimum === null && $maximum === null ? null : ['minimum' => $minimum, 'maximum' => $maximum, 'unit' => $unit];
    }

    /** @param array<string, mixed> $payload @return array<string, list<array<string, mixed>>> */
    private static function media(array $payload): array
    {
        $kinds = ['photographs', 'floorPlans', 'energyCertificates', 'tours', 'documents', 'otherMedia'];
        $media = array_fill_keys($kinds, []);
        $items = self::records($payload, 'media');
        $places = array_map(static fn (array $item): float => self::integer($item, 'sort_order') ?? INF, $items);
        // Stable: those without a place keep the order of the payload.
        uksort($items, static fn (int $a, int $b): int => $places[$a] <=> $places[$b] ?: $a <=> $b);
        foreach ($items as $item) {
            $url = self::webAddress(self::text($item, 'media_url') ?? '');
            $type = self::integer($item, 'media_type');
            $kind = ListingTables::MEDIA_KINDS[$type ?? -1] ?? 'otherMedia';
            // Each address once.
            if ($url === null || isset($media[$kind][$url])) {
                continue;
            }
            $media[$kind][$url] = [
                'url' => $url,
                'caption' => self::wordsOf(self::text($item, 'caption')),
                'type' => self::named('mediaType', $type),
                'updatedOn' => self::wallTime($item, 'media_update_date'),
            ];
        }
        return array_map(array_values(...), $media);
    }

    /**
     * The address as a browser asks for it: what cannot stand in an address or attribute is percent-encoded. Null if it cannot be
     * shown: another scheme, no host or port that can exist, a user name, too long.
     */
    private static function webAddress(string $text): ?string
    {
        // Browsers skip tabs and line ends, wherever they are.
        $given = str_replace(["\t", "\n", "\r"], '', self::tidyEnds($text));
        $isLong = strlen($given) > self::LONGEST_ADDRESS && preg_match_all('/./su', $given) > self::LONGEST_ADDRESS;
        if ($isLong || preg_match(self::WEB_ADDRESS, $given, $part, PREG_UNMATCHED_AS_NULL) !== 1) {
            return null;
        }
        [, $scheme, $host, $port, $rest] = $part;
        // A host that ends in a number is an address of four numbers.
        $endsInNumber = preg_match('/(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?\z/i', $host) === 1;
        $isFourNumbers = preg_match('/^(?:(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])(?:\.|\z)){4}\z/', $host) === 1;
        if ((int) substr($port ?? '', 1) > 65_535 || ($endsInNumber && !$isFourNumbers)) {
            return null;
        }
        $path = strcspn($rest ?? '', '?#');
        $place = str_replace('\\', '/', substr($rest ?? '', 0, $path)) . substr($rest ?? '', $path);
        $encode = static fn (array $found): string => rawurlencode($found[0]);
        return strtolower($scheme) . "://$host$port" . preg_replace_callback('/[^!#-&(-;=?-[\]_a-z~]/', $encode, $place);
    }

    /** @param array<string, mixed> $listing @return list<string> */
    private static function missing(array $listing): array
    {
        $isThere = [
            '/property_type' => $listing['type'] !== null,
            '/status' => $listing['status'] !== null,
            '/price_information/price' => $listing['price']['text'] !== null,
            '/price_information/rent_frequency' =>
                $listing['category'] === 'sales' || $listing['price']['rentFrequency'] !== null,
            '/address/display_address' => $listing['address']['display'] !== null,
            '/address/postcode_1' => $listing['address']['postcode'] !== null,
            '/address/latitude' => $listing['address']['position'] !== null,
            '/details/description' => $listing['description']['text'] !== '',
            '/details/summary' => $listing['summary']['text'] !== '',
            '/details/bedrooms' => $listing['bedrooms'] !== null,
            '/media' => $listing['photographs'] !== [],
        ];
        return array_keys(array_filter($isThere, static fn (bool $there): bool => !$there));
    }

    /** @return array{text: string, html: string} */
    private static function describe(?string $source): array
    {
        return (new PropertyDescription($source ?? ''))->read();
    }

    private static function wordsOf(?string $source): string
    {
        return (new PropertyDescription($source ?? ''))->words();
    }

    /** @return array{code: int|string, name: string|null}|null */
    private static function named(string $list, int|string|null $code): ?array
    {
        return $code === null ? null : ['code' => $code, 'name' => self::nameOf($list, $code)];
    }

    /** A word that is a code, in either case: `c` is the energy rating `C`. @return array{code: string, name: string|null}|null */
    private static function namedWord(string $list, ?string $word): ?array
    {
        if ($word === null) {
            return null;
        }
        foreach (array_keys(CodeNames::LISTS[$list]) as $code) {
            if (strtolower($code) === strtolower(self::tidyEnds($word))) {
                return self::named($list, $code);
            }
        }
        return self::named($list, $word);
    }

    /** @param list<string> $words @return list<array{code: string, name: string|null}> */
    private static function namedWords(string $list, array $words): array
    {
        return array_map(static fn (string $word): array => self::namedWord($list, $word), self::distinct($words));
    }

    /** @param list<int|string> $codes @return list<array{code: int|string, name: string|null}> */
    private static function namedAll(string $list, array $codes): array
    {
        return array_map(static fn (int|string $code): array => self::named($list, $code), self::distinct($codes));
    }

    /** Absent and null mean the same; what is written as another type is read where its meaning is clear. */
    private static function text(array $from, string $name): ?string
    {
        return self::asText($from[$name] ?? null);
    }

    private static function asText(mixed $value): ?string
    {
        return match (true) {
            is_string($value) => $value,
            is_bool($value) => $value ? 'true' : 'false',
            is_int($value), is_float($value) => self::figure($value),
            default => null,
        };
    }

    private static function decimal(array $from, string $name): ?float
    {
        return self::asDecimal($from[$name] ?? null);
    }

    private static function asDecimal(mixed $value): ?float
    {
        if (is_int($value) || is_float($value)) {
            return is_finite((float) $value) ? (float) $value : null;
        }
        $isNumber = is_string($value) && preg_match('/^\s*-?\d{1,15}(?:\.\d{1,15})?\s*\z/', $value) === 1;
        return $isNumber ? (float) trim($value) : null;
    }

    private static function integer(array $from, string $name): ?int
    {
        return self::asInteger($from[$name] ?? null);
    }

    private static function asInteger(mixed $value): ?int
    {
        $number = self::asDecimal($value);
        return $number !== null && floor($number) === $number && abs($number) < 2 ** 53 ? (int) $number : null;
    }

    private static function flag(array $from, string $name): ?bool
    {
        $value = $from[$name] ?? null;
        if (is_bool($value)) {
            return $value;
        }
        return match (is_array($value) ? '' : strtolower(self::asText($value) ?? '')) {
            'true', '1' => true,
            'false', '0' => false,
            default => null,
        };
    }

    /** @return array<string, mixed> empty where there is none */
    private static function record(array $from, string $name): array
    {
        $value = $from[$name] ?? null;
        return is_array($value) && !array_is_list($value) ? $value : [];
    }

    /** @return list<mixed> */
    private static function items(array $from, string $name): array
    {
        $value = $from[$name] ?? null;
        return is_array($value) && array_is_list($value) ? $value : [];
    }

    /** @return list<array<string, mixed>> */
    private static function records(array $from, string $name): array
    {
        $isRecord = static fn (mixed $item): bool => is_array($item) && ($item === [] || !array_is_list($item));
        return array_values(array_filter(self::items($from, $name), $isRecord));
    }

    /** @return list<string> */
    private static function texts(array $from, string $name): array
    {
        $texts = array_map(self::asText(...), self::items($from, $name));
        return array_values(array_filter($texts, static fn (?string $text): bool => $text !== null));
    }

    /** @return list<int> */
    private static function integers(array $from, string $name): array
    {
        $integers = array_map(self::asInteger(...), self::items($from, $name));
        return array_values(array_filter($integers, static fn (?int $code): bool => $code !== null));
    }

    private static function day(array $from, string $name): ?string
    {
        $time = self::wallTime($from, $name);
        return $time === null ? null : substr($time, 0, 10);
    }

    /** `DD-MM-YYYY`, alone or with `HH:mm:ss` (the hour also with one digit), as `YYYY-MM-DD` or `YYYY-MM-DDTHH:mm:ss`, still Europe/London. */
    private static function wallTime(array $from, string $name): ?string
    {
        $value = $from[$name] ?? null;
        $pattern = '/^(\d{2})-(\d{2})-(\d{4})(?: (\d{1,2}):(\d{2}):(\d{2}))?\z/';
        if (!is_string($value) || preg_match($pattern, $value, $part) !== 1) {
            return null;
        }
        if (!checkdate((int) $part[2], (int) $part[1], (int) $part[3])) {
            return null;
        }
        $day = "$part[3]-$part[2]-$part[1]";
        if (!isset($part[4])) {
            return $day;
        }
        return $part[4] > 23 || $part[5] > 59 || $part[6] > 59 ? null : sprintf('%sT%02d:%s:%s', $day, $part[4], $part[5], $part[6]);
    }

    private static function tidyEnds(string $text): string
    {
        return preg_replace('/^' . self::BLANK . '++|' . self::BLANK . '++\z/u', '', $text) ?? '';
    }

    private static function words(?string $text): ?string
    {
        $words = PropertyText::plain($text ?? '');
        return $words === '' ? null : $words;
    }

    /**
     * Without empty lines, and without those that say the same in other capitals.
     *
     * @param list<string> $lines
     * @return list<string>
     */
    private static function eachOnce(array $lines): array
    {
        $found = [];
        foreach ($lines as $line) {
            $isSame = static fn (string $other): bool => $other === $line || self::begins($other, $line, '\z');
            if ($line !== '' && array_filter($found, $isSame) === []) {
                $found[] = $line;
            }
        }
        return $found;
    }

    /** Whether a text begins with whole words, in any case. */
    private static function beginsWith(string $text, string $words): bool
    {
        return $words !== '' && self::begins($text, $words, '(?![\p{L}\p{N}])');
    }

    private static function begins(string $text, string $words, string $end): bool
    {
        $isShort = preg_match('/^.{0,200}\z/su', $words) === 1;
        return $isShort && preg_match('/^' . preg_quote($words, '/') . $end . '/iu', $text) === 1;
    }

    /** @param list<int|string> $values @return list<int|string> each once, in their order */
    private static function distinct(array $values): array
    {
        return array_values(array_unique($values));
    }

    /** As JSON writes a number, without ".0". */
    private static function figure(int|float $number): string
    {
        return preg_replace('/\.0(?=e|\z)/', '', (string) json_encode($number)) ?? '';
    }
}

/** What agencies' programs write in place of characters, read as the TypeScript client reads it (packages/client/src/listing/entities.ts). */
final class PropertyText
{
    private const LONGEST_OLD_NAME = 6;
    /** Names that stand inside of words; others without a semicolon end at a letter. */
    private const INSIDE_WORDS = '/^(?:nbsp|quot|[A-Za-z]{1,2}(?:acute|grave|circ|uml|tilde|ring|cedil|slash|lig))\z/';
    private const REFERENCE = '/&((?:amp;){0,9})(?:#(\d+)(;?)|#[xX]([0-9A-Fa-f]+)(;?)|([A-Za-z][A-Za-z0-9]{1,30})(;?))(?=(=?))'
        . '|[\x{80}-\x{9f}]/u';
    /** Control characters, and those that turn the direction of the text around them. */
    private const UNSEEN = '/[\x{0}-\x{8}\x{e}-\x{1f}\x{7f}\x{202a}-\x{202e}\x{2066}-\x{2069}]/u';
    /** `<` and `>`, escaped or not: parts of expressions. */
    public const ESCAPED_LESS = '&(?:amp;){0,9}(?:lt|#0*+60|#x0*+3c);';
    public const ANY_MORE = '(?:>|&(?:amp;){0,9}(?:gt|#0*+62|#x0*+3e);)';
    private const CHARACTER_DATA = '/(?:<|' . self::ESCAPED_LESS . ')!\[CDATA\[(.*?)(?:\]\]' . self::ANY_MORE . '|\z)/si';

    /** A text of one line, such as a line of an address. */
    public static function plain(string $text): string
    {
        return self::tidy(self::decode(self::unwrap($text)));
    }

    /** The text without what nobody sees, and what stands in `<![CDATA[…]]>` without that. */
    public static function unwrap(string $text): string
    {
        return preg_replace([self::UNSEEN, self::CHARACTER_DATA], ['', '$1'], $text) ?? '';
    }

    public static function tidy(string $text): string
    {
        return trim(preg_replace('/[\s\p{Z}\x{FEFF}]+/u', ' ', $text) ?? '', ' ');
    }

    public static function decode(string $text): string
    {
        return preg_replace_callback(self::REFERENCE, self::characterOf(...), $text, -1, $count, PREG_UNMATCHED_AS_NULL) ?? '';
    }

    /** @param array<int, string|null> $found */
    private static function characterOf(array $found): string
    {
        [$whole, $again, $decimal, $decimalEnd, $hexadecimal, $hexadecimalEnd, $name, $nameEnd, $equals] = $found;
        if ($again === null) {
            return ListingTables::WINDOWS[ord($whole[1]) - 0x80];
        }
        $end = $decimalEnd ?? $hexadecimalEnd ?? $nameEnd;
        $isSure = $end !== '' && ($name === null || isset(ListingTables::ENTITIES[$name]));
        return match (true) {
            $again !== '' && !$isSure => '&' . substr($whole, strlen('&amp;')),
            $decimal !== null => self::characterAt(strlen(ltrim($decimal, '0')) > 7 ? PHP_INT_MAX : (int) $decimal),
            $hexadecimal !== null => self::characterAt(strlen(ltrim($hexadecimal, '0')) > 6 ? PHP_INT_MAX : (int) hexdec($hexadecimal)),
            $isSure => ListingTables::ENTITIES[$name],
            default => self::decodeBegin($name, $end, $equals === '=') ?? $whole,
        };
    }

    /** `$isAssigned`: as in `?a=1&copy=2`, which is no reference. */
    private static function decodeBegin(string $name, string $end, bool $isAssigned): ?string
    {
        for ($length = min(strlen($name), self::LONGEST_OLD_NAME); $length > 1; $length--) {
            $begin = substr($name, 0, $length);
            if (!isset(ListingTables::OLD_ENTITIES[$begin])) {
                continue;
            }
            $next = substr($name, $length, 1);
            $isWhole = $next === '' ? !$isAssigned : preg_match('/\d/', $next) === 1;
            $isMeant = $isWhole || preg_match(self::INSIDE_WORDS, $begin) === 1;
            return $isMeant ? ListingTables::OLD_ENTITIES[$begin] . substr($name, $length) . $end : null;
        }
        return null;
    }

    private static function characterAt(int $point): string
    {
        $isControl = $point < 0x9 || ($point > 0xd && $point < 0x20) || $point === 0x7f;
        return match (true) {
            $point === 0, $point >= 0xd800 && $point <= 0xdfff, $point > 0x10ffff => "\u{fffd}",
            $isControl, $point >= 0x202a && $point <= 0x202e, $point >= 0x2066 && $point <= 0x2069 => '',
            $point < 0x80 => chr($point),
            $point < 0xa0 => ListingTables::WINDOWS[$point - 0x80],
            $point < 0x800 => chr(0xc0 | $point >> 6) . chr(0x80 | $point & 0x3f),
            $point < 0x10000 => chr(0xe0 | $point >> 12) . chr(0x80 | $point >> 6 & 0x3f) . chr(0x80 | $point & 0x3f),
            default => chr(0xf0 | $point >> 18) . chr(0x80 | $point >> 12 & 0x3f) . chr(0x80 | $point >> 6 & 0x3f)
                . chr(0x80 | $point & 0x3f),
        };
    }
}

/** Makes text, and HTML of nine elements without attributes, of whatever an agency pasted. */
final class PropertyDescription
{
    private const COMMENTS = '/<!--.*?(?:-->|\z)|<![^>]*+(?:>|\z)|<\?[^>]*+(?:>|\z)/s';
    private const HIDDEN = '/<(script|style|title|textarea|template|iframe|noscript|object|svg|math|xmp|noembed|noframes)\b.*?'
        . '(?:<\/\1[^>]*+(?:>|\z)|\z)/si';
    /** A tag begins with a letter; any other "<" is a character. It always ends, with the text if nowhere else. */
    private const TAG = '/<(\/?)([A-Za-z][A-Za-z0-9]*+)(?:=[\s\p{Z}\x{FEFF}]*+(?:"[^"]*+(?:"|\z)|\'[^\']*+(?:\'|\z))|[^>])*+(?:>|\z)/u';
    private const USUAL_NAMES = 'p|br|hr|b|strong|i|em|u|ul|ol|li|div|span|h[1-6]|table|tbody|tr|td|th|font|a|img|script|style';
    /** A tag that was escaped, so that readers would see it. */
    private const ESCAPED_TAG = '/' . PropertyText::ESCAPED_LESS . '\/?(?:' . self::USUAL_NAMES . ')'
        . '(?:[\s\/]*+' . PropertyText::ANY_MORE . '|\s++[a-z-]++\s*+=)/i';
    private const ESCAPED_MARK = '/&(?:amp|lt|gt|quot|apos|#0*+(?:34|38|39|60|62)|#x0*+(?:22|26|27|3c|3e));/i';
    /** The tags of blocks and lines, which nobody writes about: escaped among others that are not, they are meant as tags, too. */
    private const ESCAPED_BLOCK = '/' . PropertyText::ESCAPED_LESS . '(\/?(?:p|br|ul|ol|li|div|span|strong|em|h[1-6])'
        . '(?:[\s\p{Z}\x{FEFF}][^<>]{0,200}?|\/)?)' . PropertyText::ANY_MORE . '/iu';
    /** Nobody escapes a text more often. */
    private const MOST_ESCAPES = 3;
    private const BLANKS = '[\s\p{Z}\x{FEFF}]+';

    /** @var list<array{kind: string, html: string, text: string}> */
    private array $blocks = [];
    /** @var list<string> */
    private array $lists = [];
    /** @var list<string> */
    private array $open = [];
    private string $kind = 'p';
    private string $html = '';
    private string $text = '';

    public function __construct(private readonly string $source)
    {
    }

    /** @return array{text: string, html: string} */
    public function read(): array
    {
        $this->readBlocks();
        return ['text' => $this->blocksAsText(), 'html' => $this->blocksAsHtml()];
    }

    /** The words of a text that should have no tags, in one line. */
    public function words(): string
    {
        $this->readBlocks();
        return str_replace("\n", ' ', implode(' ', array_column($this->blocks, 'text')));
    }

    private function readBlocks(): void
    {
        $source = $this->cleaned();
        $tags = self::tagsIn($source);
        $isBlock = static fn (array $tag): bool => in_array(strtolower($tag[2][0]), ListingTables::BLOCKS, true);
        // In HTML with paragraphs a line feed is a blank; in all other texts it ends a line.
        $hasBlocks = array_filter($tags, $isBlock) !== [];
        $from = 0;
        foreach ($tags as $tag) {
            $this->addText(substr($source, $from, $tag[0][1] - $from), $hasBlocks);
            $from = $tag[0][1] + strlen($tag[0][0]);
            $this->addTag(strtolower($tag[2][0]), $tag[1][0] === '/');
        }
        $this->addText(substr($source, $from), $hasBlocks);
        $this->close();
    }

    private function cleaned(): string
    {
        $decode = static fn (array $mark): string => PropertyText::decode($mark[0]);
        $markup = PropertyText::unwrap($this->source);
        for ($times = 0; $times < self::MOST_ESCAPES && self::isEscaped($markup); $times++) {
            $markup = PropertyText::unwrap(preg_replace_callback(self::ESCAPED_MARK, $decode, $markup) ?? '');
        }
        return preg_replace([self::ESCAPED_BLOCK, self::COMMENTS, self::HIDDEN], ['<$1>', '', ' '], $markup) ?? '';
    }

    /** Whether a text is HTML that was escaped as a whole: it has escaped tags, and no others but the `<br>` of its line ends. */
    private static function isEscaped(string $source): bool
    {
        $isOther = static fn (array $tag): bool => strtolower($tag[2][0]) !== 'br';
        return preg_match(self::ESCAPED_TAG, $source) === 1 && array_filter(self::tagsIn($source), $isOther) === [];
    }

    /** @return list<array<int, array{string, int}>> */
    private static function tagsIn(string $source): array
    {
        preg_match_all(self::TAG, $source, $tags, PREG_SET_ORDER | PREG_OFFSET_CAPTURE);
        return $tags;
    }

    private function addTag(string $name, bool $isEnd): void
    {
        if (isset(ListingTables::INLINE[$name])) {
            $this->addInline(ListingTables::INLINE[$name], $isEnd);
        } elseif (in_array($name, ListingTables::BLOCKS, true)) {
            $this->addBlock($name, $isEnd);
        } elseif ($name === 'br') {
            $this->addBreak();
        } elseif ($name === 'td' || $name === 'th') {
            $this->addWords(' ');
        }
    }

    private function addText(string $source, bool $isHtml): void
    {
        $text = PropertyText::decode($source);
        $lines = $isHtml ? [$text] : preg_split('/\r\n|\n|\r/', $text);
        foreach ($lines as $index => $line) {
            $words = preg_replace('/' . self::BLANKS . '/u', ' ', $line) ?? '';
            if ($index > 0 && trim($words) === '' && $index < count($lines) - 1) {
                $this->close();
            } elseif ($index > 0) {
                $this->addBreak();
            }
            $this->addWords($words);
        }
    }

    private function addWords(string $words): void
    {
        $last = substr($this->text, -1);
        $added = $last === '' || $last === ' ' || $last === "\n" ? ltrim($words, ' ') : $words;
        $this->html .= self::escape($added);
        $this->text .= $added;
    }

    private function addBreak(): void
    {
        // One empty line at most, however many there were.
        if ($this->text !== '' && !str_ends_with($this->text, "\n\n")) {
            $this->html .= '<br>';
            $this->text .= "\n";
        }
    }

    private function addInline(string $name, bool $isEnd): void
    {
        $at = array_search($name, $this->open, true);
        if ($isEnd && $at !== false) {
            $this->closeInline($at);
        }
        if (!$isEnd && $at === false) {
            $this->open[] = $name;
            $this->html .= "<$name>";
        }
    }

    private function closeInline(int $from): void
    {
        foreach (array_reverse(array_splice($this->open, $from)) as $name) {
            $this->html .= "</$name>";
        }
    }

    private function addBlock(string $name, bool $isEnd): void
    {
        $this->close();
        if ($name === 'ul' || $name === 'ol') {
            if ($isEnd) {
                array_pop($this->lists);
            } else {
                $this->lists[] = $name;
            }
        }
        if (!$isEnd && $name === 'li') {
            $this->kind = $this->lists[count($this->lists) - 1] ?? 'ul';
        }
        if (!$isEnd && preg_match('/^h[1-6]\z/', $name) === 1) {
            $this->kind = 'h3';
        }
    }

    private function close(): void
    {
        $this->closeInline(0);
        $text = trim(preg_replace('/ ?\n ?/', "\n", $this->text) ?? '', " \n");
        if ($text !== '') {
            $this->blocks[] = ['kind' => $this->kind, 'html' => self::tidyHtml($this->html), 'text' => $text];
        }
        $this->html = '';
        $this->text = '';
        $this->kind = 'p';
    }

    private static function tidyHtml(string $html): string
    {
        $emphasisOnNothing = '/<(strong|em)>( ?)<\/\1>/';
        // Twice: one inside the other.
        $html = preg_replace([$emphasisOnNothing, $emphasisOnNothing], '$2', $html) ?? '';
        $html = preg_replace('/ ?<br> ?/', '<br>', $html) ?? '';
        return trim(preg_replace('/(?: |<br>){1,3}\z/', '', $html) ?? '', ' ');
    }

    private static function escape(string $text): string
    {
        return str_replace(['&', '<', '>', '"'], ['&amp;', '&lt;', '&gt;', '&quot;'], $text);
    }

    private function blocksAsText(): string
    {
        $text = '';
        $before = null;
        foreach ($this->blocks as ['kind' => $kind, 'text' => $own]) {
            $isItem = $kind === 'ul' || $kind === 'ol';
            $text .= $before === null ? '' : ($isItem && $before === $kind ? "\n" : "\n\n");
            $text .= ($isItem ? '- ' : '') . $own;
            $before = $kind;
        }
        return $text;
    }

    private function blocksAsHtml(): string
    {
        $html = '';
        foreach ($this->blocks as $index => ['kind' => $kind, 'html' => $own]) {
            if ($kind === 'p' || $kind === 'h3') {
                $html .= "<$kind>$own</$kind>";
                continue;
            }
            $html .= ($this->blocks[$index - 1]['kind'] ?? '') === $kind ? '' : "<$kind>";
            $html .= "<li>$own</li>";
            $html .= ($this->blocks[$index + 1]['kind'] ?? '') === $kind ? '' : "</$kind>";
        }
        return $html;
    }
}
