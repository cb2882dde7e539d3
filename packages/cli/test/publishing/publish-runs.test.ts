/** What a run of `publish` is: every run counts, and one that was interrupted is gone on with. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { door, run, startMarket } from '../support/program.ts'
import type { Finished, Market } from '../support/program.ts'
import { cutOff as killAt, startPublishProxy } from '../support/publish-proxy.ts'
import type { PublishProxy } from '../support/publish-proxy.ts'

let market: Market
let proxy: PublishProxy
let environment: Readonly<Record<string, string>>
before(async () => {
  market = await startMarket()
  proxy = await startPublishProxy(market.url)
  environment = { PROPERTY_EVENTS_URL: proxy.url, PROPERTY_EVENTS_KEY: market.publishKey }
})
after(async () => {
  proxy.close()
  await market.close()
})

let names = 0
function path(ending = 'ndjson'): string {
  names += 1
  return join(market.folder, `runs-${names}.${ending}`)
}

function fileOf(...lines: readonly string[]): string {
  const file = path()
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

let subjects = 0
function newSubject(): string {
  subjects += 1
  return `3f0c1d52-9a0e-4d53-8f21-${String(subjects).padStart(12, '0')}`
}

function priced(subject: string, price: number): string {
  return JSON.stringify({ payload: { agent_ref: subject, published: true, price_information: { price } } })
}

/** So many lines of properties that nothing is asked about: a request takes 500. */
function others(count: number): readonly string[] {
  return Array.from({ length: count }, () => priced(newSubject(), 1))
}

/** Prices of a property in the order of its events; `gone` for a removal. */
async function history(subject: string): Promise<readonly (number | 'gone')[]> {
  const response = await fetch(`${market.url}/v1/properties/${subject}/history`, {
    headers: { 'x-api-key': market.readKey },
  })
  const { items } = (await response.json()) as { items: readonly { payload: string }[] }
  return items.map(({ payload }) => {
    const { published, price_information } = JSON.parse(payload) as {
      published: boolean
      price_information: { price: number }
    }
    return published ? price_information.price : 'gone'
  })
}

const totalsOf = ({ stdout }: Finished) => {
  const { published, repeated, unchanged, refused } = JSON.parse(stdout) as Record<string, number>
  return [published, repeated, unchanged, refused]
}

interface PublishOptions {
  readonly flags?: readonly string[]
  readonly input?: string
  readonly variables?: Readonly<Record<string, string>>
}

/** A folder of its own for what runs keep. */
function stateHome(): { readonly variables: Readonly<Record<string, string>>; readonly journals: string } {
  const home = path('state')
  return { variables: { XDG_STATE_HOME: home }, journals: join(home, 'property-events', 'publish') }
}

const publish = (file: string, { flags = [], input, variables = {} }: PublishOptions = {}) =>
  run(['publish', file, '--json', ...flags], {
    environment: { ...environment, ...variables },
    ...(input === undefined ? {} : { input }),
  })

/** A run that is killed when the service has stored one request more than it was told of. */
const cutOff = (file: string, stored: number, { flags = [], variables = {} }: PublishOptions = {}) =>
  killAt(
    proxy,
    [file, ...flags],
    { request: stored, moment: 'stored' },
    { environment: { ...environment, ...variables } },
  )

