/** Rates as they are written in settings and for keys (D10). */
import { readWholeNumber } from '@property-events/protocol'
import type { KeyRate } from '@property-events/server'
import type { SettingReader } from './setting.ts'
import { plainText } from '../terminal-text.ts'

/** Requests a second and the size of a burst, or no limit. */
export type RateLimit = KeyRate | 'off'

/** Of requests a second, and of a burst. */
const rateRange = { from: 1, to: 9_999_999 } as const

const rateWords = `a whole number from ${rateRange.from} to ${rateRange.to}`

export const defaultRate: KeyRate = { perSecond: 50, burst: 500 }

/** A burst in proportion to the rate, as in the default. */
const burstPerRequest = 10

/** `off`, or a rate and a burst such as `50/500`. */
export function readRateLimit(written: string): RateLimit | undefined {
  if (written === 'off') return 'off'
  const [perSecond, burst, ...more] = written.split('/')
  if (perSecond === undefined || burst === undefined || more.length > 0) return undefined
  return readRate(perSecond, burst)
}

/** A burst that is left out is ten times the rate. */
function readRate(perSecond: string, burst: string | undefined): KeyRate | undefined {
  const rate = readWholeNumber(perSecond, rateRange)
  if (rate === undefined) return undefined
  if (burst === undefined) return { perSecond: rate, burst: Math.min(rateRange.to, burstPerRequest * rate) }
  const most = readWholeNumber(burst, rateRange)
  return most === undefined ? undefined : { perSecond: rate, burst: most }
}

/** `50/500`, in the form in which it is read. */
export function rateText({ perSecond, burst }: KeyRate): string {
  return `${perSecond}/${burst}`
}

/** The rate of one key, as given to a command; `undefined`: none, or one that the reader has noted as a fault. */
export function readOwnRate(
  perSecond: string | undefined,
  burst: string | undefined,
  reader: SettingReader,
): KeyRate | undefined {
  if (perSecond === undefined) {
    if (burst !== undefined) reader.fault('--burst needs a --rate: requests a second.')
    return undefined
  }
  const rate = readRate(perSecond, burst)
  if (rate === undefined) {
    const written =
      burst === undefined
        ? `"${plainText(perSecond)}"`
        : `"${plainText(perSecond)}" and "${plainText(burst)}"`
    reader.fault(`The rate and the burst are each ${rateWords}, but ${written} was given.`)
  }
  return rate
}
