/** Reads the files of `packages/demo/data` (credits and licences: the README there), once per process. */
import { readFileSync } from 'node:fs'
import places from '../../data/places.json' with { type: 'json' }
import words from '../../data/words.json' with { type: 'json' }

const areas = ['london-sw19', 'greater-manchester', 'newcastle'] as const
export type Area = (typeof areas)[number]

/** D detached, S semi-detached, T terraced, F flat. */
const soldTypes = ['D', 'S', 'T', 'F'] as const
export type SoldType = (typeof soldTypes)[number]

/** One real sale. No address: rights in those belong to others. */
export interface Sale {
  /** Midnight UTC of the day of the deed. */
  readonly deedMs: number
  /** Pounds. */
  readonly pricePaid: number
}

/** A home that really sold, once or several times, known by an opaque key only. */
export interface SoldHome {
  readonly key: string
  readonly area: Area
  readonly type: SoldType
  readonly newBuild: boolean
  readonly leasehold: boolean
  /** Oldest first, at least one, a year or more apart. */
  readonly sales: readonly Sale[]
}

export interface Place {
  readonly outcode: string
  readonly town: string
  readonly locality: string
  /** `branchId` of the branch that looks after it. */
  readonly branch: string
}

interface Surroundings {
  readonly places: readonly Place[]
  /** Sentences about what is near. */
  readonly near: readonly string[]
}

/** Lists of words and phrases by name. `{name}` inside a phrase stands for another list or a fact, see `phrases.ts`. */
type Words = Readonly<Record<string, readonly string[]>>

interface MarketData {
  readonly homes: readonly SoldHome[]
  /** Latitude and longitude of an outcode's centre, degrees. */
  readonly centres: ReadonlyMap<string, readonly [number, number]>
  readonly surroundings: Readonly<Record<Area, Surroundings>>
  readonly words: Words
}

let loaded: MarketData | undefined

/** The data, about 15 ms at the first call. */
export function marketData(): MarketData {
  loaded ??= {
    homes: readHomes(),
    centres: new Map(
      readRows('outcodes.csv').map(([outcode, latitude, longitude]) => [
        outcode ?? '',
        [Number(latitude), Number(longitude)],
      ]),
    ),
    surroundings: places,
    words,
  }
  return loaded
}

function readHomes(): SoldHome[] {
  const homes = new Map<string, SoldHome & { readonly sales: Sale[] }>()
  for (const [deedDate = '', areaName, key = '', price, typeName, newBuild, estate] of readRows(
    'sold-prices.csv',
  )) {
    const area = areas.find((name) => name === areaName)
    const type = soldTypes.find((name) => name === typeName)
    if (area === undefined || type === undefined)
      throw new Error(`sold-prices.csv: unknown area or type at ${key}`)
    const sale = { deedMs: Date.parse(deedDate), pricePaid: Number(price) }
    const known = homes.get(key)
    if (known !== undefined) known.sales.push(sale)
    else {
      const traits = { key, area, type, newBuild: newBuild === 'Y', leasehold: estate === 'L' }
      homes.set(key, { ...traits, sales: [sale] })
    }
  }
  return [...homes.values()]
}

/** Rows of a CSV file without quotes, its header left out. */
function readRows(name: string): string[][] {
  return readText(name)
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','))
}

function readText(name: string): string {
  return readFileSync(new URL(`../../data/${name}`, import.meta.url), 'utf8')
}
