import { open, rename } from 'node:fs/promises'

/** Writes a file so that it is there whole or as it was before, also after a power cut. */
export async function writeWhole(path: string, text: Iterable<string>): Promise<void> {
  const draft = `${path}.new`
  const file = await open(draft, 'w')
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}
