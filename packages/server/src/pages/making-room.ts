/**
 * Counts the bytes of pages that are being made whole, which no key's share has counted yet: 200 requests of one key for cold pages of 8
 * MiB would hold 1.6 GB while they are made. A page that finds no room is sent in pieces.
 */
export interface MakingRoom {
  begin(): PageInMaking
}

export interface PageInMaking {
  /** Counts bytes that were read. False: all pages that are being made hold more than they may. */
  hold(bytes: number): boolean
  /** Releases some of them. */
  giveBack(bytes: number): void
  /** The page is made, or will not be made whole. */
  end(): void
}

/** Eight of the longest pages, or 140 of the usual ones. */
const mostBytes = 64 * 2 ** 20

export function createMakingRoom(): MakingRoom {
  let held = 0
  return {
    begin() {
      let own = 0
      const add = (bytes: number): void => {
        own += bytes
        held += bytes
      }
      return {
        hold(bytes) {
          add(bytes)
          return held <= mostBytes
        },
        giveBack: (bytes) => add(-bytes),
        end: () => add(-own),
      }
    },
  }
}
