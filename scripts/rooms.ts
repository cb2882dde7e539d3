/**
 * The rooms of the house, read from the imports of its sources: what is where, who uses whom, and whether two files use each other. A test
 * compares ARCHITECTURE.md with it; `npm run rooms` writes the pictures there.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')
export const architectureFile = join(root, 'ARCHITECTURE.md')

/** Rooms of the server that know no feature, from the lowest to the highest. Whatever else it has is a feature. */
const layers = ['runtime', 'sql', 'events', 'http', 'store', 'transfer', 'serve'].map(
  (name) => `server/${name}`,
)

/** Each source by its path from the root, with the sources that it imports: types and what is loaded later included. */
export type Imports = ReadonlyMap<string, readonly string[]>

export function importsOf(): Imports {
  const files = readdirSync(join(root, 'packages'))
    .flatMap((name) => sourcesIn(`packages/${name}/src`))
    .toSorted()
  const known = new Set(files)
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      const named = [
        ...text.matchAll(/(?:from|import\(|import)\s*'(\.{1,2}\/[^']+|@property-events\/[^']+)'/g),
      ]
      const imported = named.map(([, target = '']) => sourceOf(file, target)).filter((to) => known.has(to))
      return [file, [...new Set(imported)].filter((to) => to !== file)]
    }),
  )
}

function sourcesIn(folder: string): readonly string[] {
  try {
    return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${folder}/${name}`)
  } catch {
    return []
  }
}

/** The source that an import names; another package is named by its first file. */
function sourceOf(file: string, target: string): string {
  if (target.startsWith('.')) return join(dirname(file), target)
  const [, name = '', entry = 'index'] = /^@property-events\/([^/]+)(?:\/(.+))?$/.exec(target) ?? []
  return `packages/${name}/src/${entry}.ts`
}

/** The package of a source, and within the server its room. */
export function roomOf(file: string): string {
  const [, name = '', , folder = ''] = file.split('/')
  return name === 'server' && !folder.endsWith('.ts') ? `server/${folder}` : name
}

/** Files that use each other, around a circle of any length. */
export function circlesIn(imports: Imports): readonly (readonly string[])[] {
  const reached = new Map([...imports.keys()].map((file) => [file, reachableFrom(file, imports)]))
  const circles = new Map<string, readonly string[]>()
  for (const [file, targets] of reached) {
    if (!targets.has(file)) continue
    const members = [...targets].filter((other) => reached.get(other)?.has(file) === true).toSorted()
    circles.set(members.join(' '), members)
  }
  return [...circles.values()]
}

function reachableFrom(file: string, imports: Imports): ReadonlySet<string> {
  const seen = new Set<string>()
  const waiting = [...(imports.get(file) ?? [])]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    waiting.push(...(imports.get(next) ?? []))
  }
  return seen
}

/** Folders of sources, with the number of files that are in them and in no folder below. */
export function folderSizes(imports: Imports): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>()
  for (const file of imports.keys()) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1)
  return sizes
}

/** The two pictures: packages with the layers of the server, and the features of the server among each other. */
export function picturesOf(imports: Imports): string {
  const rooms = [...new Set([...imports.keys()].map(roomOf))]
  const features = rooms.filter((room) => room.startsWith('server/') && !layers.includes(room)).toSorted()
  const grouped = arrowsBetween(imports, (file) => {
    const room = roomOf(file)
    return features.includes(room) ? 'features' : room
  })
  const among = arrowsBetween(imports, roomOf).filter(
    ([from, to]) => features.includes(from) && features.includes(to),
  )
  return [
    graph(withoutShortCuts(grouped), [`  features["features: ${features.map(labelOf).join(', ')}"]`]),
    'Between the features of the server (their own parts of HTTP, the log and SQL are left out):',
    graph(among),
  ].join('\n\n')
}

type Arrow = readonly [from: string, to: string]

function arrowsBetween(imports: Imports, nameOf: (file: string) => string): readonly Arrow[] {
  const found = new Map<string, Arrow>()
  for (const [file, targets] of imports) {
    for (const target of targets) {
      const arrow: Arrow = [nameOf(file), nameOf(target)]
      if (arrow[0] !== arrow[1]) found.set(arrow.join(' '), arrow)
    }
  }
  return [...found.values()].toSorted(([a, b], [c, d]) => (`${a} ${b}` < `${c} ${d}` ? -1 : 1))
}

/** Without arrows that a longer way says too, unless the way leads back. */
function withoutShortCuts(arrows: readonly Arrow[]): readonly Arrow[] {
  const targets = new Map<string, readonly string[]>()
  for (const [from, to] of arrows) targets.set(from, [...(targets.get(from) ?? []), to])
  const reach = (room: string): ReadonlySet<string> => reachableFrom(room, targets)
  return arrows.filter(([from, to]) => {
    if (reach(to).has(from)) return true
    const between = (targets.get(from) ?? []).filter((room) => room !== to && !reach(room).has(from))
    return between.every((room) => !reach(room).has(to))
  })
}

const labelOf = (room: string): string => room.replace('server/', '')

function graph(arrows: readonly Arrow[], more: readonly string[] = []): string {
  const node = (room: string): string =>
    room.startsWith('server/') ? `server_${labelOf(room)}[${labelOf(room)}]` : room
  const lines = arrows.map(([from, to]) => `  ${node(from)} --> ${node(to)}`)
  return ['```mermaid', 'graph TD', ...more, ...lines, '```'].join('\n')
}

const marks = ['<!-- rooms: written by npm run rooms -->', '<!-- end of rooms -->'] as const

/** ARCHITECTURE.md with the pictures as they are now. Throws if it has no place for them. */
export function architectureWith(pictures: string): string {
  const text = readFileSync(architectureFile, 'utf8')
  const [start, end] = [text.indexOf(marks[0]), text.indexOf(marks[1])]
  if (start < 0 || end < start)
    throw new Error(`${relative(root, architectureFile)} has no place for the rooms`)
  return `${text.slice(0, start + marks[0].length)}\n\n${pictures}\n\n${text.slice(end)}`
}

if (import.meta.main) writeFileSync(architectureFile, architectureWith(picturesOf(importsOf())))
