/**
 * The path that was probably meant, if there is nothing at the requested one. Strangers request any path, so this costs a few µs for
 * every path.
 */
import { longestWritten, nearestName } from '@property-events/protocol'

/** With its parameters as `{eventId}`; `undefined`: none is near. Paths of subjects show nothing of the request (D18). */
export type NearestPath = (path: string) => string | undefined

/** `paths`: with parameters as `:eventId`. */
export function nearestPaths(paths: readonly string[]): NearestPath {
  const known = paths.map((path) => {
    const parts = path.split('/')
    return { parts, mostEdits: mostEditsOf(parts), shown: path.replaceAll(/:([A-Za-z]+)/g, '{$1}') }
  })
  return (path) => {
    // Checked before the path is split: eight thousand slashes are as many parts.
    if (path.length > longestWritten) return undefined
    const given = path.split('/')
    const candidates = new Map<string, { readonly shown: string; readonly mostEdits: number }>()
    for (const { parts, shown, mostEdits } of known) {
      const filled = parts
        .map((part, index) => (part.startsWith(':') ? (given[index] ?? part) : part))
        .join('/')
      candidates.set(filled, { shown, mostEdits })
    }
    const mostOf = (filled: string): number => candidates.get(filled)?.mostEdits ?? 0
    const nearest = nearestName(path, [...candidates.keys()], mostOf)
    return nearest === undefined ? undefined : candidates.get(nearest)?.shown
  }
}

/** A quarter of what is there to be mistyped: the parameters are taken from the request itself, and a long one makes no path likelier. */
function mostEditsOf(parts: readonly string[]): number {
  const written = parts.filter((part) => !part.startsWith(':')).join('/')
  return Math.min(8, written.length / 4)
}
