/** Two texts, word by word. */
import { oneLine } from '../../../words/plain.ts'
import type { Piece } from './difference.ts'

/** The most pairs of words of both texts to compare one by one: some 5 ms. */
const mostPairs = 500_000
/** Equal words to show on each side of a change. */
const context = 6
/** The most characters of a piece to show. */
const longestPiece = 300
const mostPieces = 60

/**
 * What was added and removed, with some words around it. Blanks do not count: `undefined` if nothing else differs. If the texts have
 * hardly a word in common, or are very long, the differing middle is removed and added as a whole. `work`: how many pairs of words may
 * still be compared.
 */
export function differingWords(
  before: string,
  after: string,
  work: { pairs: number } = { pairs: mostPairs },
): readonly Piece[] | undefined {
  const old = wordsOf(before)
  const now = wordsOf(after)
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1
  let end = 0
  const most = Math.min(old.length, now.length) - start
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1
  const middle = changesBetween(old.slice(start, old.length - end), now.slice(start, now.length - end), work)
  if (middle.length === 0) return undefined
  const steps: Run[] = [
    { kind: 'same', words: now.slice(0, start) },
    ...middle,
    { kind: 'same', words: now.slice(now.length - end) },
  ]
  const shown = shownPieces(steps.filter(({ words }) => words.length > 0))
  return shown.length > mostPieces ? [...shown.slice(0, mostPieces), gap] : shown
}

interface Run {
  readonly kind: 'same' | 'added' | 'removed'
  readonly words: readonly string[]
}

/** Words with their punctuation. */
function wordsOf(text: string): readonly string[] {
  return text.match(/\S+/g) ?? []
}

function changesBetween(
  old: readonly string[],
  now: readonly string[],
  work: { pairs: number },
): readonly Run[] {
  const pairs = old.length * now.length
  if (pairs > Math.min(mostPairs, work.pairs)) return replaced(old, now)
  work.pairs -= pairs
  const runs = mergeRuns(old, now, commonLengths(old, now))
  const kept = runs.reduce((sum, { kind, words }) => sum + (kind === 'same' ? words.length : 0), 0)
  // A text with only single words of the old one left is easier to read as a new one.
  return kept * 4 < Math.max(old.length, now.length) ? replaced(old, now) : runs
}

function replaced(old: readonly string[], now: readonly string[]): readonly Run[] {
  const runs: readonly Run[] = [
    { kind: 'removed', words: old },
    { kind: 'added', words: now },
  ]
  return runs.filter(({ words }) => words.length > 0)
}

/** `[i * (now.length + 1) + j]`: the longest common subsequence of what follows old[i] and now[j]. */
function commonLengths(old: readonly string[], now: readonly string[]): Uint32Array {
  const width = now.length + 1
  const lengths = new Uint32Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const here = i * width + j
      lengths[here] =
        old[i] === now[j]
          ? 1 + (lengths[here + width + 1] ?? 0)
          : Math.max(lengths[here + width] ?? 0, lengths[here + 1] ?? 0)
    }
  }
  return lengths
}

function mergeRuns(old: readonly string[], now: readonly string[], lengths: Uint32Array): readonly Run[] {
  const width = now.length + 1
  const runs: { readonly kind: Run['kind']; readonly words: string[] }[] = []
  const put = (kind: Run['kind'], word: string): void => {
    const run = runs.at(-1)
    if (run?.kind === kind) run.words.push(word)
    else runs.push({ kind, words: [word] })
  }
  let i = 0
  let j = 0
  while (i < old.length || j < now.length) {
    const [oldWord, newWord] = [old[i], now[j]]
    const here = i * width + j
    if (oldWord !== undefined && oldWord === newWord) {
      put('same', oldWord)
      i += 1
      j += 1
    } else if (
      oldWord !== undefined &&
      (newWord === undefined || (lengths[here + width] ?? 0) >= (lengths[here + 1] ?? 0))
    ) {
      put('removed', oldWord)
      i += 1
    } else {
      put('added', newWord ?? '')
      j += 1
    }
  }
  return runs
}

const gap: Piece = { kind: 'gap', text: '…' }

function shownPieces(runs: readonly Run[]): readonly Piece[] {
  return runs.flatMap((run, index) => {
    const { kind, words } = run
    if (kind !== 'same') return [pieceOf(kind, words)]
    const isFirst = index === 0
    const isLast = index === runs.length - 1
    const left = isFirst ? 0 : context
    const right = isLast ? 0 : context
    if (words.length <= left + right + 1) return [pieceOf(kind, words)]
    return [
      ...(left === 0 ? [] : [pieceOf(kind, words.slice(0, left))]),
      gap,
      ...(right === 0 ? [] : [pieceOf(kind, words.slice(-right))]),
    ]
  })
}

function pieceOf(kind: Run['kind'], words: readonly string[]): Piece {
  // A word has at least one character, so more words than this are never shown.
  return { kind, text: oneLine(words.slice(0, longestPiece).join(' '), longestPiece) }
}
