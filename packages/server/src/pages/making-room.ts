/**
 * Bytes of pages that are being made whole, which nobody's share has counted yet: 200 requests of one key for cold pages of 8 MiB would
 * hold 1.6 GB in the making. A page that finds no room is sent in pieces.
 */
export interface MakingRoom {
  begin(): PageInMaking
}

export interface PageInMaking {
  /** Counts bytes that were read. False: all pages in the making hold more than they may. */
  hold(bytes: number): boolean
  /** Some of them are gone. */
  giveBack(bytes: number): void
  /** The page is made, or is not made whole. */
  end(): void
}

/** Eight of the longest, or 140 of the usual. */
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
