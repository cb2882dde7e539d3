/** What the drawings of one home have in common: its colours and proportions, the same in each of them. */
import { crc32 } from 'node:zlib'

/** The forms that an address can name. */
export const forms = ['house', 'terrace', 'bungalow', 'flats'] as const
export type Form = (typeof forms)[number]

/** Homes of one form have this many looks; the reference decides which one a home has. This bounds the number of drawings. */
const looks = 24

export interface Look {
  readonly form: Form
  /** 0 to `looks` - 1. */
  readonly number: number
  readonly wall: string
  readonly trim: string
  readonly roof: string
  readonly door: string
  readonly glass: string
  readonly floor: string
  readonly paint: string
  readonly fabric: string
  readonly hasBay: boolean
  readonly hasChimney: boolean
  /** 0 to 1: how wide the building is within what its form allows. */
  readonly breadth: number
  /** A whole number below `most`, the same for the same name. */
  choose(name: string, most: number): number
}

const walls = ['#b5654a', '#c98a63', '#e6dcc6', '#d8d2c4', '#a9573f', '#efe9dd', '#c7b299', '#9c6b52']
const trims = ['#f4efe6', '#e9e2d3', '#d9cfbd', '#ffffff']
const roofs = ['#5a4a44', '#6d4c41', '#4b5563', '#7a5548', '#455a64', '#8a5a44']
const doors = ['#1f3a5f', '#7b1e1e', '#2f5d50', '#1c1c1c', '#b08d2e', '#5b3a6e']
const glasses = ['#a8c6d8', '#b9d3df', '#93b5c9']
const floors = ['#b98d5f', '#c9a77c', '#9a7350', '#cdbfa8', '#8c8075']
const paints = ['#eee7d9', '#dfe6e2', '#e7dcd2', '#d6dde4', '#f1ece2', '#d9e0cf']
const fabrics = ['#4f6d7a', '#8a9a5b', '#b56576', '#6d597a', '#355070', '#d08c60']

export function lookOf(form: Form, reference: string): Look {
  const number = crc32(reference) % looks
  const choose = (name: string, most: number): number => crc32(`${form} ${number} ${name}`) % most
  const pick = (name: string, list: readonly string[]): string => list[choose(name, list.length)] ?? '#888888'
  return {
    form,
    number,
    wall: pick('wall', walls),
    trim: pick('trim', trims),
    roof: pick('roof', roofs),
    door: pick('door', doors),
    glass: pick('glass', glasses),
    floor: pick('floor', floors),
    paint: pick('paint', paints),
    fabric: pick('fabric', fabrics),
    hasBay: choose('bay', 3) === 0,
    hasChimney: choose('chimney', 4) > 0,
    breadth: choose('breadth', 101) / 100,
    choose,
  }
}
