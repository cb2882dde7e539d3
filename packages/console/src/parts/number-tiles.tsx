/** Numbers that matter, each with its name above it. */
import './chart.css'

interface NumberTile {
  readonly name: string
  readonly value: string
  /** Somebody has to act. */
  readonly isBad?: boolean | undefined
}

export function NumberTiles({ tiles }: { readonly tiles: readonly NumberTile[] }) {
  // All of a row are of one size: the one that the longest has room for.
  const size = tiles.some(({ value }) => value.length > 12) ? 'text' : ''
  return (
    <dl class="tiles-of-numbers">
      {tiles.map(({ name, value, isBad }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class={`${isBad === true ? 'bad' : ''} ${size}`}>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
