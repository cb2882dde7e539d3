/** Paths of pages other than those of 100 of a whole feed: other sizes, and parts of it, whose totals are requested and checked. */
import { pageTarget, salesFilter } from './reading-set.ts'
import { getOk } from './requests.ts'
import type { RunningServer } from './server.ts'

interface Page {
  readonly items: readonly { readonly sequenceNumber: number; readonly createdDate: string }[]
  readonly availableCount: number
  readonly totalPages: number
}

/** By name. The feed has `events`. */
export async function otherTargets(
  server: RunningServer,
  key: string,
  events: number,
): Promise<readonly (readonly [what: string, targets: readonly string[]])[]> {
  const sizes = [10, 25, 1_000].map((size) => {
    const paths = Array.from({ length: Math.floor(events / size) }, (_, index) => pageTarget(index + 1, size))
    return [`page of ${size}`, paths] as const
  })
  return [
    ...sizes,
    ['sales, page of 100', await filteredTargets(server, key, salesFilter)],
    ['windows of a month, page of 100', await windowTargets(server, key, '')],
    ['sales in windows of a month, page of 100', await windowTargets(server, key, salesFilter)],
  ]
}

/** All pages with this filter. */
async function filteredTargets(
  server: RunningServer,
  key: string,
  filter: string,
): Promise<readonly string[]> {
  const total = await checkedTotal(server, key, filter)
  return Array.from({ length: Math.max(1, Math.floor(total / 100)) }, (_, index) =>
    pageTarget(index + 1, 100, filter),
  )
}

/** All pages of the months of eight years. They begin in the middle of ready-made pages. */
async function windowTargets(server: RunningServer, key: string, filter: string): Promise<readonly string[]> {
  const targets: string[] = []
  for (let month = 0; month < 96; month += 1) {
    const from = dateOf(month)
    const to = dateOf(month + 1)
    targets.push(...(await filteredTargets(server, key, `${filter}&from=${from}&to=${to}`)))
  }
  return targets
}

function dateOf(month: number): string {
  return new Date(Date.UTC(2016, month, 1)).toISOString().slice(0, 10)
}

/** The total, checked against the last page: it must contain exactly the remaining items, in order. */
async function checkedTotal(server: RunningServer, key: string, filter: string): Promise<number> {
  const read = async (page: number): Promise<Page> =>
    JSON.parse(
      (await getOk(`${server.url}${pageTarget(page, 100, filter)}`, { 'x-api-key': key })).toString(),
    )
  const first = await read(1)
  const last = await read(Math.max(1, first.totalPages))
  const expected = first.availableCount - 100 * Math.max(0, first.totalPages - 1)
  const rising = last.items.every(
    ({ sequenceNumber }, index) => sequenceNumber > (last.items[index - 1]?.sequenceNumber ?? 0),
  )
  if (last.items.length !== expected || !rising) throw new Error(`the last page of ${filter} is wrong`)
  return first.availableCount
}
