/** Photographs and other media as numbered tiles, with what became of each. */
import type { MediaTile, MediaTiles } from './media-tiles.ts'
import { pictureOf } from './pictures.ts'
import type { PictureRules } from './pictures.ts'

interface Props {
  readonly of: MediaTiles
  readonly rules: PictureRules
}

export function MediaStrip({ of: { tiles, more }, rules }: Props) {
  if (tiles.length === 0) return <p class="quiet">No photographs and no other media.</p>
  return (
    <>
      <ol class="tiles">
        {tiles.map((tile) => (
          <Tile key={`${tile.mark ?? ''} ${tile.item.name}`} tile={tile} rules={rules} />
        ))}
      </ol>
      {more > 0 && <p class="quiet">and {more} more</p>}
    </>
  )
}

function Tile({ tile, rules }: { readonly tile: MediaTile; readonly rules: PictureRules }) {
  const { item, mark } = tile
  const source = item.kind === 'photograph' ? pictureOf(item.url, rules) : undefined
  const words = markWords(tile)
  return (
    <li class={mark ?? 'same'} title={item.caption === '' ? undefined : item.caption}>
      {source === undefined ? (
        <span class="number">{item.kind === 'photograph' ? item.position : item.name}</span>
      ) : (
        <img src={source} alt={item.caption === '' ? item.name : item.caption} loading="lazy" />
      )}
      {words !== undefined && <span class="mark">{words}</span>}
      {item.caption !== '' && <span class="caption">{item.caption}</span>}
    </li>
  )
}

function markWords({ mark, from, item }: MediaTile): string | undefined {
  if (mark === 'moved') return `${item.position} ← ${from ?? '?'}`
  return mark
}
