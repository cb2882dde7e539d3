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
    return { parts: path.split('/'), shown: path.replaceAll(/:([A-Za-z]+)/g, '{$1}') }
  })
  return (path) => {
    // Checked before the path is split: eight thousand slashes are as many parts.
    if (path.length > longestWritten) return undefined
    const given = path.split('/')
    const candidates = new Map<string, string>()
    for (const { parts, shown } of known) {
      const filled = parts
        .map((part, index) => (part.startsWith(':') ? (given[index] ?? part) : part))
        .join('/')
      candidates.set(filled, shown)
    }
    const nearest = nearestName(path, [...candidates.keys()], ({ length }) => Math.min(8, length / 4))
    return nearest === undefined ? undefined : candidates.get(nearest)
  }
}
