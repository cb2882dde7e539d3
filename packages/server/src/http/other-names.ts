/** Paths that other services have for what this one has elsewhere. Each hint is of whole sentences and ends with a blank. */
import { feeds } from '@property-events/protocol'

/** Nothing longer is a name from elsewhere, and strangers send any path. */
const longest = 100

/** What stands before the nearest path, as this one is meant and not mistyped; `undefined`: it is no such name. */
export function otherNames(path: string, basePath: string): string | undefined {
  const given = path.slice(0, longest).toLowerCase()
  if (/^\/(?:metrics|health\w*|livez?|readyz?|ping|status|actuator)(?:\/|$)/.test(given))
    return 'Metrics and health (/metrics, /livez, /readyz) are on a port of their own, which --metrics-port names: 9464 unless it was changed. '
  if (/^\/(?:v\d\/)?(?:swagger|openapi|api-docs?|redoc|graphql|schema)/.test(given))
    return 'The service is described by OpenAPI in JSON, and has no GraphQL. '
  if (/^\/(?:admin|login|ui|dashboard)\/?$/.test(given))
    return `The console is at ${basePath}/console/, if it is on; administration is under ${basePath}/v1/admin. `
  const [, subject] =
    /\/(propert\w+|contacts?)\/[^/]+\/(?:events?|timeline|changes|versions)$/.exec(given) ?? []
  if (subject !== undefined) return meant(`${subjectsOf(subject)}/{subjectId}/history`)
  if (/\/ack(?:nowledge\w*)?$/.test(given))
    return meant(`/v1/${given.includes('contact') ? 'contact' : 'property'}-consumers/{name}/acknowledged`)
  return undefined

  function meant(ours: string): string {
    return `Did you mean ${basePath}${ours}? `
  }
}

/** For a path that is near none, but says what is looked for. */
export function howToRead(path: string, basePath: string): string {
  const given = path.slice(0, longest)
  const match = /(propert|listing)|(contact)|event/i.exec(given)
  if (match === null) return ''
  const { eventsPath, subjectsPath, publishPath } = feeds[match[2] === undefined ? 'property' : 'contact']
  const [, read] = /(getevents|geteventbyid)/i.exec(given) ?? []
  if (read !== undefined) {
    const ours = /byid/i.test(read) ? 'geteventbyid/{eventId}' : 'getevents'
    return `Did you mean ${basePath}${eventsPath}/${ours}? `
  }
  return `Events are read with GET ${basePath}${publishPath} and published with POST; one subject is read with GET ${basePath}${subjectsPath}/{subjectId}, all with GET ${basePath}${publishPath}/snapshot. `
}

function subjectsOf(word: string): string {
  return feeds[word.startsWith('contact') ? 'contact' : 'property'].subjectsPath
}
