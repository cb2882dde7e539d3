/** What a property costs, in figures and as text. */
import type { PriceInformation } from '../payload/address-and-price.ts'
import { named, nameOf } from './named.ts'
import type { Named, ReadText } from './named.ts'

export interface ListingPrice {
  /**
   * As in listings: `Offers over £450,000`, `£1,500 pcm`, `POA`; `null` if the payload has no price. A price of 0 does not count, nor
   * does one of more than a million million.
   */
  readonly text: string | null
  /** Pounds; for a letting, per payment. `null` also for a price on application, which must not be shown. */
  readonly amount: number | null
  readonly qualifier: Named | null
  /** Lettings: how often the rent is paid. */
  readonly rentFrequency: Named | null
  /** Lettings: pounds a month, rounded to pence; `null` if the frequency is unknown. */
  readonly rentPerMonth: number | null
  /** Lettings, in pounds. */
  readonly deposit: number | null
  /** `null`: it is not offered, or the payload says nothing about it. */
  readonly sharedOwnership: SharedOwnership | null
}

interface SharedOwnership {
  /** The share on offer, in per cent. */
  readonly percentage: number | null
  /** Pounds per payment, for the share that is not owned. */
  readonly rent: number | null
  readonly rentFrequency: Named | null
}

const onApplication = 1
/** Qualifiers that add nothing to the price. */
const plainQualifiers: readonly (number | null)[] = [null, 0]

/** Pounds; no home costs more. */
const highestPrice = 1e12

/** The usual abbreviations, by payments a year. */
export const frequencyTexts: Readonly<Record<number, string>> = {
  1: 'pa',
  4: 'per quarter',
  12: 'pcm',
  52: 'pw',
  365: 'per day',
}

function isPrice(amount: number): boolean {
  return amount > 0 && amount <= highestPrice
}

export function priceOf(price: PriceInformation | null, isLetting: boolean, read: ReadText): ListingPrice {
  const qualifier = price?.price_qualifier ?? null
  const words = read(price?.price_qualifier_string)
  const isOnApplication = qualifier === onApplication || /^(?:poa|price on application)\.?$/i.test(words)
  const given = price?.price ?? null
  const amount = isOnApplication || given === null || !isPrice(given) ? null : given
  const frequency = isLetting ? (price?.rent_frequency ?? null) : null
  const suffix = frequency === null ? undefined : frequencyTexts[frequency]
  const prefix = plainQualifiers.includes(qualifier)
    ? words
    : (nameOf('priceQualifier', qualifier ?? 0) ?? words)
  const parts = amount === null ? [] : [prefix, pounds(amount), suffix ?? '']
  return {
    text: isOnApplication ? 'POA' : parts.filter((part) => part !== '').join(' ') || null,
    amount,
    qualifier: named('priceQualifier', qualifier),
    rentFrequency: named('rentFrequency', frequency),
    rentPerMonth:
      amount === null || suffix === undefined ? null : pence((amount * (frequency ?? 0)) / 12) / 100,
    deposit: price?.deposit ?? null,
    sharedOwnership: sharedOwnershipOf(price),
  }
}

function sharedOwnershipOf(price: PriceInformation | null): SharedOwnership | null {
  const percentage = price?.shared_ownership_percentage ?? null
  const rent = price?.shared_ownership_rent ?? null
  if (price?.shared_ownership !== true && percentage === null && rent === null) return null
  return { percentage, rent, rentFrequency: named('rentFrequency', price?.shared_ownership_rent_frequency) }
}

/** `£450,000`, and `£1,234.50` if there are pence. */
function pounds(amount: number): string {
  const inPence = pence(amount)
  const whole = String(Math.floor(inPence / 100)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
  const rest = inPence % 100
  return rest === 0 ? `£${whole}` : `£${whole}.${String(rest).padStart(2, '0')}`
}

/** The nearest whole number of pence. */
function pence(amount: number): number {
  return Math.floor(amount * 100 + 0.5)
}
