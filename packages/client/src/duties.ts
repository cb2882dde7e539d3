/** Which properties do not fit a duty by law (PROTOCOL §4.13). */
import type { CallOptions, Connection } from './connection.ts'
import { isObject } from './decode.ts'
import { requestJson } from './http/requests.ts'
import type { DutyList, DutyLists } from './wire.ts'

/** The properties that are shown now, and those of them that do not fit each duty. */
export interface DutyReport {
  /** False: the operator has switched duties off for the tenant, and nothing was counted. */
  readonly advised: boolean
  readonly properties: number
  /** By duty; `refs` has the first 100. */
  readonly duties: readonly DutyList[]
}

const mostRefs = 100

/** One request for some 20,000 properties, one after the other. */
export async function countDuties(connection: Connection, { signal }: CallOptions = {}): Promise<DutyReport> {
  let report: DutyReport = { advised: true, properties: 0, duties: [] }
  for (let after: string | undefined; ;) {
    const request = { method: 'GET', path: '/v1/property-events/duties', query: { after } } as const
    const { value } = await requestJson(connection, request, decodeLists, signal)
    report = added(report, value)
    if (value.next === null || value.next === after) return report
    after = value.next
  }
}

function added({ properties, duties }: DutyReport, lists: DutyLists): DutyReport {
  return {
    advised: lists.advised,
    properties: properties + lists.properties,
    duties: lists.items.map((item) => {
      const before = duties.find(({ code }) => code === item.code)
      if (before === undefined) return item
      const refs = [...before.refs, ...item.refs].slice(0, mostRefs)
      return { ...item, properties: before.properties + item.properties, refs }
    }),
  }
}

function decodeLists(value: unknown): DutyLists | undefined {
  return isLists(value) ? value : undefined
}

function isLists(value: unknown): value is DutyLists {
  if (!isObject(value) || typeof value['advised'] !== 'boolean') return false
  const { properties, next, items } = value
  const isPage = typeof properties === 'number' && (next === null || typeof next === 'string')
  return isPage && Array.isArray(items) && items.every(isList)
}

function isList(value: unknown): boolean {
  if (!isObject(value) || typeof value['properties'] !== 'number' || !Array.isArray(value['refs']))
    return false
  const texts = [value['code'], value['sentence'], value['source'], value['inForceFrom'], ...value['refs']]
  return texts.every((text) => typeof text === 'string')
}
