/**
 * Photographs of homes that do not exist, so that a demo shows some without another host. An address names the form of the building, the
 * reference of the home, and what the photograph shows: the same address has the same photograph for ever.
 */
import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'

const forms: ReadonlySet<string> = new Set(['house', 'terrace', 'bungalow', 'flats'])

/** There are so many of each, in other colours. A reference decides which of them a home gets, the same in all its photographs. */
const variants = 6

/** The folder of `photographs/` for each word of an address. */
const folders: ReadonlyMap<string, string> = new Map([
  ['front', 'front'],
  ['street-scene', 'street-scene'],
  ['rear-elevation', 'rear-elevation'],
  ['garden', 'garden'],
  ['patio', 'patio'],
  ['view', 'view'],
  ['reception-room', 'reception-room'],
  ['living-room', 'reception-room'],
  ['dining-room', 'dining-room'],
  ['kitchen', 'kitchen'],
  ['kitchen-diner', 'kitchen'],
  ['principal-bedroom', 'bedroom'],
  ['bedroom-two', 'bedroom'],
  ['bedroom-three', 'bedroom'],
  ['bathroom', 'bathroom'],
  ['shower-room', 'shower-room'],
  ['en-suite', 'shower-room'],
  ['hallway', 'hallway'],
  ['landing', 'landing'],
  ['study', 'study'],
  ['floor-plan', 'floor-plan'],
  ['epc', 'epc'],
])

/** Where the building is to be seen, and each form has its own. */
const showsBuilding: ReadonlySet<string> = new Set(['front', 'rear-elevation', 'patio'])

/** `01-front-1f2e3d4c.webp`: its place, its subject, and a part that makes the address of a new photograph new. */
const namePattern = /^\d{1,3}-([a-z]+(?:-[a-z]+)*?)(?:-[0-9a-f]{8})?\.webp$/
const referencePattern = /^[A-Za-z0-9_-]{1,60}$/

/** All of them together have 200 kB. */
const read = new Map<string, Uint8Array>()

/** The WebP at an address; `undefined`: the address names nothing that there is. */
export function photographAt(form: string, reference: string, name: string): Uint8Array | undefined {
  const [, subject = ''] = namePattern.exec(name) ?? []
  const folder = folders.get(subject)
  if (folder === undefined || !forms.has(form) || !referencePattern.test(reference)) return undefined
  const variant = crc32(reference) % variants
  const path = `${folder}/${showsBuilding.has(folder) ? `${form}-${variant}` : variant}.webp`
  const known = read.get(path)
  if (known !== undefined) return known
  const bytes = readFileSync(new URL(`../photographs/${path}`, import.meta.url))
  read.set(path, bytes)
  return bytes
}
