/**
 * A property as a page shows it: names in place of codes, a price as text, photographs in their order, a description that is safe
 * to put into a page. Pure functions without a dependency; a program that does not import this module does not carry it.
 */
export { codeNames, contactCodeLists, propertyCodeLists } from './code-names.ts'
export type { ListingAddress } from './address.ts'
export type { ListingText } from './description.ts'
export { listing } from './listing.ts'
export type { Listing, ListingFacts, ListingOptions } from './listing.ts'
export type { ListingMedia, ListingMedium } from './media.ts'
export { codeOf, nameOf } from './named.ts'
export type { CodeListName, Named } from './named.ts'
export type { ListingPrice } from './price.ts'
