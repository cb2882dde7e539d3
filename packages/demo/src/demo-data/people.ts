/** People and companies that do not exist. */
import { marketData } from './load-data.ts'
import type { Random } from './random.ts'

export interface Person {
  readonly title: string
  readonly firstName: string
  readonly lastName: string
  readonly email: string
  readonly mobile: string
}

export function inventPerson(random: Random): Person {
  const { words } = marketData()
  const firstName = random.pick(words['firstName'] ?? [])
  const lastName = random.pick(words['lastName'] ?? [])
  return {
    title: random.pick(words['title'] ?? []),
    firstName,
    lastName,
    email: inventEmail(random, firstName, lastName),
    mobile: inventMobile(random),
  }
}

/** At `example.com`, which nobody can own (RFC 2606). */
export function inventEmail(random: Random, firstName: string, lastName: string): string {
  const separator = random.pick(['.', '.', '_', ''])
  return `${firstName}${separator}${lastName}${random.integer(2, 99)}@example.com`.toLowerCase()
}

/** From 07700 900000 to 07700 900999, the numbers Ofcom keeps for drama. */
export function inventMobile(random: Random): string {
  return `07700 900${String(random.integer(0, 999)).padStart(3, '0')}`
}

export function inventCompany(random: Random): string {
  const { words } = marketData()
  return `${random.pick(words['companyName'] ?? [])} ${random.pick(words['companySuffix'] ?? [])}`
}