describe('every run of publish counts', () => {
  it('a price that goes back goes back: a file equal to an earlier one is published (D14)', async () => {
    const subject = newSubject()
    const [a, b] = [fileOf(priced(subject, 100_000)), fileOf(priced(subject, 200_000))]
    for (const file of [a, b, a]) assert.deepEqual(totalsOf(await publish(file)), [1, 0, 0, 0])
    assert.deepEqual(await history(subject), [100_000, 200_000, 100_000])
  })

  it('a property that was removed and is listed again is published again (D14, D26)', async () => {
    const subject = newSubject()
    const listing = fileOf(priced(subject, 1))
    const removal = fileOf(JSON.stringify({ remove: { agentRef: subject, reason: 9 } }))
    for (const file of [listing, removal, listing, removal]) {
      assert.deepEqual(totalsOf(await publish(file)), [1, 0, 0, 0])
    }
    assert.deepEqual(await history(subject), [1, 'gone', 1, 'gone'])
  })

  it('does the same for lines from a pipe; what has not changed is skipped and not stored twice (D14)', async () => {
    const subject = newSubject()
    const { variables, journals } = stateHome()
    for (const [price, expected] of [
      [1, [1, 0, 0, 0]],
      [2, [1, 0, 0, 0]],
      [2, [0, 0, 1, 0]],
      [1, [1, 0, 0, 0]],
      [1, [0, 0, 1, 0]],
    ] as const) {
      const ended = await publish('-', { input: priced(subject, price), variables })
      assert.deepEqual(totalsOf(ended), expected)
      assert.equal(ended.code, 0)
    }
    assert.deepEqual(await history(subject), [1, 2, 1])
    assert.equal(existsSync(journals), false, 'nothing can be gone on with, so nothing is kept')
  })

  it('reads a named pipe, /dev/stdin and a process substitution as standard input', async () => {
    const { variables, journals } = stateHome()
    const pipe = path('fifo')
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0)
    const [one, two, three] = [newSubject(), newSubject(), newSubject()]
    const written = writeFile(pipe, priced(one, 1))
    const ofPipe = await publish(pipe, { variables })
    assert.equal(ofPipe.stderr, '')
    assert.deepEqual(totalsOf(ofPipe), [1, 0, 0, 0])
    await written
    const bySubject = {
      [two]: 'printf %s "$2" | "$0" "$1" publish /dev/stdin --json',
      [three]: '"$0" "$1" publish <(printf %s "$2") --json',
    }
    for (const [subject, command] of Object.entries(bySubject)) {
      // The proxy is in this process, so nothing here may block.
      const shell = spawn('bash', ['--norc', '-c', command, process.execPath, door, priced(subject, 2)], {
        env: { PATH: process.env['PATH'], ...environment, ...variables },
      })
      const [stdout, stderr] = await Promise.all([text(shell.stdout), text(shell.stderr)])
      assert.equal(stderr, '')
      assert.deepEqual(totalsOf({ stdout, stderr, code: 0 }), [1, 0, 0, 0])
    }
    for (const subject of [one, two, three]) assert.equal((await history(subject)).length, 1)
    assert.equal(existsSync(journals), false, 'nothing can be gone on with, so nothing is kept')
    assert.match((await publish(market.folder, { variables })).stderr, /neither a file nor a named pipe/)
  })

  it('says loudly when every line was a repeat, and is silent when one was not (D14)', async () => {
    const withId = (price: number) => {
      const id = newSubject()
      return JSON.stringify({ id, ...(JSON.parse(priced(newSubject(), price)) as object) })
    }
    const [one, two] = [withId(1), withId(2)]
    assert.doesNotMatch((await publish(fileOf(one, two))).stderr, /NOTHING/)
    const again = await publish(fileOf(two, one))
    assert.deepEqual(totalsOf(again), [0, 2, 0, 0])
    assert.match(
      again.stderr,
      /^NOTHING WAS STORED: each of the 2 lines carries an id that the feed has had before\./m,
    )
    assert.equal(again.code, 0)
    assert.doesNotMatch((await publish(fileOf(one, withId(3)))).stderr, /NOTHING/)
  })
})

