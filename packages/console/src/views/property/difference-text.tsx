/** One difference between two payloads, in a line. */
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
        <del>{difference.before ?? 'nothing'}</del>
        <span aria-hidden="true"> → </span>
        <span class="unseen"> became </span>
        <ins>{difference.after ?? 'nothing'}</ins>
      </>
    )
  }
  if (difference.kind === 'words') {
    return (
      <q dir="auto">
        {difference.pieces.map((piece, index) => (
          <PieceText key={index} piece={piece} />
        ))}
      </q>
    )
  }
  return (
    <>
      {difference.changes.map((change, index) => (
        <ItemText key={index} change={change} isFirst={index === 0} />
      ))}
      {difference.more > 0 && `, and ${difference.more} more`}
    </>
  )
}

function PieceText({ piece: { kind, text } }: { readonly piece: Piece }) {
  if (kind === 'added') return <ins>{text}</ins>
  if (kind === 'removed') return <del>{text}</del>
  return <> {text} </>
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
