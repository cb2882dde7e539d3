/** The top of a property's page: what it is, and its state. */
import { oneLine } from '../../words/plain.ts'
import { longSpanText } from '../../words/times.ts'
import type { Version } from './read-version.ts'

interface PropertySummary {
  /** `12 Mill Lane, Aylsham NR11 6AB`, or the reference if no version has an address. */
  readonly address: string
  readonly price: string | undefined
  readonly status: string | undefined
  /** `listed 62 days ago`, `off the market for 3 h`, `erased`. */
  readonly presence: string
  /** The statuses that it had, without immediate repeats: `Available ▸ Under Offer`. */
  readonly statuses: readonly string[]
  /** The latest version with a payload to show. */
  readonly latest: Version | undefined
}

const mostStatuses = 12

/** `versions`: ascending, at least one. */
export function summaryOf(versions: readonly Version[], agentRef: string, nowMs: number): PropertySummary {
  const latest = versions.findLast(({ kind }) => kind === 'shown')
  const listing = latest?.listing
  return {
    address: addressWords(latest) ?? agentRef,
    price: listing?.price.text === null ? undefined : oneLineOf(listing?.price.text),
    status: oneLineOf(listing?.status?.name ?? statusCode(listing?.status?.code)),
    presence: presenceWords(versions, nowMs),
    statuses: statusesOf(versions).slice(-mostStatuses),
    latest,
  }
}

function addressWords(version: Version | undefined): string | undefined {
  const address = version?.listing?.address
  const display = address?.display ?? null
  const postcode = address?.postcode ?? null
  if (display === null) return postcode === null ? undefined : oneLine(postcode)
  const isWithin = postcode !== null && flat(display).includes(flat(postcode))
  return oneLine(postcode === null || isWithin ? display : `${display} ${postcode}`)
}

function flat(text: string): string {
  return text.slice(0, 1_000).replaceAll(/\s/g, '').toUpperCase()
}

function statusCode(code: number | undefined): string | undefined {
  return code === undefined ? undefined : `status ${code}`
}

function oneLineOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : oneLine(text, 100)
}

function presenceWords(versions: readonly Version[], nowMs: number): string {
  const last = versions.at(-1)
  if (last === undefined) return 'unknown'
  if (last.kind === 'erased') return 'erased'
  if (last.kind === 'unreadable') return 'unreadable'
  const isDown = last.kind === 'removed'
  const start = versions.findLastIndex(({ kind }) => (kind === 'removed') !== isDown) + 1
  const sinceMs = versions[start]?.atMs ?? last.atMs
  const span = longSpanText(Math.max(0, nowMs - sinceMs) / 1_000)
  return isDown ? `off the market for ${span}` : `listed ${span} ago`
}

function statusesOf(versions: readonly Version[]): readonly string[] {
  const names: string[] = []
  for (const { kind, listing } of versions) {
    if (kind !== 'shown') continue
    const name = oneLineOf(listing?.status?.name ?? statusCode(listing?.status?.code))
    if (name !== undefined && name !== names.at(-1)) names.push(name)
  }
  return names
}
