import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const writer = fileURLToPath(import.meta.resolve('../../src/store/sqlite/writer/writer-thread.ts'))

describe("the writer's thread", () => {
  it('loads only the database from outside, and no schemas, so that it starts at once', () => {
    assert.deepEqual(packagesFrom(writer).packages, ['better-sqlite3'])
  })

  it('loads only the plain parts of the protocol: rules and codes of payloads would take 10 ms and 3 MB for nothing', () => {
    const loaded = packagesFrom(writer).files.filter((path) =>
      /protocol.(src.payload.index|schemas)/.test(path),
    )
    assert.deepEqual(loaded, [])
  })
})

/** The packages, and the files of ours, that are loaded with a file, directly or by what it imports. Types are not loaded. */
function packagesFrom(file: string): {
  readonly packages: readonly string[]
  readonly files: readonly string[]
} {
  const packages = new Set<string>()
  const seen = new Set<string>()
  const visit = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    const { resolve } = createRequire(path)
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(loaded)) {
      if (name.startsWith('.')) visit(join(dirname(path), name))
      else if (name.startsWith('@property-events/')) visit(resolve(name))
      else if (!name.startsWith('node:')) packages.add(name)
    }
  }
  visit(file)
  return { packages: [...packages].toSorted(), files: [...seen] }
}

const loaded = /^(?:import|export) (?!type )[^;]*? from '([^']+)'/gm
