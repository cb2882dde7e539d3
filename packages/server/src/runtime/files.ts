/** Files in the data folder, and files that are written whole. */
import { open, rename } from 'node:fs/promises'

/** Where a file is written until it is complete. */
export function draftPathOf(path: string): string {
  return `${path}.new`
}

/**
 * Writes a file so that it is either complete or unchanged, also after a power cut. Only its owner can read it: copies contain contacts,
 * and keys are next to a demo.
 */
export async function writeWhole(path: string, text: Iterable<string>): Promise<void> {
  const draft = draftPathOf(path)
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}

/** The key pepper (D11), beside the store. */
export const pepperFileName = 'pepper'
/** The file of the previous pepper, while it is being replaced. */
export const oldPepperFileName = 'pepper.old'
