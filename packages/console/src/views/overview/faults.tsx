/** What needs attention: a card for each. */
import { hrefOf } from '../../root.ts'
import type { Fault } from './tenant-row.ts'

interface Props {
  readonly faults: readonly Fault[]
  /** There are more than these. */
  readonly onMore: (() => void) | undefined
}

export function Faults({ faults, onMore }: Props) {
  return (
    <section class="faults" aria-labelledby="faults">
      <h2 id="faults">Needs somebody</h2>
      {faults.length === 0 ? (
        <p class="quiet">
          No agency is silent, no consumer has stopped, and no key is refused or about to end.
        </p>
      ) : (
        <ul>
          {faults.map(({ key, sentence, remedy, action, isBad }) => (
            <li key={key} class={isBad ? 'bad' : 'warn'}>
              <p>
                {sentence}
                {remedy !== undefined && <span class="remedy"> {remedy}</span>}
              </p>
              {action !== undefined && <a href={hrefOf(action.place)}>{action.name}</a>}
            </li>
          ))}
        </ul>
      )}
      {onMore !== undefined && (
        <button type="button" onClick={onMore}>
          Show more
        </button>
      )}
    </section>
  )
}
