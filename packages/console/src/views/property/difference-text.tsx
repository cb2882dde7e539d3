/** One difference between two payloads, in a line. */
import { counted } from '../../words/numbers.ts'
import type { Difference, ItemChange, Piece } from './diff/difference.ts'

export function DifferenceText({ difference }: { readonly difference: Difference }) {
  return (
    <>
      <span class="field" title={difference.pointer.slice(0, 300)}>
        {difference.label}
      </span>{' '}
      <Change difference={difference} />
    </>
  )
}

function Change({ difference }: { readonly difference: Difference }) {
  if (difference.kind === 'value') {
    return (
      <>
        {difference.before !== null && <del>{difference.before}</del>}
        {difference.before === null && 'added '}
        {difference.before !== null && difference.after !== null && (
          <>
            <span aria-hidden="true"> → </span>
            <span class="unseen"> changed to </span>
          </>
        )}
        {difference.after === null ? ' removed' : <ins>{difference.after}</ins>}
      </>
    )
  }
  if (difference.kind === 'words') return <TextChange pieces={difference.pieces} />
  return (
    <>
      {difference.changes.map((change, index) => (
        <ItemText key={index} change={change} isFirst={index === 0} />
      ))}
      {difference.more > 0 && `, and ${difference.more} more`}
    </>
  )
}

/** Texts that are longer than this are folded. */
const longestOpen = 140

/** A text word by word; a long one behind how much of it has changed. */
function TextChange({ pieces }: { readonly pieces: readonly Piece[] }) {
  const text = (
    <q dir="auto">
      {pieces.map((piece, index) => (
        <>
          {index > 0 && ' '}
          <PieceText key={index} piece={piece} />
        </>
      ))}
    </q>
  )
  if (pieces.reduce((sum, piece) => sum + piece.text.length, 0) <= longestOpen) return text
  return (
    <details class="text-change">
      <summary>
        text changed: {wordsIn(pieces, 'added')} added, {wordsIn(pieces, 'removed')} removed
      </summary>
      {text}
    </details>
  )
}

function wordsIn(pieces: readonly Piece[], kind: Piece['kind']): string {
  const count = pieces
    .filter((piece) => piece.kind === kind)
    .reduce((sum, { text }) => sum + text.split(' ').length, 0)
  return counted(count, 'word')
}

function PieceText({ piece: { kind, text } }: { readonly piece: Piece }) {
  if (kind === 'added') return <ins>{text}</ins>
  if (kind === 'removed') return <del>{text}</del>
  return <>{text}</>
}

const words = { added: 'added', removed: 'removed', changed: 'changed' } as const

function ItemText({ change, isFirst }: { readonly change: ItemChange; readonly isFirst: boolean }) {
  const { kind, name, from, differences = [] } = change
  return (
    <>
      {isFirst ? '' : ', '}
      <span class={kind}>
        {name} {kind === 'moved' ? `moved from ${from ?? '?'}` : words[kind]}
      </span>
      {differences.length > 0 && (
        <>
          {' ('}
          {differences.slice(0, 5).map((difference, index) => (
            <span key={index}>
              {index > 0 && '; '}
              <DifferenceText difference={difference} />
            </span>
          ))}
          {differences.length > 5 && '; …'}
          {')'}
        </>
      )}
    </>
  )
}
