/** What the publishing process tells its parent, one line per acknowledged request. */
export interface Acknowledgement {
  /** Name of the request; its events carry it. */
  readonly request: string
  readonly events: readonly { readonly id: string; readonly sequenceNumber: number }[]
}

/** Whole lines only: what a killed process was in the middle of writing is not an acknowledgement. */
export function acknowledgementsIn(text: string): readonly Acknowledgement[] {
  const lines = text.split('\n').slice(0, -1)
  return lines.map((line) => {
    const acknowledgement: Acknowledgement = JSON.parse(line)
    return acknowledgement
  })
}

/** The mark that every event of a request carries in its payload. */
export interface RequestMark {
  readonly request: string
  readonly index: number
  readonly size: number
}

export function markText({ request, index, size }: RequestMark): string {
  return `${request}/${index}/${size}`
}

export function markOf(payload: string): RequestMark {
  const { text }: { text: string } = JSON.parse(payload)
  const [request = '', index, size] = text.split('/')
  return { request, index: Number(index), size: Number(size) }
}
