/** What endpoints with nothing to be sent cost: at rest, and those who publish and read meanwhile, beside a service that sends no webhooks. */
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchOptions } from '../jobs/context.ts'
import { caseResult } from '../support/figures.ts'
import { measure } from '../support/measure.ts'
import type { Case } from '../support/measure.ts'
import { checkFeed, publicationBodies, publishPath } from '../support/publications.ts'
import { pageTarget } from '../support/reading-set.ts'
import { get, getCase, postCase } from '../support/requests.ts'
import { untilQuiet } from '../support/server.ts'
import type { RunningService } from '../support/service.ts'
import type { WebhookSite } from './site.ts'

/** Of a core. */
const restAim = 0.01
const pageSize = 100
/** Both build the same way, and differ by about this much from themselves. */
const spread = 0.05

export interface Side {
  readonly site: WebhookSite
  readonly service: RunningService
}

/** The same store twice: one service sends webhooks, and one has them off. */
export interface Sides {
  readonly on: Side
  readonly off: Side
}

/** Both at the same time, as processor time is measured. A request is a second. */
export async function measureRest(
  { report, aim }: Pick<BenchOptions, 'report' | 'aim'>,
  { on, off }: Sides,
  subject: string,
  seconds: number,
): Promise<void> {
  const what = `at rest, ${on.site.endpoints.length} endpoints`
  // After it has started a service tidies up for some seconds.
  await delay(seconds * 500)
  for (const { service } of [on, off]) await untilQuiet(service)
  const beforeS = { on: on.service.cpuS(), off: off.service.cpuS() }
  await delay(seconds * 1_000)
  const reportSide = (side: 'on' | 'off', { service }: Side): void =>
    report(
      caseResult('webhooks', subject, `${what}, webhooks ${side}`, [
        {
          requestsPerSecond: 1,
          megabytesPerSecond: 0,
          p50Ms: 0,
          p99Ms: 0,
          errors: 0,
          cpuMicrosecondsPerRequest: ((service.cpuS() - beforeS[side]) / seconds) * 1e6,
          memoryMiB: service.memoryMiB(),
        },
      ]),
    )
  reportSide('on', on)
  reportSide('off', off)
  aim({
    job: 'webhooks',
    text: `${subject}, ${what}: of 1 % of a core`,
    ours: { subject, what: `${what}, webhooks on` },
    theirs: restAim * 1e6,
    figure: 'cpuMicrosecondsPerRequest',
    wanted: { atMost: 1 },
  })
}

/** A tenant without endpoints publishes and reads; the two services take turns. */
export async function measureOthers(
  options: BenchOptions,
  sides: Sides,
  subject: string,
  warmRuns: number | undefined,
): Promise<void> {
  const cases = [
    ...(await casesOf(options, sides.on, 'on', subject)),
    ...(await casesOf(options, sides.off, 'off', subject)),
  ].map((entry) => (warmRuns === undefined ? entry : { ...entry, warmRuns }))
  for (const kind of kinds) {
    const ofKind = cases.filter(({ what }) => what.startsWith(kind))
    await measure(options, 'webhooks', ofKind)
    for (const figure of ['requestsPerSecond', 'cpuMicrosecondsPerRequest'] as const) {
      options.aim({
        job: 'webhooks',
        text: `${subject}, ${kind} beside idle endpoints: of webhooks off`,
        ours: { subject, what: `${kind}, webhooks on` },
        theirs: { subject, what: `${kind}, webhooks off` },
        figure,
        wanted: figure === 'requestsPerSecond' ? { atLeast: 1 - spread } : { atMost: 1 + spread },
      })
    }
  }
  for (const { site, service } of [sides.on, sides.off]) await checkFeed(service, site.quietKey)
}

/** Publishing last: it changes the tags. */
const kinds = ['page of 100', 'unchanged, with If-None-Match', '1 event, 1 publisher'] as const

async function casesOf(
  options: BenchOptions,
  { site, service }: Side,
  side: 'on' | 'off',
  subject: string,
): Promise<readonly Case[]> {
  const { quietKey: key, scale } = site
  const whatOf = (kind: (typeof kinds)[number]): string => `${kind}, webhooks ${side}`
  const targets = Array.from({ length: scale.quietEvents / pageSize }, (_, index) =>
    pageTarget(index + 1, pageSize),
  )
  const first = targets[0] ?? ''
  const answer = await get(`${service.url}${first}`, { 'x-api-key': key })
  const tag = String(answer.headers['etag'])
  const reads = { subject, server: service, key, targets }
  const publishing = postCase(options, {
    subject,
    what: whatOf('1 event, 1 publisher'),
    server: service,
    path: publishPath,
    keys: [key],
    bodies: publicationBodies(options.averageBytes, 1),
    connections: 1,
    events: 1,
  })
  return [
    publishing,
    getCase(options, { ...reads, what: whatOf('page of 100'), connections: 16 }),
    getCase(options, {
      ...reads,
      what: whatOf('unchanged, with If-None-Match'),
      targets: [first],
      tag,
      connections: 16,
    }),
  ]
}
