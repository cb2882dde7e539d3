/**
 * Counts the bytes of pages that are being made whole, which no key's share has counted yet: 200 requests of one key for cold pages of 8
 * MiB would take 1.6 GB while they are made. They count as bytes in flight of the node. A page that finds no room is sent in pieces.
 */
export interface AssemblyBudget {
  begin(): PageAssembly
}

interface PageAssembly {
  /** Counts bytes that were read. False: all pages that are being made take more than they may. */
  take(bytes: number): boolean
  /** Releases some of them. */
  free(bytes: number): void
  /** The page is made, or will not be made whole. */
  end(): void
}

/**
 * Counts bytes in what a node holds altogether; a negative number takes them off it again. `own`: what the page holds now. False: the node
 * has no room for such pages.
 */
export type CountBytes = (bytes: number, own: number) => boolean

/** Eight of the longest pages, or 140 of the usual ones. */
const mostBytes = 64 * 2 ** 20

/** `count`: left out, the pages of one reader alone are limited. */
export function createAssemblyBudget(count: CountBytes = () => true): AssemblyBudget {
  let held = 0
  return {
    begin() {
      let own = 0
      const add = (bytes: number): boolean => {
        own += bytes
        held += bytes
        return count(bytes, own)
      }
      return {
        take(bytes) {
          const hasRoom = add(bytes)
          return hasRoom && held <= mostBytes
        },
        free: (bytes) => void add(-bytes),
        end: () => void add(-own),
      }
    },
  }
}
