/** The port's part for usage: how often each key asked what, how it was answered, and with how many bytes (PROTOCOL §14). */

/** What is added together: the requests of a key within one hour, with the same operation and status. */
export interface UsageCount {
  readonly keyId: string
  /** Hours since 1970, UTC. */
  readonly hour: number
  /** `operationId` of the service's own description. */
  readonly operation: string
  /** Of the answers. */
  readonly status: number
  readonly requests: number
  /** Of the bodies of the answers, as they were sent. */
  readonly bytes: number
}

/** The same of one day. */
export interface DayUsage extends Omit<UsageCount, 'hour'> {
  /** Days since 1970, UTC. */
  readonly day: number
}

/** How many hours are kept one by one. After that they count only in their day. */
export const usageHoursKept = 48
/** How many days are kept. */
export const usageDaysKept = 400

/** How many counts are added with one statement. */
export const usagePerCommit = 500

export interface UsageStore {
  /**
   * Adds to what is kept, in one commit; the sums are exact whoever adds to the same counts at the same time. At most `usagePerCommit`, no
   * two of them of the same key, hour, operation and status. Waits for no commit of events, and none waits for it.
   */
  add(counts: readonly UsageCount[]): Promise<void>
  /** Of a key, from one hour to another, both included, ascending by hour, operation and status. */
  hours(keyId: string, fromHour: number, toHour: number): Promise<readonly UsageCount[]>
  /** The same by days. A day has the hours that are kept by themselves as well. */
  days(keyId: string, fromDay: number, toDay: number): Promise<readonly DayUsage[]>
  /**
   * One step: adds some hours that are not kept any longer to their days, in one commit, or removes some days. Answers how many rows
   * that were: 0 when nothing is left to do. Any number of nodes may call it at once.
   */
  age(nowMs: number): Promise<number>
}
