/** How the keys of a list were used, requested one after another so that a long list causes no burst. */
import { useEffect, useState } from 'preact/hooks'
import type { KeyUsage } from '@property-events/protocol/wire'
import { call } from '../../service/call.ts'
import { readUsage } from '../../service/operations/keys.ts'

/** A missing key is being requested; `undefined` for a key: the service does not say. */
export type Usages = ReadonlyMap<string, KeyUsage | undefined>

/** The most keys to ask for: a list has at most 200, and rarely more than ten. */
const mostAsked = 50

export function useUsages(keyIds: readonly string[]): Usages {
  const [usages, setUsages] = useState<Usages>(new Map())
  const wanted = keyIds.slice(0, mostAsked).join(' ')
  useEffect(() => {
    const controller = new AbortController()
    void read(controller.signal)
    return () => controller.abort()
    async function read(signal: AbortSignal): Promise<void> {
      for (const keyId of wanted.split(' ').filter((id) => id !== '' && !usages.has(id))) {
        const outcome = await call(readUsage(keyId), { signal })
        if (signal.aborted) return
        const usage = outcome.kind === 'answer' ? outcome.value : undefined
        setUsages((before) => new Map([...before, [keyId, usage]]))
      }
    }
  }, [wanted])
  return usages
}
