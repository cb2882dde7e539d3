/**
 * A website of listings: what is for sale, what is to let, a page for each home. It reads the tables that `sync sqlite:website.db`
 * keeps in step, and knows nothing of the feed.
 *
 * Needs Node 24 or later and no package.
 *
 *     node website.ts website.db
 */
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'

const database = new DatabaseSync(process.argv[2] ?? 'website.db', { timeout: 5_000 })
// The tables belong to `sync`; a page only reads them.
database.exec('PRAGMA query_only = ON')

interface Card {
  readonly reference: string
  readonly display_address: string | null
  readonly price_text: string | null
  readonly status: string | null
  readonly is_available: number
  readonly type: string | null
  readonly bedrooms: number | null
  readonly main_photograph: string | null
  readonly note: string | null
}

/** A price that has changed since this copy was made is named with the day: both as text, for a page. */
const note = `CASE WHEN previous_price IS NULL THEN NULL
  WHEN price < previous_price THEN 'Reduced from £' || printf('%,d', previous_price) || ' on ' || date(price_changed_at)
  ELSE 'Was £' || printf('%,d', previous_price) || ' until ' || date(price_changed_at) END AS note`

const cards = database.prepare(
  `SELECT *, ${note} FROM listings WHERE category = ? ORDER BY first_seen_at DESC`,
)
const one = database.prepare(`SELECT *, ${note} FROM listings WHERE reference = ?`)
const media = database.prepare(
  'SELECT kind, url, caption FROM listing_media WHERE reference = ? ORDER BY kind DESC, position',
)
const gone = database.prepare('SELECT reason FROM listing_removed WHERE reference = ?')

function pageOf(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 70rem; padding: 1rem; color: #222 }
.cards { display: grid; gap: 1.5rem; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); padding: 0; list-style: none }
img { width: 100%; aspect-ratio: 4 / 3; object-fit: cover; border-radius: 6px; background: #eee }
.price { font-weight: 700; font-size: 1.15rem } .note { color: #a33 } .status { color: #666 }
a { color: #14507a; text-decoration: none } nav a { margin-right: 1rem }
</style><nav><a href="/">For sale</a><a href="/to-let">To let</a></nav>${body}</html>`
}

/** The cards of one category, the newest first. */
function listPage(category: 'sales' | 'lettings', title: string): string {
  // SQLite says nothing of types: these are the columns of the query.
  const homes = cards.all(category) as unknown as readonly Card[]
  const items = homes.map(
    (home) => `<li data-reference="${home.reference}"><a href="/listings/${home.reference}">
<img loading="lazy" alt="" src="${escaped(home.main_photograph ?? '')}">${facts(home)}
<div class="address">${escaped(home.display_address ?? '')}</div></a></li>`,
  )
  return pageOf(title, `<h1>${title}: ${homes.length} homes</h1><ul class="cards">${items.join('\n')}</ul>`)
}

function facts(home: Card): string {
  const kind = [home.bedrooms === null ? '' : `${home.bedrooms} bedroom`, home.type ?? ''].join(' ')
  return [
    `<div class="price">${escaped(home.price_text ?? '')}</div>`,
    home.note === null ? '' : `<div class="note">${escaped(home.note)}</div>`,
    home.is_available === 1 ? '' : `<div class="status">${escaped(home.status ?? '')}</div>`,
    `<div>${escaped(kind)}</div>`,
  ].join('')
}

/** 410 for a home that has left the market, so that search engines forget it; 404 for one that was never here. */
function listingPage(reference: string): readonly [status: number, html: string] {
  // As above.
  const home = one.get(reference) as unknown as (Card & { readonly description_html: string }) | undefined
  if (home === undefined) {
    const removed = gone.get(reference)
    if (removed === undefined) return [404, pageOf('Not found', '<h1>There is no such home here</h1>')]
    const reason = removed['reason'] === null ? '' : `<p>${escaped(String(removed['reason']))}</p>`
    return [410, pageOf('Gone', `<h1>This home is no longer on the market</h1>${reason}`)]
  }
  const pictures = media.all(reference).filter(({ kind }) => kind !== 'tour' && kind !== 'document')
  const shown = pictures.map(
    ({ kind, url, caption }) =>
      `<li class="${String(kind)}"><img alt="${escaped(String(caption))}" src="${escaped(String(url))}">${escaped(String(caption))}</li>`,
  )
  const title = home.display_address ?? 'A home'
  // The description is safe as it stands: `sync` leaves nine elements without attributes in it.
  const body = `<h1>${escaped(title)}</h1>${facts(home)}<ul class="cards">${shown.join('\n')}</ul>${home.description_html}`
  return [200, pageOf(title, body)]
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function answer(path: string): readonly [status: number, html: string] {
  if (path === '/') return [200, listPage('sales', 'For sale')]
  if (path === '/to-let') return [200, listPage('lettings', 'To let')]
  return listingPage(path.startsWith('/listings/') ? path.slice('/listings/'.length) : '')
}

const server = createServer((request, response) => {
  const [status, html] = answer(new URL(request.url ?? '/', 'http://localhost').pathname)
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; img-src http: https:; style-src 'unsafe-inline'",
  })
  response.end(html)
})

const port = Number(process.env['PORT'] ?? 8090)
server.listen(port, '127.0.0.1', () => console.log(`The website is at http://127.0.0.1:${port}`))
