import { usageDaysKept, usageHoursKept } from '../usage-store.ts'
import type { DayUsage, UsageCount, UsageStore } from '../usage-store.ts'
import { openState } from './state.ts'
import type { MemoryStore } from './state.ts'

export function memoryUsage(store: MemoryStore): UsageStore {
  return {
    async add(counts) {
      const { usageHours } = openState(store)
      for (const count of counts) put(usageHours, `${count.hour} ${nameOf(count)}`, count)
    },
    async hours(keyId, fromHour, toHour) {
      return [...openState(store).usageHours.values()]
        .filter((count) => count.keyId === keyId && count.hour >= fromHour && count.hour <= toHour)
        .toSorted((a, b) => a.hour - b.hour || compare(a, b))
    },
    async days(keyId, fromDay, toDay) {
      const { usageDays, usageHours } = openState(store)
      const found = new Map<string, DayUsage>()
      for (const day of [...usageDays.values(), ...[...usageHours.values()].map(dayOf)]) {
        const isMeant = day.keyId === keyId && day.day >= fromDay && day.day <= toDay
        if (isMeant) put(found, `${day.day} ${nameOf(day)}`, day)
      }
      return [...found.values()].toSorted((a, b) => a.day - b.day || compare(a, b))
    },
    async age(nowMs) {
      const { usageDays, usageHours } = openState(store)
      const nowHour = Math.floor(nowMs / 3_600_000)
      let changed = 0
      for (const [name, count] of usageHours) {
        if (count.hour >= nowHour - usageHoursKept) continue
        const day = dayOf(count)
        put(usageDays, `${day.day} ${nameOf(day)}`, day)
        usageHours.delete(name)
        changed += 1
      }
      for (const [name, { day }] of usageDays) {
        if (day >= Math.floor(nowHour / 24) - usageDaysKept) continue
        usageDays.delete(name)
        changed += 1
      }
      return changed
    },
  }
}

type Added = Pick<UsageCount, 'requests' | 'bytes'>

function put<Count extends Added>(kept: Map<string, Count>, name: string, { ...count }: Count): void {
  const before = kept.get(name)
  const requests = count.requests + (before?.requests ?? 0)
  const bytes = count.bytes + (before?.bytes ?? 0)
  kept.set(name, { ...count, requests, bytes })
}

function dayOf({ hour, ...count }: UsageCount): DayUsage {
  return { ...count, day: Math.floor(hour / 24) }
}

type Named = Pick<UsageCount, 'keyId' | 'operation' | 'status'>

function nameOf({ keyId, operation, status }: Named): string {
  return `${keyId} ${operation} ${status}`
}

function compare(a: Named, b: Named): number {
  if (a.operation !== b.operation) return a.operation < b.operation ? -1 : 1
  return a.status - b.status
}