describe('a run that was interrupted', () => {
  it('is continued where the service had answered, and stores nothing twice and leaves nothing out (P6)', async () => {
    const { variables, journals } = stateHome()
    const subject = newSubject()
    // The file sets a price and changes it again: published as a new run, it would do both a second time.
    const lines = [priced(subject, 1), ...others(499), priced(subject, 2), ...others(499), ...others(100)]
    const file = fileOf(...lines)
    await cutOff(file, 1, { variables })
    assert.deepEqual(await history(subject), [1, 2])
    const again = await publish(file, { variables })
    assert.match(
      again.stderr,
      /^Continuing the run of .*runs-\d+\.ndjson that was interrupted .* ago after line 500\. Until then: 500 published, 0 repeated, 0 unchanged, 0 refused\. --new-run starts a new one\.$/m,
    )
    // The request that was stored, and whose answer got lost, comes back as repeats.
    assert.deepEqual(totalsOf(again), [100, 500, 0, 0])
    assert.equal(again.code, 0)
    assert.deepEqual(await history(subject), [1, 2])
    assert.deepEqual(readdirSync(journals), [], 'nothing is left of a run that has ended')
    // So the next one is a new run.
    assert.deepEqual(totalsOf(await publish(file, { variables })), [2, 0, 1098, 0])
    assert.deepEqual(await history(subject), [1, 2, 1, 2])
  })

  it('is begun anew when the service was restored since: what it had acknowledged may be gone (D13)', async () => {
    const { variables, journals } = stateHome()
    const lines = [...others(500), priced(newSubject(), 1), ...others(99)]
    const file = fileOf(...lines)
    await cutOff(file, 1, { variables })
    proxy.startEpoch('restored')
    try {
      const again = await publish(file, { variables })
      assert.match(
        again.stderr,
        /interrupted .* after line 500\. The feed has started a new epoch .* restore .*: starting a new run\./,
      )
      assert.doesNotMatch(again.stderr, /Continuing/)
      // Every line was sent: those that this service still has are unchanged.
      assert.deepEqual(totalsOf(again), [0, 0, 600, 0])
      assert.deepEqual(readdirSync(journals), [])
      await cutOff(file, 1, { variables })
      assert.match((await publish(file, { variables })).stderr, /Continuing/, 'its epoch is the same')
    } finally {
      proxy.startEpoch(undefined)
    }
  })

  it('ends with a sentence when the service is restored while it runs, and is then begun anew (D13)', async () => {
    const { variables } = stateHome()
    const file = fileOf(...others(600))
    let requests = 0
    proxy.decide(async (passing) => {
      requests += 1
      if (requests === 2) proxy.startEpoch('restored')
      await passing.forward()
      passing.pass()
    })
    try {
      const ended = await publish(file, { variables })
      assert.equal(ended.code, 1)
      assert.match(ended.stderr, /a new epoch while the file was being published.*starts a new run/s)
      proxy.decide(undefined)
      const again = await publish(file, { variables })
      assert.match(again.stderr, /a new epoch since.*starting a new run/)
      assert.deepEqual(totalsOf(again), [0, 0, 600, 0])
    } finally {
      proxy.decide(undefined)
      proxy.startEpoch(undefined)
    }
  })

  it('is replaced by a new one with --new-run', async () => {
    const { variables, journals } = stateHome()
    const subject = newSubject()
    const file = fileOf(priced(subject, 1), ...others(499), priced(subject, 2))
    await cutOff(file, 1, { variables })
    const again = await publish(file, { variables, flags: ['--new-run'] })
    assert.doesNotMatch(again.stderr, /Going on/)
    assert.deepEqual(await history(subject), [1, 2, 1, 2])
    assert.deepEqual(readdirSync(journals), [])
  })

  it('reports refused lines before the interruption once, and ends with 1 because of them', async () => {
    const { variables } = stateHome()
    // The last line of the first request that was answered is refused, too.
    const file = fileOf('not JSON', ...others(500), '{"payload": "Tŷ Gwyn – £950', ...others(100))
    await cutOff(file, 1, { variables })
    const again = await publish(file, { variables })
    assert.match(
      again.stderr,
      /^Of the lines that were answered before the run was interrupted, 2 were refused\.$/m,
    )
    assert.equal(again.code, 1)
    assert.deepEqual(totalsOf(again), [0, 100, 0, 0])
    const { wentOnAfter } = JSON.parse(again.stdout) as { wentOnAfter: unknown }
    assert.deepEqual(wentOnAfter, { line: 502, published: 500, repeated: 0, unchanged: 0, refused: 2 })
  })

  it('continues in a JSON array by its items, and with ids of the lines themselves', async () => {
    const { variables } = stateHome()
    const subject = newSubject()
    const own = newSubject()
    const items = [
      ...others(500),
      priced(subject, 1),
      JSON.stringify({ id: own, ...(JSON.parse(priced(subject, 2)) as object) }),
    ]
    const file = path('json')
    writeFileSync(file, `[\n${items.join(',\n\n')}\n]`)
    await cutOff(file, 1, { variables })
    const again = await publish(file, { variables })
    assert.match(again.stderr, /after item 500\./)
    assert.deepEqual(totalsOf(again), [0, 2, 0, 0])
    const { wentOnAfter } = JSON.parse(again.stdout) as { wentOnAfter: unknown }
    assert.deepEqual(wentOnAfter, { item: 500, published: 500, repeated: 0, unchanged: 0, refused: 0 })
    assert.doesNotMatch(again.stderr, /NOTHING/, 'what was stored when the cut came is no reason to worry')
    assert.deepEqual(await history(subject), [1, 2])
  })

  it('is over if the file has changed meanwhile, and the command says so', async () => {
    const { variables, journals } = stateHome()
    const subject = newSubject()
    const file = fileOf(priced(subject, 1), ...others(600))
    await cutOff(file, 1, { variables })
    writeFileSync(file, `${priced(subject, 3)}\n`)
    const again = await publish(file, { variables })
    assert.match(
      again.stderr,
      /runs-\d+\.ndjson has changed since a run of it was interrupted .* after line 500: starting a new run/,
    )
    assert.deepEqual(await history(subject), [1, 3])
    assert.deepEqual(readdirSync(journals), [])
  })

  it('is over if another has begun since: continued later, it would leave out what that one changed', async () => {
    for (const between of ['file', 'pipe'] as const) {
      const { variables } = stateHome()
      const subject = newSubject()
      const file = fileOf(priced(subject, 1), ...others(600))
      await cutOff(file, 1, { variables })
      const other = priced(subject, 2)
      const ended = await (between === 'file'
        ? publish(fileOf(other), { variables })
        : publish('-', { input: other, variables }))
      assert.match(
        ended.stderr,
        /A run of .*runs-\d+\.ndjson was interrupted .* publish that file again if the rest/,
      )
      const again = await publish(file, { variables })
      assert.doesNotMatch(again.stderr, /Going on/)
      assert.deepEqual(totalsOf(again), [1, 0, 600, 0])
      assert.deepEqual(await history(subject), [1, 2, 1])
    }
  })

  it('is a different one for another feed, another tenant, or another treatment of what is unchanged', async () => {
    const { variables } = stateHome()
    const file = fileOf(...others(501))
    await cutOff(file, 1, { variables })
    const trial = await publish(file, { variables, flags: ['--dry-run'] })
    assert.doesNotMatch(trial.stderr, /Going on/, 'a trial leaves all as it is')
    await publish(fileOf(JSON.stringify({ payload: { contact_ref: newSubject() } })), {
      variables,
      flags: ['--feed', 'contact'],
    })
    assert.match((await publish(file, { variables })).stderr, /Continuing the run/)
    await cutOff(file, 1, { variables })
    const data = ['--data', market.folder]
    await run(['tenants', 'create', 'Vale & Co', ...data])
    const key = await run([
      'keys',
      'create',
      '--tenant',
      'Vale & Co',
      '--scope',
      'publish',
      '--json',
      ...data,
    ])
    const { key: itsKey } = JSON.parse(key.stdout) as { key: string }
    const elsewhere = await publish(file, { variables: { ...variables, PROPERTY_EVENTS_KEY: itsKey } })
    assert.deepEqual(totalsOf(elsewhere), [501, 0, 0, 0])
    await cutOff(file, 1, { variables })
    const stored = await publish(file, { variables, flags: ['--unchanged', 'store'] })
    assert.doesNotMatch(stored.stderr, /Going on/)
    assert.deepEqual(totalsOf(stored), [501, 0, 0, 0])
  })

  it('is over after half a day, with a message, and after a month without one', async () => {
    const { variables, journals } = stateHome()
    const file = fileOf(...others(501))
    await cutOff(file, 1, { variables })
    const journal = onlyJournal(journals)
    const record = JSON.parse(readFileSync(journal, 'utf8')) as { writtenMs: number }
    writeFileSync(journal, JSON.stringify({ ...record, writtenMs: record.writtenMs - 13 * 3_600_000 }))
    const again = await publish(file, { variables })
    assert.match(
      again.stderr,
      /was interrupted 13 hours ago after line 500\. That is too long ago to continue it/,
    )
    assert.deepEqual(totalsOf(again), [0, 0, 501, 0])

    await cutOff(file, 1, { variables })
    const aMonthAgo = Date.now() / 1000 - 31 * 86_400
    for (const name of readdirSync(journals)) utimesSync(join(journals, name), aMonthAgo, aMonthAgo)
    assert.equal((await publish(file, { variables })).stderr, '')
    assert.deepEqual(readdirSync(journals), [])
  })

  it('whose journal is damaged or cut short is begun again, and the command says so', async () => {
    const { variables, journals } = stateHome()
    const file = fileOf(...others(501))
    await cutOff(file, 1, { variables })
    const journal = onlyJournal(journals)
    writeFileSync(journal, readFileSync(journal, 'utf8').slice(0, 40))
    const again = await publish(file, { variables })
    assert.match(
      again.stderr,
      /^The saved progress of an interrupted run of .* cannot be read: starting a new run\.$/m,
    )
    assert.deepEqual(totalsOf(again), [0, 0, 501, 0])
    assert.deepEqual(readdirSync(journals), [])
  })

  it('leaves a journal that only its owner can read, and nothing of the key in it', async () => {
    const { variables, journals } = stateHome()
    mkdirSync(journals, { recursive: true, mode: 0o777 })
    chmodSync(journals, 0o777)
    await cutOff(fileOf(...others(501)), 1, { variables })
    assert.equal(statSync(journals).mode & 0o777, 0o700)
    for (const name of readdirSync(journals)) {
      assert.equal(statSync(join(journals, name)).mode & 0o777, 0o600, name)
      assert.equal(readFileSync(join(journals, name), 'utf8').includes(market.publishKey.slice(4, 16)), false)
    }
  })

  it('cannot be continued if nothing can be noted: the command says so, and publishes everything', async () => {
    const home = path('state')
    writeFileSync(home, 'a file where a folder is wanted')
    const variables = { XDG_STATE_HOME: home }
    const file = fileOf(...others(501))
    const ended = await publish(file, { variables })
    assert.match(
      ended.stderr,
      /cannot be saved in .*property-events\/publish \(.*\), so it cannot be continued/,
    )
    assert.deepEqual([ended.code, ...totalsOf(ended)], [0, 501, 0, 0, 0])
    assert.equal(readFileSync(home, 'utf8'), 'a file where a folder is wanted')
  })

  it('says what to do when the service refuses to continue, and continues when it does', async () => {
    const { variables } = stateHome()
    const subject = newSubject()
    const file = fileOf(priced(subject, 1), ...others(499), priced(subject, 2))
    let seen = 0
    proxy.decide(async (passing) => {
      seen += 1
      if (seen === 1) await passing.forward()
      else passing.answer(403, { code: 'missing_scope', detail: 'This key may not publish any more.' })
      passing.pass()
    })
    const stopped = await publish(file, { variables })
    proxy.decide(undefined)
    assert.equal(stopped.code, 1)
    assert.match(
      stopped.stderr,
      /may not publish any more.*\nStopped at: 500 published, .*\. Published events stay; the same command continues from there\./,
    )
    assert.deepEqual(totalsOf(await publish(file, { variables })), [1, 0, 0, 0])
    assert.deepEqual(await history(subject), [1, 2])
  })
})

