<?php

declare(strict_types=1);

/**
 * A website of listings: what is for sale, what is to let, a page for each home. It reads the tables that `sync sqlite:website.db`
 * keeps in step, and knows nothing of the feed.
 *
 * Needs PHP 8.1 or later with PDO for SQLite (php-sqlite3).
 *
 *     php -S 127.0.0.1:8090 website.php
 */

$database = new PDO('sqlite:' . __DIR__ . '/website.db');
$database->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$database->setAttribute(PDO::ATTR_DEFAULT_FETCH_MODE, PDO::FETCH_ASSOC);
// The tables belong to `sync`; a page only reads them, and waits for a batch that is being written.
$database->exec('PRAGMA busy_timeout = 5000');
$database->exec('PRAGMA query_only = ON');

function rows(PDO $database, string $query, string $value): array
{
    $statement = $database->prepare($query);
    $statement->execute([$value]);
    return $statement->fetchAll();
}

function escaped(?string $text): string
{
    return htmlspecialchars($text ?? '', ENT_QUOTES | ENT_SUBSTITUTE);
}

/** A price that has changed since this copy was made, with the day. */
function note(array $home): string
{
    if ($home['previous_price'] === null) {
        return '';
    }
    $before = '£' . number_format((float) $home['previous_price']);
    $day = substr((string) $home['price_changed_at'], 0, 10);
    $words = $home['price'] < $home['previous_price'] ? "Reduced from $before on $day" : "Was $before until $day";
    return '<div class="note">' . escaped($words) . '</div>';
}

function facts(array $home): string
{
    $kind = ($home['bedrooms'] === null ? '' : $home['bedrooms'] . ' bedroom ') . $home['type'];
    return '<div class="price">' . escaped($home['price_text']) . '</div>' . note($home)
        . ($home['is_available'] ? '' : '<div class="status">' . escaped($home['status']) . '</div>')
        . '<div>' . escaped($kind) . '</div>';
}

/** The cards of one category, the newest first. */
function listPage(PDO $database, string $category, string $title): array
{
    $homes = rows($database, 'SELECT * FROM listings WHERE category = ? ORDER BY first_seen_at DESC', $category);
    $cards = array_map(static fn (array $home): string => '<li data-reference="' . escaped($home['reference'])
        . '"><a href="/listings/' . escaped($home['reference']) . '"><img loading="lazy" alt="" src="' . escaped($home['main_photograph'])
        . '">' . facts($home) . '<div class="address">' . escaped($home['display_address']) . '</div></a></li>', $homes);
    return [200, $title, "<h1>$title: " . count($homes) . ' homes</h1><ul class="cards">' . implode("\n", $cards) . '</ul>'];
}

/** 410 for a home that has left the market, so that search engines forget it; 404 for one that was never here. */
function listingPage(PDO $database, string $reference): array
{
    $home = rows($database, 'SELECT * FROM listings WHERE reference = ?', $reference)[0] ?? null;
    if ($home === null) {
        $removed = rows($database, 'SELECT reason FROM listing_removed WHERE reference = ?', $reference)[0] ?? null;
        return $removed === null
            ? [404, 'Not found', '<h1>There is no such home here</h1>']
            : [410, 'Gone', '<h1>This home is no longer on the market</h1><p>' . escaped($removed['reason']) . '</p>'];
    }
    $media = rows($database, 'SELECT kind, url, caption FROM listing_media WHERE reference = ? ORDER BY kind DESC, position', $reference);
    $pictures = '';
    foreach ($media as ['kind' => $kind, 'url' => $url, 'caption' => $caption]) {
        if ($kind !== 'tour' && $kind !== 'document') {
            $pictures .= "<li class=\"$kind\"><img alt=\"" . escaped($caption) . '" src="' . escaped($url) . '">' . escaped($caption) . '</li>';
        }
    }
    $title = $home['display_address'] ?? 'A home';
    // The description is safe as it stands: `sync` leaves nine elements without attributes in it.
    return [200, $title, '<h1>' . escaped($title) . '</h1>' . facts($home) . "<ul class=\"cards\">$pictures</ul>" . $home['description_html']];
}

$path = (string) parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
[$status, $title, $body] = match (true) {
    $path === '/' => listPage($database, 'sales', 'For sale'),
    $path === '/to-let' => listPage($database, 'lettings', 'To let'),
    default => listingPage($database, str_starts_with($path, '/listings/') ? substr($path, 10) : ''),
};
http_response_code($status);
header('content-type: text/html; charset=utf-8');
header("content-security-policy: default-src 'none'; img-src http: https:; style-src 'unsafe-inline'");
?>
<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title><?= escaped($title) ?></title><style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 70rem; padding: 1rem; color: #222 }
.cards { display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); padding: 0; list-style: none }
img { width: 100%; aspect-ratio: 4 / 3; object-fit: cover; border-radius: 6px; background: #eee }
.price { font-weight: 700; font-size: 1.15rem } .note { color: #a33 } .status { color: #666 }
a { color: #14507a; text-decoration: none } nav a { margin-right: 1rem }
</style><nav><a href="/">For sale</a><a href="/to-let">To let</a></nav><?= $body ?></html>
