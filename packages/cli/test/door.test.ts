import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { run } from './support/program.ts'

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
