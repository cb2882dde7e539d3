/** The media of a property as numbered tiles, and what became of each. */
import { changes } from '@property-events/protocol/plain'
import type { PayloadChange } from '@property-events/protocol/plain'
import { byKind, readMedia } from './diff/media.ts'
import type { MediaItem } from './diff/media.ts'
import { memberOf } from './diff/members.ts'
import type { Version } from './read-version.ts'
import { webAddress } from '../../words/plain.ts'

export interface MediaTile {
  readonly item: MediaItem
  /** Compared with the latest version. `changed`: its file or caption. `gone`: only the version before has it. */
  readonly mark: 'new' | 'moved' | 'changed' | 'gone' | undefined
  /** For one that moved: where it was. */
  readonly from: number | undefined
}

export interface MediaTiles {
  readonly tiles: readonly MediaTile[]
  /** How many more there are. */
  readonly more: number
}

const mostTiles = 100

/** Media of the latest version that has a payload, compared with the version before; without one, nothing is marked. */
export function mediaTiles(versions: readonly Version[]): MediaTiles {
  const shown = versions.filter(({ kind }) => kind === 'shown')
  const mediaOf = (version: Version | undefined) => readMedia(memberOf(version?.payload, 'media'))
  const now = mediaOf(shown.at(-1))
  const before = shown.length < 2 ? now : mediaOf(shown.at(-2))
  const tiles = compared(before, now)
  return { tiles: tiles.slice(0, mostTiles), more: Math.max(0, tiles.length - mostTiles) }
}

function compared(before: readonly MediaItem[], now: readonly MediaItem[]): readonly MediaTile[] {
  const [old, fresh] = [byKind(before), byKind(now)]
  const found = changes(
    old.map(({ unordered }) => unordered),
    fresh.map(({ unordered }) => unordered),
  )
  const isGone = (one: PayloadChange) => /^\/\d+$/.test(one.pointer) && 'from' in one && !('to' in one)
  const gone = found.filter(isGone)
  const others = new Map(found.filter((one) => !isGone(one)).map((one) => [one.pointer, one]))
  const indexOf = new Map(fresh.map((item, index) => [item, index]))
  const there = now.map((item): MediaTile => {
    const pointer = `/${indexOf.get(item) ?? 0}`
    const own = others.get(pointer)
    if (own?.movedFrom !== undefined) return { item, mark: 'moved', from: old[own.movedFrom]?.position }
    if (own !== undefined) return { item, mark: 'new', from: undefined }
    const looksOther = looks.some((name) => isSeen(others.get(`${pointer}/${name}`)))
    return { item, mark: looksOther ? 'changed' : undefined, from: undefined }
  })
  const former = gone.flatMap(({ pointer }) => old[Number(pointer.slice(1))] ?? [])
  return [...there, ...former.map((item): MediaTile => ({ item, mark: 'gone', from: undefined }))]
}

const looks = ['caption', 'media_update_date', 'media_type'] as const

/** Absent and null are the same. */
function isSeen(change: PayloadChange | undefined): boolean {
  return (change?.from ?? null) !== (change?.to ?? null)
}

/** Which photographs the page may show. All others appear as numbered tiles. */
export interface PictureRules {
  /** The service has its own pictures, below `/pictures/`. */
  readonly own: boolean
  /** Other hosts that the page's policy allows, only by https. `*.example.com` means any host below it. */
  readonly hosts: readonly string[]
  /** The service's address as in payloads. */
  readonly serviceUrl: string
  /** The service's path as on this page, without a slash at its end. */
  readonly serviceBase: string
}

/** The address to show a picture from; `undefined`: the browser would refuse it, or it is not a picture. */
export function pictureOf(
  url: string,
  { own, hosts, serviceUrl, serviceBase }: PictureRules,
): string | undefined {
  const address = webAddress(url)
  if (address === undefined) return undefined
  const ownPrefix = `${serviceUrl}/pictures/`
  if (own && address.startsWith(ownPrefix))
    return `${serviceBase}/pictures/${address.slice(ownPrefix.length)}`
  const { protocol, hostname, host } = new URL(address)
  const isAllowed = hosts.some((allowed) =>
    allowed.startsWith('*.') ? hostname.endsWith(allowed.slice(1)) : allowed === hostname || allowed === host,
  )
  return protocol === 'https:' && isAllowed ? address : undefined
}
