/** The path that was probably meant, where there is nothing. Strangers ask for any path, so it costs a few µs whatever was asked. */
import { longestWritten, nearestName } from '@property-events/protocol'

/** With its parameters as `{eventId}`; `undefined`: none is near. Paths of subjects show nothing of what was sent (D18). */
export type NearestPath = (path: string) => string | undefined

/** `paths`: with parameters as `:eventId`. */
export function nearestPaths(paths: readonly string[]): NearestPath {
  const known = paths.map((path) => {
    return { parts: path.split('/'), shown: path.replaceAll(/:([A-Za-z]+)/g, '{$1}') }
  })
  return (path) => {
    // Before anything is made of it: eight thousand slashes are as many parts.
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
