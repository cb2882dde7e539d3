/** What needs attention: a card for each. */
import { Icon } from '../../parts/icon.tsx'
import { hrefOf } from '../../root.ts'
import type { Fault } from './tenant-row.ts'

interface Props {
  readonly faults: readonly Fault[]
  /** There are more than these. */
  readonly onMore: (() => void) | undefined
}

export function Attention({ faults, onMore }: Props) {
  return (
    <section class="faults" aria-labelledby="faults">
      <h2 id="faults">Needs attention</h2>
      {faults.length === 0 ? (
        <p class="quiet">
          <Icon name="good" /> No agency is silent, no consumer has stopped, and no key is refused or about to
          expire.
        </p>
      ) : (
        <ul>
          {faults.map(({ key, sentence, remedy, action, isBad }) => (
            <li key={key} class={isBad ? 'bad' : 'warn'}>
              <p>
                <Icon name="attention" /> {sentence}
                {remedy !== undefined && <span class="remedy"> {remedy}</span>}
              </p>
              {action !== undefined && <a href={hrefOf(action.path)}>{action.name}</a>}
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
