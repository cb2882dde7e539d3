/** What differs between two payloads, as pointers and values: one comparison for the client, the command line, the console and the service. */

/** Something that differs. An item that `movedFrom` alone is about stands elsewhere in its list; what differs within it has its own pointer. */
export interface PayloadChange {
  /** RFC 6901, into the later payload. For an item that is gone, its last part is the index in the earlier list. */
  readonly pointer: string
  /** Absent: there was nothing. */
  readonly from?: unknown
  /** Absent: there is nothing now. */
  readonly to?: unknown
  /** Index in the earlier list. */
  readonly movedFrom?: number
}

/** What a version of a property or contact changed since the version before. */
export interface VersionChanges {
  readonly changes: readonly PayloadChange[] | null
  /** Why there are none: there is no version before, or the payload of this one or of the one before is gone or is no JSON object. */
  readonly changesAbsent?: 'first_version' | 'erased' | 'thinned' | 'not_an_object'
}

/** `before`: the payload of the version before, as in the event; `undefined`: this is the first. */
export function versionChanges(before: string | undefined, payload: string): VersionChanges {
  if (before === undefined) return { changes: null, changesAbsent: 'first_version' }
  const gone = reductionOf(payload) ?? reductionOf(before)
  if (gone !== undefined) return { changes: null, changesAbsent: gone }
  const [old, now] = [readObject(before), readObject(payload)]
  if (old === undefined || now === undefined) return { changes: null, changesAbsent: 'not_an_object' }
  return { changes: changes(old, now) }
}

/** Why the content of a payload is gone: it was erased, or a later version had superseded it for long enough (PROTOCOL §5.7). */
export function reductionOf(payload: string): 'erased' | 'thinned' | undefined {
  const members = payload.length < 200 ? readObject(payload) : undefined
  if (members?.['published'] !== false || Object.keys(members).length > 3) return undefined
  if (members['erased'] === true) return 'erased'
  return members['thinned'] === true ? 'thinned' : undefined
}

function readObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Values below this depth are compared as a whole, so that nesting without end costs nothing. */
const deepest = 16

/**
 * Both are results of `JSON.parse`. Items of a list are paired by their address (`media_url`) or another name of their own, plain values by
 * themselves, and the first of several equal ones with the first: one that comes, goes or moves leaves the others unchanged. In the order
 * of the later payload; what is gone comes after the other members, and before the other items. Takes as long as the payloads are.
 */
export function changes(before: unknown, after: unknown): readonly PayloadChange[] {
  const found: PayloadChange[] = []
  compare(found, before, after, '', 0)
  return found
}

function compare(
  found: PayloadChange[],
  before: unknown,
  after: unknown,
  pointer: string,
  depth: number,
): void {
  if (before === after) return
  if (depth < deepest) {
    if (Array.isArray(before) && Array.isArray(after)) {
      return compareLists(found, before, after, pointer, depth)
    }
    if (isObject(before) && isObject(after)) return compareMembers(found, before, after, pointer, depth)
  }
  if (!isEqual(before, after)) found.push({ pointer, from: before, to: after })
}

type JsonObject = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `Object.hasOwn`: a payload may have members such as `__proto__` and `toString`. */
function compareMembers(
  found: PayloadChange[],
  before: JsonObject,
  after: JsonObject,
  pointer: string,
  depth: number,
): void {
  for (const [name, to] of Object.entries(after)) {
    const inner = `${pointer}/${escaped(name)}`
    if (Object.hasOwn(before, name)) compare(found, before[name], to, inner, depth + 1)
    else found.push({ pointer: inner, to })
  }
  for (const [name, from] of Object.entries(before)) {
    if (!Object.hasOwn(after, name)) found.push({ pointer: `${pointer}/${escaped(name)}`, from })
  }
}

function escaped(name: string): string {
  return /[~/]/.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name
}

function compareLists(
  found: PayloadChange[],
  before: readonly unknown[],
  after: readonly unknown[],
  pointer: string,
  depth: number,
): void {
  const left = new Map<string, number[]>()
  for (let index = before.length - 1; index >= 0; index -= 1) {
    const identity = identityOf(before[index])
    const same = left.get(identity)
    if (same === undefined) left.set(identity, [index])
    else same.push(index)
  }
  const sources = after.map((item) => left.get(identityOf(item))?.pop())
  const kept = new Set(sources)
  before.forEach((from, index) => {
    if (!kept.has(index)) found.push({ pointer: `${pointer}/${index}`, from })
  })
  const stayed = longestRise(sources)
  sources.forEach((source, index) => {
    const inner = `${pointer}/${index}`
    if (source === undefined) return found.push({ pointer: inner, to: after[index] })
    if (!stayed.has(source)) found.push({ pointer: inner, movedFrom: source })
    return compare(found, before[source], after[index], inner, depth + 1)
  })
}

/** Members that identify an item, the most reliable first. */
const identifying = ['media_url', 'url', 'id', 'agent_ref', 'room_name', 'name'] as const

/** Equal for items that are paired. Lists, and objects without a name of their own, are paired in their order. */
function identityOf(item: unknown): string {
  if (typeof item !== 'object' || item === null) return `${typeof item} ${String(item)}`
  for (const name of identifying) {
    const value: unknown = Object.hasOwn(item, name) ? Reflect.get(item, name) : undefined
    if (typeof value === 'string' || typeof value === 'number') return `${name} ${value}`
  }
  return Array.isArray(item) ? 'list' : 'object'
}

/** As few items as possible count as moved: those outside a longest rising sequence. */
function longestRise(sources: readonly (number | undefined)[]): ReadonlySet<number> {
  /** The last of the best sequence of each length, and what comes before each. */
  const ends: number[] = []
  const previous = new Map<number, number | undefined>()
  for (const source of sources) {
    if (source === undefined) continue
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) < source) low = middle + 1
      else high = middle
    }
    previous.set(source, ends[low - 1])
    ends[low] = source
  }
  const rise = new Set<number>()
  for (let source = ends.at(-1); source !== undefined; source = previous.get(source)) rise.add(source)
  return rise
}

/** Without recursion: a payload can be nested ten thousand deep. The order of members does not count. */
function isEqual(one: unknown, other: unknown): boolean {
  const left: (readonly [unknown, unknown])[] = [[one, other]]
  for (let pair = left.pop(); pair !== undefined; pair = left.pop()) {
    const [a, b] = pair
    if (a === b) continue
    if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
      for (const [index, item] of a.entries()) left.push([item, b[index]])
    } else if (isObject(a) && isObject(b) && Object.keys(a).length === Object.keys(b).length) {
      for (const [name, value] of Object.entries(a)) {
        if (!Object.hasOwn(b, name)) return false
        left.push([value, b[name]])
      }
    } else return false
  }
  return true
}
