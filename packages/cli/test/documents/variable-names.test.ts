/** The names of the variables for the service's address and the key, in everything that is shipped or documented. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { describe, it } from 'node:test'
import { publishKeyVariable } from '../../src/settings/settings.ts'
import { documents, root } from '../support/documents.ts'

const allowed: ReadonlySet<string> = new Set([
  'PROPERTY_EVENTS_URL',
  'PROPERTY_EVENTS_KEY',
  // Where one terminal needs a second key.
  publishKeyVariable,
  // A website's own address, which the service is told.
  'SITE_URL',
  // PHP's own: the path of the page that a browser asks the website for.
  'REQUEST_URI',
])

/** Folders and files of which everything is shipped, or read by whoever uses the project. */
const places = [
  'Dockerfile',
  'deploy',
  'examples',
  'openapi.json',
  'packages/cli/bin',
  'packages/cli/src',
  'packages/client/src',
  'packages/console/built',
  'packages/console/src',
  'packages/demo/src',
  'packages/protocol/src',
  'packages/server/src',
  'packages/tables/src',
  'scripts/reference',
]

/** What neither holds text nor is read by a user. */
const leftOut = /(?:^|\/)(?:node_modules|test)(?:\/|$)|\.test\.ts$/
const binary: ReadonlySet<string> = new Set(['.png', '.ico', '.gz', '.br', '.mo', '.woff2', '.db'])

function filesUnder(place: string): readonly string[] {
  if (leftOut.test(place)) return []
  const path = join(root, place)
  if (!statSync(path).isDirectory()) return binary.has(extname(basename(place))) ? [] : [place]
  return readdirSync(path).flatMap((name) => filesUnder(`${place}/${name}`))
}

const name = '[A-Z][A-Z0-9_]*'
/** An address or a key, by its last word. */
const means = /(?:^|_)(?:API|APIKEY|KEY|TOKEN|URL|URI|ADDRESS|ENDPOINT|BASE|SERVER|SERVICE)$/

/** Where a variable's name stands, in any of the languages. */
const readings = [
  new RegExp(String.raw`process\.env(?:\??\.)?(?:\[['"\x60])?(${name})`, 'g'),
  new RegExp(String.raw`(?:getenv|environ\.get|defined?|constant)\(\s*['"](${name})['"]`, 'g'),
  new RegExp(String.raw`(?:\$_(?:ENV|SERVER)|environ)\[['"](${name})['"]\]`, 'g'),
  new RegExp(String.raw`\$\{?(${name})\b`, 'g'),
  new RegExp(String.raw`(?<![\w$-])(${name})=(?=["'$\w])`, 'g'),
  new RegExp(String.raw`^\s*-?\s*(${name}):\s`, 'gm'),
  new RegExp(String.raw`(?:\x60|<code>)\$?(${name})(?:\x60|</code>)`, 'g'),
  // A name of several words is a variable's wherever it stands.
  /\b([A-Z][A-Z0-9_]*_(?:APIKEY|KEY|TOKEN|URL|ENDPOINT))\b/g,
]

/** The names in a text of variables for an address or a key. */
function namesIn(text: string): readonly string[] {
  const destructured = [...text.matchAll(/\{([^{}]*)\}\s*=\s*process\.env/g)].flatMap(([, inside = '']) =>
    inside.split(',').map((part) => /\w+/.exec(part)?.[0] ?? ''),
  )
  const read = readings.flatMap((reading) => [...text.matchAll(reading)].map(([, found = '']) => found))
  return [...new Set([...destructured, ...read])].filter((found) => means.test(found))
}

describe('the variables for the address and the key', () => {
  it('are one pair in everything that is shipped or documented', () => {
    const files = [...documents, ...places.flatMap(filesUnder)]
    const others = files.flatMap((file) =>
      namesIn(readFileSync(join(root, file), 'utf8'))
        .filter((found) => !allowed.has(found))
        .map((found) => `${file}: ${found}`),
    )
    assert.deepEqual([...new Set(others)].toSorted(), [])
  })

  it('are looked for in every language that is shipped', () => {
    const examples: readonly (readonly [string, readonly string[]])[] = [
      ["const { FEED_URL = '', KEY: key } = process.env", ['FEED_URL', 'KEY']],
      ['key: process.env.API_KEY', ['API_KEY']],
      ["process.env['KEY'] ?? ''", ['KEY']],
      ["new PropertyFeed(getenv('URL'), $_ENV['TOKEN'])", ['URL', 'TOKEN']],
      ["define('FEED_API_KEY', 'pev_…');", ['FEED_API_KEY']],
      ['curl -H "x-api-key: $KEY" "${URL}/v1/heads"', ['KEY', 'URL']],
      ['export URL=https://feed.example.com KEY=pev_…', ['URL', 'KEY']],
      ['Set `KEY` to a key that reads.', ['KEY']],
      ["os.environ['SERVICE_URL']; os.environ.get('KEY')", ['KEY', 'SERVICE_URL']],
      ['    environment:\n      FEED_KEY: pev_…\n', ['FEED_KEY']],
      ['keys revoke KEY; new URL(text); PRIMARY KEY; `keys usage KEY`', []],
    ]
    for (const [text, found] of examples) assert.deepEqual(namesIn(text).toSorted(), found.toSorted(), text)
  })
})
