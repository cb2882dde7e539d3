/** What the sources of a service do not have, so that nothing from outside can reach it there. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const packages = join(import.meta.dirname, '../..')

interface Source {
  readonly path: string
  /** Without comments, which may name what the code does not do. */
  readonly code: string
}

/** What runs while a service serves: its own sources and those it shares with clients. */
const sources: readonly Source[] = ['protocol/src', 'server/src'].flatMap((folder) =>
  readdirSync(join(packages, folder), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.ts'))
    .toSorted()
    .map((name) => ({ path: `${folder}/${name}`, code: codeOf(join(packages, folder, name)) })),
)

function codeOf(path: string): string {
  return readFileSync(path, 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*$/gm, '')
}

/** The files with a match that is not allowed. */
function filesWith(pattern: RegExp, allowed: readonly string[] = []): readonly string[] {
  return sources
    .filter(({ path, code }) => pattern.test(code) && !allowed.includes(path))
    .map(({ path }) => path)
}

/** What repeats outside the loop of the background, and why: none asks the store for as long as it runs. */
const repeatsElsewhere: Readonly<Record<string, string>> = {
  'server/src/runtime/memory/process-memory.ts': 'looks at the memory of its own process',
  'server/src/runtime/memory/thread-memory.ts': 'looks at the memory of its own process',
  'server/src/privacy/contact-expiry/worker.ts': 'the parts of one step of a worker',
  'server/src/live/tail.ts': 'only while readers follow a feed, and only to wake the worker that looks',
  'server/src/keys/access/key-recheck.ts': 'only while requests wait, whose keys it checks',
  'server/src/http/transport/index.ts': 'closes idle connections while the service stops',
  'server/src/http/transport/stalled-readers.ts': 'only while answers are being sent',
  'server/src/runtime/log/outage.ts': 'only during an outage, which it ends',
  'server/src/events/time-reservation.ts': 'only while requests ask for open windows',
  'server/src/transfer/compare.ts': 'only while a command copies a store or moves a tenant',
}

describe('the sources of a service', () => {
  it('are found, or nothing here would prove anything', () => {
    assert.ok(sources.length > 100)
    assert.notDeepEqual(filesWith(/from 'node:crypto'/), [])
    assert.notDeepEqual(filesWith(/createServer\(/), [])
  })

  it('run no text as code and start no program', () => {
    assert.deepEqual(filesWith(/\beval\(|\bnew Function\b|\bFunction\(|'node:vm'|'node:child_process'/), [])
  })

  it('call the C library by one function alone, which takes nothing that was sent', () => {
    assert.deepEqual(filesWith(/node:ffi|process\.(?:dlopen|binding)\(/), [
      'server/src/runtime/memory/process-memory.ts',
    ])
  })

  it('make regular expressions of constants and of the patterns of our own schemas', () => {
    const made = filesWith(/\bnew RegExp\(|\bRegExp\(/)
    assert.deepEqual(made, [
      'protocol/src/key-text.ts',
      'protocol/src/payload/duties/excluding-words.ts',
      'protocol/src/payload/duties/rent-wording.ts',
      'protocol/src/payload/find-faults.ts',
      'server/src/live/state-token.ts',
    ])
  })

  it('call nobody but the database and, in what sends webhooks, their receivers through the one check of addresses', () => {
    const calls =
      /\bfetch\(|\bnew WebSocket\b|\bnew EventSource\b|'node:(?:https|http2|dns(?:\/promises)?|dgram|tls)'|'undici'/
    const receiver = 'server/src/webhooks/receiver.ts'
    assert.deepEqual(filesWith(calls), ['server/src/webhooks/receiver-address.ts', receiver])
    const code = sources.find(({ path }) => path === receiver)?.code ?? ''
    assert.equal(code.match(/\brequestHttps?\(/g)?.length, 2)
    assert.match(code, /lookup: checkedLookup\(check\)/)
    assert.match(code, /isLiteral \? await check\.host\(/)
    // A receiver is made with a check alone, and only by what sends webhooks.
    assert.match(code, /export function receiverAt\(url: URL, check: AddressCheck,/)
    for (const path of filesWith(/\breceiverAt\b/)) assert.match(path, /^server\/src\/webhooks\//)
    assert.deepEqual(filesWith(/(?:\bhttp|\bnet)\.(?:request|get|connect|createConnection)\(/), [])
    const libraries = sources.flatMap(({ path, code }) =>
      [...code.matchAll(/(?:from|import\() ?'(pg)'/g)].map(([, name]) => ({ path, name })),
    )
    assert.ok(libraries.length > 0)
    for (const { path } of libraries) assert.match(path, /^server\/src\/(?:sql|store)\/postgres\//)
  })

  it('hash with SHA-256, and with SHA-1 only where the standard for UUIDs of version 5 requires it', () => {
    const named = sources.flatMap(({ path, code }) =>
      [...code.matchAll(/\b(?:hash|createHash|createHmac)\(\s*'([\w-]+)'/g)].map(([, name]) => ({
        path,
        name,
      })),
    )
    assert.ok(named.length > 5)
    for (const { path, name } of named) {
      if (name === 'sha1') assert.equal(path, 'server/src/runtime/hashes.ts')
      else assert.equal(name, 'sha256', path)
    }
  })

  it('know in one file alone which short codes say that a subject is gone (PROTOCOL §5.2)', () => {
    const spelled =
      /['"`](?:Property(?:Published|Updated|Unpublished)|Contact(?:Created|Updated|Erased))['"`]/
    assert.deepEqual(filesWith(spelled), ['protocol/src/event-types.ts'])
    // A code is given by `standardCode` and never compared with it: `meaningOf` answers what a code says.
    const compared = /[!=]==?\s*standardCode\(|standardCode\([^)]*\)\s*[!=]==?|\bstandardCodes\b/
    assert.deepEqual(filesWith(compared), ['protocol/src/event-types.ts'])
  })

  it('decide in one file whether a feed takes a change, and in one how a tenant stands (PROTOCOL §5, D7)', () => {
    // The state of a tenant that is moved or deleted is also changed, and named for the operator, where that is done.
    const ofState = /^server\/src\/(?:tenants\/|transfer\/|audit\/changes\.ts)/
    const compared =
      /\bclosedBy\s*[!=]==?|\bmove IS (?:NOT )?NULL|[!=]== '(?:leaving|left|abandoned)'|startsWith\('arriving/
    assert.deepEqual(
      filesWith(compared).filter((path) => !ofState.test(path)),
      ['server/src/events/feed.ts'],
    )
    // Whoever is refused passes the refusal on; a deletion has one of its own, and a replay counts them.
    const named = /\bkind: 'tenantMoving'|[!=]== '(?:tenantMoving|tenant_moving)'/
    const toSay = ['server/src/privacy/erasure/replay-erasures.ts', 'server/src/tenants/deletion/routes.ts']
    assert.deepEqual(
      filesWith(named, toSay).filter((path) => !ofState.test(path)),
      ['server/src/events/feed.ts'],
    )
    const stood = /\breadingEndsMs\s*[<>]|[^=][<>]=?\s*readingEndsMs|\bsuspended\s*(?:\|\||&&)/
    assert.deepEqual(filesWith(stood), ['server/src/tenants/tenant-state.ts'])
  })

  it('work in the background in one loop, which reports, waits and stops for all', () => {
    const repeats =
      /while \([^)]*![\w.]*(?:aborted|[cC]losed|[sS]topped)|for \(;;\) \{\s*await (?:pause|delay|wait)\b|\bsetInterval\(|\bsetTimeout\(\(\) => (?:void |\{\s*\w+\(\))/
    assert.deepEqual(filesWith(repeats, Object.keys(repeatsElsewhere)), ['server/src/runtime/worker-loop.ts'])
    // Each of these still has a reason to be here.
    for (const path of Object.keys(repeatsElsewhere)) assert.ok(filesWith(repeats).includes(path), path)
  })

  it('spread waits with Math.random, and make nothing else with it, such as what must not be guessed', () => {
    const lines = sources.flatMap(({ code }) =>
      code.split('\n').filter((line) => line.includes('Math.random')),
    )
    assert.ok(lines.length > 0)
    for (const line of lines) assert.match(line, /\w+(?:Ms|Seconds)\b/, line)
  })
})
