import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { removeFolder, run, temporaryFolder } from './support/program.ts'

/** A Node that says of itself what the test wants; the processes it starts are what they are. */
function posingAs(version: string, platform: string): readonly string[] {
  const script = `
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })
    Object.defineProperty(process, 'version', { value: 'v${version}' })
    Object.defineProperty(process, 'platform', { value: '${platform}' })`
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`]
}

describe('on a Node that is too old', () => {
  it('where no Node is carried for the machine, one line says what to do', async () => {
    const { code, stdout, stderr } = await run(['--version'], { nodeArguments: posingAs('20.19.0', 'sunos') })
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.equal(stderr.trimEnd().split('\n').length, 1)
    assert.match(
      stderr,
      /needs Node 24 or newer, and this is v20\.19\.0: install one from https:\/\/nodejs\.org/,
    )
  })

  it('where one is carried, it runs the command instead', async () => {
    const { code, stdout, stderr } = await run(['--version'], {
      nodeArguments: posingAs('18.0.0', process.platform),
    })
    assert.equal(stderr, '')
    assert.equal(code, 0)
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
  })
})

describe('what Node makes of the sources', () => {
  it('is kept for the next start', async () => {
    const folder = temporaryFolder()
    const cache = join(folder, 'cache')
    for (let start = 0; start < 2; start += 1) {
      const { code, stderr } = await run(['--version'], { environment: { NODE_COMPILE_CACHE: cache } })
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
      assert.ok(readdirSync(cache, { recursive: true }).length > 10)
    }
    removeFolder(folder)
  })

  it('is not missed where it cannot be written', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'file')
    writeFileSync(file, 'no folder')
    const { code, stdout, stderr } = await run(['--version'], {
      environment: { NODE_COMPILE_CACHE: join(file, 'in') },
    })
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
    removeFolder(folder)
  })
})
