/** Colour and width of output on a terminal. Text for files, pipes and machines has neither. */
import type { Environment } from './settings/setting.ts'

/** The part of a stream that shows whether it is a terminal, and of which kind. */
export interface MaybeTerminal {
  readonly isTTY?: boolean
  readonly columns?: number
  hasColors?(): boolean
}

/**
 * NO_COLOR (https://no-color.org), or FORCE_COLOR set to 0 or false: never. FORCE_COLOR otherwise: always. By default if the stream is a
 * terminal that has colours.
 */
export function hasColours(stream: MaybeTerminal, environment: Environment): boolean {
  const { NO_COLOR: none, FORCE_COLOR: forced } = environment
  if ((none !== undefined && none !== '') || forced === '0' || forced === 'false') return false
  if (forced !== undefined && forced !== '') return true
  return stream.isTTY === true && stream.hasColors?.() === true
}

/** The width if it is not a terminal, and the maximum on one: longer lines are hard to read. */
const usualColumns = 80
const mostColumns = 120

/** Characters in a line of explanation. */
export function columnsOf(stream: MaybeTerminal): number {
  const columns = stream.isTTY === true ? stream.columns : undefined
  // A terminal that does not know its size reports 0.
  return columns === undefined || columns === 0 ? usualColumns : Math.min(columns, mostColumns)
}

/** Characters that fit into a line of output; `undefined` if it is not a terminal, so that lines may have any length. */
export function lineWidthOf(stream: MaybeTerminal): number | undefined {
  if (stream.isTTY !== true) return undefined
  return stream.columns === undefined || stream.columns === 0 ? usualColumns : stream.columns
}

type Paint = (text: string) => string

export interface Style {
  readonly bold: Paint
  readonly dim: Paint
  readonly red: Paint
  readonly green: Paint
  readonly yellow: Paint
  readonly cyan: Paint
}

const painted =
  (on: number, off: number): Paint =>
  (text) =>
    text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`

const coloured: Style = {
  bold: painted(1, 22),
  dim: painted(2, 22),
  red: painted(31, 39),
  green: painted(32, 39),
  yellow: painted(33, 39),
  cyan: painted(36, 39),
}

const plain: Style = {
  bold: (text) => text,
  dim: (text) => text,
  red: (text) => text,
  green: (text) => text,
  yellow: (text) => text,
  cyan: (text) => text,
}

export function styleOf(colours: boolean): Style {
  return colours ? coloured : plain
}
