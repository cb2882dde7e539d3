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
    assert.deepEqual(filesWith(/node:ffi|process\.(?:dlopen|binding)\(/), ['server/src/trim-memory.ts'])
  })

  it('make regular expressions of constants and of the patterns of our own schemas', () => {
    const made = filesWith(/\bnew RegExp\(|\bRegExp\(/)
    assert.deepEqual(made, [
      'protocol/src/key-text.ts',
      'protocol/src/payload/find-faults.ts',
      'server/src/feed/state-token.ts',
    ])
  })

  it('call nobody but the database: no address that was sent is ever requested', () => {
    const calls =
      /\bfetch\(|\bnew WebSocket\b|\bnew EventSource\b|'node:(?:https|http2|dns|dgram|tls)'|'undici'/
    assert.deepEqual(filesWith(calls), [])
    assert.deepEqual(filesWith(/(?:\bhttp|\bnet)\.(?:request|get|connect|createConnection)\(/), [])
    const libraries = sources.flatMap(({ path, code }) =>
      [...code.matchAll(/(?:from|import\() ?'(pg)'/g)].map(([, name]) => ({ path, name })),
    )
    assert.ok(libraries.length > 0)
    for (const { path } of libraries) assert.match(path, /^server\/src\/storage\/postgres\//)
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
      if (name === 'sha1') assert.equal(path, 'server/src/storage/plan-append.ts')
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

  it('spread waits with Math.random, and make nothing else with it, such as what must not be guessed', () => {
    const lines = sources.flatMap(({ code }) =>
      code.split('\n').filter((line) => line.includes('Math.random')),
    )
    assert.ok(lines.length > 0)
    for (const line of lines) assert.match(line, /\w+(?:Ms|Seconds)\b/, line)
  })
})
