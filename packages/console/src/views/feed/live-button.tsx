/** Shows whether the list follows the newest events and how many came since the user scrolled away, and leads back to them. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ListState } from '../../list/list-state.ts'
import { counted, countText } from '../../words/numbers.ts'
import { createAnnouncer } from './announcer.ts'

interface Props {
  readonly list: ListState
  readonly total: number
}

export function LiveButton({ list, total }: Props) {
  const isFollowing = list.isFollowing.value
  // How many there were when the end was last visible.
  const seen = useRef(total)
  if (isFollowing) seen.current = total
  const fresh = total - seen.current
  return (
    <span class="live">
      <button type="button" aria-pressed={isFollowing} onClick={() => list.follow(total)}>
        {isFollowing ? '● live' : `paused · ${countText(fresh)} new`}
      </button>
      <Announcement total={total} />
    </span>
  )
}

/** For screen readers, at most every five seconds. */
function Announcement({ total }: { readonly total: number }) {
  const announcer = useMemo(() => createAnnouncer(total), [])
  const latest = useRef(total)
  latest.current = total
  const [said, say] = useState('')
  useEffect(() => {
    const timer = setInterval(() => {
      const text = announcer.sayNow(latest.current, Date.now())
      if (text !== undefined) say(`${text}, ${counted(latest.current, 'event')} in all`)
    }, 1_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <span class="unseen" role="status">
      {said}
    </span>
  )
}
