/** A home that may not leave the market yet is edited until it may. */
import { type Edit, rephotograph, rewrite, setPrice, setStatus, statuses, usualSize } from './listing.ts'
import { randomOf } from './random.ts'
import type { Happening, PropertyStory, ToldStory } from './story.ts'

/** The story; of what happens after `fromMs`, the home leaves market or branch only when `mayLeave` says so, and is edited meanwhile. */
export function staying(story: PropertyStory, fromMs: number, mayLeave: () => boolean): ToldStory {
  return { ...story, happenings: happeningsOf(story, fromMs, mayLeave) }
}

function* happeningsOf(
  story: PropertyStory,
  fromMs: number,
  mayLeave: () => boolean,
): Generator<Happening, void> {
  const edits = furtherEdits(story)
  for (const happening of story.happenings) {
    const { kind, atMs } = happening
    if ((kind === 'remove' || kind === 'leave') && atMs > fromMs) {
      while (!mayLeave()) yield { kind: 'edit', atMs, edit: edits() }
    }
    yield happening
  }
}

/** One edit after another. The price goes down once and up again, so that it stays near what the home is worth. */
function furtherEdits({ home, category }: PropertyStory): () => Edit {
  const random = randomOf(`staying/${home.agentRef}`)
  const taken = category === 'lettings' ? statuses.letAgreed : statuses.sstc
  let before: number | undefined
  const reprice: Edit = (listing, atMs) => {
    const price = before ?? Math.round((listing.price * 0.97) / 5) * 5
    before = before === undefined ? listing.price : undefined
    return setPrice(price)(listing, atMs)
  }
  const restatus: Edit = (listing, atMs) =>
    setStatus(random, listing.status === statuses.available ? taken : statuses.available)(listing, atMs)
  return () =>
    random.pick([
      rephotograph(random, home, usualSize),
      rewrite(random, home, usualSize),
      rewrite(random, home, usualSize),
      reprice,
      restatus,
    ])
}
