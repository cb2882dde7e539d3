/** `publish` and the signals that end it: where it stopped, what continues it, and who has to go with whom. */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { root } from '../support/documents.ts'
import { door, finished, run, spawnProgram, startMarket } from '../support/program.ts'
import type { Finished, Market } from '../support/program.ts'
import { startPublishProxy } from '../support/publish-proxy.ts'
import type { PublishProxy } from '../support/publish-proxy.ts'
import { until } from '../../../server/test/support/until.ts'

let market: Market
let proxy: PublishProxy
let environment: Readonly<Record<string, string>>
before(async () => {
  market = await startMarket()
  proxy = await startPublishProxy(market.url)
  environment = {
    PROPERTY_EVENTS_URL: proxy.url,
    PROPERTY_EVENTS_KEY: market.publishKey,
    XDG_STATE_HOME: join(market.folder, 'state'),
  }
})
after(async () => {
  proxy.close()
  await market.close()
})

let files = 0
/** A file of new homes; a request takes 500 of them. */
function fileOf(count: number): string {
  files += 1
  const file = join(market.folder, `signals-${files}.ndjson`)
  const home = (index: number) => ({
    payload: {
      agent_ref: `7a1c0f52-9a0e-4d53-${String(8000 + files)}-${String(index).padStart(12, '0')}`,
      published: true,
      details: { summary: `Tŷ ar werth – £${index},000 🏡` },
    },
  })
  writeFileSync(
    file,
    Array.from({ length: count }, (_, index) => `${JSON.stringify(home(index))}\n`).join(''),
  )
  return file
}

/** Holds back the answer to the request with this number, from 0, and resolves once it is held. */
function holdAnswer(held: number): Promise<void> {
  let seen = 0
  return new Promise((resolve) => {
    proxy.decide(async (passing) => {
      const isHeld = seen === held
      seen += 1
      if (isHeld) return resolve()
      await passing.forward()
      passing.pass()
    })
  })
}

/** Sends the signal in the middle of request number `held`, and gives what came of the process and all that it had started. */
async function stopIn(
  held: number,
  start: () => ChildProcess,
  signal: NodeJS.Signals,
): Promise<Finished & { readonly signal: NodeJS.Signals | null }> {
  const isHeld = holdAnswer(held)
  const child = start()
  const ending = finished(child)
  await Promise.race([isHeld, ending.then(({ stderr }) => assert.fail(stderr))])
  child.kill(signal)
  const ended = await ending
  proxy.decide(undefined)
  return { ...ended, signal: child.signalCode }
}

const started = (file: string): ChildProcess => {
  const child = spawnProgram(['publish', file, '--json'], { environment })
  child.stdin?.end()
  return child
}

/** As `npm run property-events` and an older Node start it: a process that starts another one. */
const wrappers = {
  'npm’s script': ['scripts/run.mjs', 'cli'],
  'a Node that is too old': ['--import', posingAs('20.19.0'), door],
} as const

function posingAs(version: string): string {
  const script = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  return `data:text/javascript,${encodeURIComponent(script)}`
}

