/** Reads views of branches that may not exist: an answer about all consumers of a feed cannot wait for one of them. */
import { StorageFailure } from '../sql/storage-errors.ts'

export const notMade = 'notMade'

/** `notMade`: the view is being made, or no longer exists. Any other failure is rethrown. */
export async function unlessNotMade<T>(found: Promise<T>): Promise<T | typeof notMade> {
  try {
    return await found
  } catch (error) {
    if (error instanceof StorageFailure && error.code === 'view_being_made') return notMade
    throw error
  }
}
