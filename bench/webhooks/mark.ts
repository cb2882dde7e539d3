/** The moment at which an event was due, written into its payload, so that whoever receives it knows how long it took. */

/** In a body, in place of the moment. */
export const markPlace = '{due}'
/** The text of a payload that holds it. */
export const markText = `due ${markPlace};`
const marker = /due (\d+(?:\.\d+)?);/

/** `dueMs`: milliseconds since 1970, with fractions. */
export function withMark(body: string, dueMs: number): string {
  return body.replace(markPlace, dueMs.toFixed(3))
}

/** `undefined`: the body has none. */
export function marked(body: Buffer): number | undefined {
  if (!body.includes('due ')) return undefined
  const found = marker.exec(body.toString('latin1'))?.[1]
  return found === undefined ? undefined : Number(found)
}