function wrapped(wrapper: readonly string[], file: string): ChildProcess {
  const { PATH = '', HOME = '' } = process.env
  return spawn(process.execPath, [...wrapper, 'publish', file, '--json'], {
    cwd: root,
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** What the same command publishes when nothing holds it up: what was answered before is not sent again. */
async function totalsOfRest(file: string): Promise<readonly (number | undefined)[]> {
  const { code, stdout, stderr } = await run(['publish', file, '--json'], { environment })
  assert.equal(code, 0, stderr)
  const { published, repeated, unchanged, refused } = JSON.parse(stdout) as Record<string, number>
  return [published, repeated, unchanged, refused]
}

describe('publish, stopped by a signal', () => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    it(`says after which line, fails with ${code}, and the same command publishes the rest (${signal}, D14)`, async () => {
      const file = fileOf(1_200)
      const ended = await stopIn(1, () => started(file), signal)
      assert.equal(ended.code, code, ended.stderr)
      assert.equal(ended.stdout, '')
      assert.match(ended.stderr, /^stopped after line 500; the same command continues/m)
      assert.deepEqual(await totalsOfRest(file), [700, 0, 0, 0])
    })
  }

  it('names the line of the whole file, also when it continued a run (D14)', async () => {
    const file = fileOf(1_700)
    await stopIn(1, () => started(file), 'SIGINT')
    const second = await stopIn(1, () => started(file), 'SIGTERM')
    assert.equal(second.code, 143)
    assert.match(second.stderr, /^stopped after line 1000; the same command continues/m)
    assert.deepEqual(await totalsOfRest(file), [700, 0, 0, 0])
  })

  it('ends at once while it waits for a service that is away, and when nothing was answered yet (D14)', async () => {
    const file = fileOf(3)
    proxy.decide(async (passing) => {
      passing.answer(503, { code: 'maintenance', detail: 'Later.' })
      passing.pass()
    })
    const child = started(file)
    const ending = finished(child)
    await new Promise<void>((resolve) => {
      child.stderr?.on('data', (text: string) => /Trying again in/.test(text) && resolve())
    })
    child.kill('SIGINT')
    const { code, stderr } = await ending
    proxy.decide(undefined)
    assert.equal(code, 130, stderr)
    assert.match(stderr, /^stopped after line 0; the same command continues/m)
    assert.deepEqual(await totalsOfRest(file), [3, 0, 0, 0])
  })

  it('of standard input, says what to send again, and keeps no file of it (D14)', async () => {
    const child = spawnProgram(['publish'], { environment: { ...environment, TMPDIR: market.folder } })
    child.stdin?.write('{"payload":{"agent_ref":"7a1c0f52-9a0e-4d53-8fff-000000000001","published":true}}\n')
    const ending = finished(child)
    await until(() => readdirSync(market.folder).some((name) => name.startsWith('property-events-')), {
      what: 'the copy of the input',
    })
    child.kill('SIGTERM')
    const { code, stderr } = await ending
    assert.equal(code, 143, stderr)
    assert.match(stderr, /^stopped before anything was sent; the same command starts again\.$/m)
    assert.deepEqual(
      readdirSync(market.folder).filter((name) => name.startsWith('property-events-')),
      [],
    )
  })

  it('of a named pipe that nobody writes to, ends all the same (D14)', async () => {
    const pipe = join(market.folder, 'pipe £')
    execFileSync('mkfifo', [pipe])
    const child = spawnProgram(['publish', pipe], { environment: { ...environment, TMPDIR: market.folder } })
    const ending = finished(child)
    await until(() => readdirSync(market.folder).some((name) => name.startsWith('property-events-')), {
      what: 'the copy of the input',
    })
    child.kill('SIGINT')
    const { code, stderr } = await ending
    assert.equal(code, 130, stderr)
    assert.match(stderr, /^stopped before anything was sent/m)
  })

  it('of a named pipe that is not open yet, leaves nothing waiting for a writer (D14)', async () => {
    const pipe = join(market.folder, 'pipe not open €')
    execFileSync('mkfifo', [pipe])
    const source = new URL('../../src/publishing/source.ts', import.meta.url)
    const program = `import { openSource } from ${JSON.stringify(source.href)}
      const stop = new AbortController()
      const opening = openSource(${JSON.stringify(pipe)}, undefined, stop.signal)
      stop.abort()
      await opening.catch((error) => console.error(error.name))`
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 10_000,
    })
    assert.deepEqual([ended.status, ended.stderr.trim()], [0, 'AbortError'])
  })
})

describe('publish, below a process that has started it', () => {
  for (const [name, wrapper] of Object.entries(wrappers)) {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      it(`has its exit code through ${name} (${signal}, D14)`, async () => {
        const file = fileOf(700)
        const ended = await stopIn(1, () => wrapped(wrapper, file), signal)
        assert.equal(ended.code, code, ended.stderr)
        assert.match(ended.stderr, /^stopped after line 500; the same command continues/m)
      })
    }

    it(`ends when ${name} is killed outright, and the same command continues (SIGKILL, D14)`, async () => {
      const file = fileOf(700)
      // Its output closes when all that hold it have ended.
      const ended = await stopIn(1, () => wrapped(wrapper, file), 'SIGKILL')
      assert.equal(ended.signal, 'SIGKILL')
      assert.match(ended.stderr, /^stopped after line 500; the same command continues/m)
      assert.deepEqual(await totalsOfRest(file), [200, 0, 0, 0])
    })
  }

  for (const [name, command] of [
    ['npm', ['npm', 'run', 'property-events', '--']],
    ['npx', ['npx', 'property-events']],
  ] as const) {
    it(`ends when ${name} is killed, which runs it in a shell (SIGKILL, D14)`, async () => {
      const file = fileOf(700)
      const [program = '', ...args] = command
      const { PATH = '', HOME = '' } = process.env
      const start = () =>
        spawn(program, [...args, 'publish', file], {
          cwd: root,
          env: { PATH, HOME, ...environment },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
      const ended = await stopIn(1, start, 'SIGKILL')
      assert.equal(ended.signal, 'SIGKILL')
      assert.match(ended.stderr, /^stopped after line 500; the same command continues/m)
      assert.deepEqual(await totalsOfRest(file), [200, 0, 0, 0])
    })
  }
})
