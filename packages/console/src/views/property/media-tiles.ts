/** The media of a property as numbered tiles, and what became of each. */
import { saysTheSame } from './diff/equal.ts'
import { pairItems } from './diff/items.ts'
import { memberOf, readMedia } from './diff/media.ts'
import type { MediaItem } from './diff/media.ts'
import type { Version } from './read-version.ts'

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

export const mostTiles = 100

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
  const { pairs, removed } = pairItems(before, now)
  const pairOf = new Map(pairs.map((pair) => [pair.after, pair]))
  const there = now.map((item): MediaTile => {
    const pair = pairOf.get(item)
    if (pair === undefined) return { item, mark: 'new', from: undefined }
    if (pair.hasMoved) return { item, mark: 'moved', from: pair.before.position }
    return { item, mark: looksTheSame(pair.before, item) ? undefined : 'changed', from: undefined }
  })
  return [...there, ...removed.map((item): MediaTile => ({ item, mark: 'gone', from: undefined }))]
}

const looks = ['caption', 'media_update_date', 'media_type'] as const

function looksTheSame(before: MediaItem, now: MediaItem): boolean {
  return looks.every((name) => saysTheSame(memberOf(before.value, name), memberOf(now.value, name)))
}
