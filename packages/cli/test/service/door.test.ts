import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { removeFolder, run, start, temporaryFolder } from '../support/program.ts'

/** A Node that says of itself what the test wants; the processes it starts are what they are. */
function posingAs(version: string, platform: string): readonly string[] {
  const script = `
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })
    Object.defineProperty(process, 'version', { value: 'v${version}' })
    Object.defineProperty(process, 'platform', { value: '${platform}' })`
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`]
}

describe('on a Node that is too old', () => {
  it('if no Node is carried for the machine, one line says what to do', async () => {
    const { code, stdout, stderr } = await run(['--version'], { nodeArguments: posingAs('20.19.0', 'sunos') })
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.equal(stderr.trimEnd().split('\n').length, 1)
    assert.match(
      stderr,
      /needs Node 24 or newer, and this is v20\.19\.0: install one from https:\/\/nodejs\.org/,
    )
  })

  it('if one is carried, it runs the command instead', async () => {
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

  it('is not missed if it cannot be written', async () => {
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

// Where the system says of a process how it was started.
if (existsSync('/proc/self/cmdline')) {
  describe('what serves for long', () => {
    async function startedAs(environment: Readonly<Record<string, string>>) {
      const folder = temporaryFolder()
      const nodeArguments = ['--no-warnings']
      const running = await start(['serve', '--data', folder], { environment, nodeArguments })
      const told = (what: string): readonly string[] =>
        readFileSync(`/proc/${running.child.pid}/${what}`, 'utf8').split('\0')
      const [args, variables] = [told('cmdline'), told('environ')]
      assert.equal((await running.stop()).code, 0)
      removeFolder(folder)
      return { args, variables }
    }

    it('is the process that was started, with settings that spare memory, and with Node’s own settings', async () => {
      const { args, variables } = await startedAs({ OF_THE_OPERATOR: '1' })
      assert.ok(args.includes('--max-semi-space-size=16') && args.includes('--no-warnings'), args.join(' '))
      assert.ok(args.includes('--expose-gc') && variables.includes('MALLOC_MMAP_THRESHOLD_=131072'))
      assert.ok(
        args.includes('--heap-growing-percent=50') && args.includes('--invocation-count-for-turbofan=1000'),
      )
      // Trimming memory would say so on each start.
      assert.ok(args.includes('--disable-warning=ExperimentalWarning'))
      assert.ok(variables.includes('MALLOC_ARENA_MAX=1') && variables.includes('OF_THE_OPERATOR=1'))
    })

    it('starts without a setting that its Node does not know', async () => {
      const folder = temporaryFolder()
      const narrow = join(folder, 'node')
      const refusing = `case "$*" in *--heap-growing-percent*) echo "bad option" >&2; exit 9;; esac`
      writeFileSync(narrow, `#!/bin/sh\n${refusing}\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 })
      const posing = `Object.defineProperty(process, 'execPath', { value: ${JSON.stringify(narrow)} })`
      const nodeArguments = ['--import', `data:text/javascript,${encodeURIComponent(posing)}`]
      const running = await start(['serve', '--data', folder], { nodeArguments })
      const args = readFileSync(`/proc/${running.child.pid}/cmdline`, 'utf8').split('\0')
      assert.equal((await running.stop()).code, 0)
      removeFolder(folder)
      assert.ok(args.includes('--invocation-count-for-turbofan=1000') && args.includes('--expose-gc'))
      assert.ok(!args.includes('--heap-growing-percent=50'), args.join(' '))
    })

    it('is left as it is for whoever sets them', async () => {
      const given = await startedAs({ MALLOC_ARENA_MAX: '4' })
      assert.ok(given.variables.includes('MALLOC_ARENA_MAX=4'))
      assert.ok(!given.args.includes('--expose-gc'))
      assert.ok(!given.args.includes('--max-semi-space-size=16'), given.args.join(' '))
    })
  })
}
