import { open, rename } from 'node:fs/promises'

/** Where a file is written until it is whole. */
export function draftPathOf(path: string): string {
  return `${path}.new`
}

/**
 * Writes a file so that it is there whole or as it was before, also after a power cut. Only its owner can read it: contacts
 * lie in copies, and keys beside a demo.
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
