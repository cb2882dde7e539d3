/** How a text of one line is read: lists show it as it was written, listings as it was meant. */
export type ReadText = (text: string | null | undefined) => string

/** As it was written, without superfluous blanks. */
export const asWritten: ReadText = (text) => (text ?? '').replaceAll(/\s+/g, ' ').trim()