describe('two runs at once', () => {
  it('of the same file each have their own, and neither breaks what the other has noted', async () => {
    const { variables, journals } = stateHome()
    const subject = newSubject()
    const file = fileOf(priced(subject, 1), ...others(500), priced(subject, 2))
    const held = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    let first = true
    proxy.decide(async (passing) => {
      const isFirst = first
      first = false
      await passing.forward()
      if (isFirst) {
        arrived.resolve()
        await held.promise
      }
      passing.pass()
    })
    const one = publish(file, { variables })
    await arrived.promise
    // The other begins and ends while the first waits for its answer.
    const two = await publish(file, { variables })
    assert.doesNotMatch(two.stderr, /Continuing|interrupted/)
    assert.equal(two.code, 0)
    assert.equal(
      readdirSync(journals).filter((name) => name.endsWith('.json')).length,
      1,
      'that of the first',
    )
    held.resolve()
    const ended = await one
    proxy.decide(undefined)
    assert.equal(ended.code, 0, ended.stderr)
    assert.deepEqual(totalsOf(ended), [500, 0, 2, 0])
    assert.deepEqual(totalsOf(two), [2, 0, 500, 0])
    assert.deepEqual(await history(subject), [1, 2])
    assert.deepEqual(readdirSync(journals), [])
  })

  it('an interrupted one continues after the other has ended', async () => {
    const { variables, journals } = stateHome()
    const held = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    proxy.decide(async (passing) => {
      await passing.forward()
      arrived.resolve()
      await held.promise
      passing.pass()
    })
    const other = publish(fileOf(...others(1)), { variables })
    await arrived.promise
    const subject = newSubject()
    const file = fileOf(...others(500), priced(subject, 1), priced(subject, 2))
    await cutOff(file, 1, { variables })
    held.resolve()
    assert.equal((await other).code, 0)
    assert.match((await publish(file, { variables })).stderr, /Continuing the run of .* after line 500/)
    assert.deepEqual(await history(subject), [1, 2])
    assert.deepEqual(readdirSync(journals), [])
  })
})

function onlyJournal(folder: string): string {
  const [name, ...others] = readdirSync(folder).filter((file) => file.endsWith('.json'))
  assert.ok(name !== undefined && others.length === 0)
  return join(folder, name)
}
