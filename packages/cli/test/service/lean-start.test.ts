/** What a start loads. Each library here was once loaded and used for nothing: together 34 MB of 137. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { removeFolder, start, temporaryFolder } from '../support/program.ts'

/** Writes down the packages whose modules a process loads, and the parts of Node that it has loaded at its end. */
function recordingTo(file: string): readonly string[] {
  const script = `
    import { appendFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    registerHooks({
      load(url, context, nextLoad) {
        const name = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]
        if (name !== undefined) appendFileSync(${JSON.stringify(file)}, name + '\\n')
        return nextLoad(url, context)
      },
    })
    process.on('exit', () => appendFileSync(${JSON.stringify(file)}, process.moduleLoadList.join('\\n')))`
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`]
}

/** Each with what it would be loaded for. */
const unused = {
  typebox: 'checks of payloads are made ahead of time, and an installed program has no TypeBox',
  fastify: 'requests are answered without a framework; only a benchmark of the usual way has one',
  pg: 'the store is SQLite',
  'NativeModule internal/deps/undici/undici': 'a service asks no other one',
}

describe('a service that starts', () => {
  it('loads nothing that it does not use, even when its documents are requested', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'loaded')
    const service = await start(['serve', '--data', join(folder, 'data')], {
      nodeArguments: recordingTo(file),
    })
    for (const path of ['/openapi.json', '/docs']) {
      assert.equal((await fetch(`${service.line.url}${path}`)).status, 200)
    }
    const { code, stderr } = await service.stop()
    assert.equal(code, 0, stderr)
    const loaded = new Set(readFileSync(file, 'utf8').split('\n'))
    removeFolder(folder)
    for (const name of ['find-my-way', 'NativeModule http'])
      assert.ok(loaded.has(name), `${name} is recorded`)
    for (const [name, reason] of Object.entries(unused)) assert.ok(!loaded.has(name), `${name}: ${reason}`)
  })
})
