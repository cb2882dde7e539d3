/** The result of one check. `remedy` says what to do; a finding that is `ok` needs none. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly detail: string
  readonly remedy?: string
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail }
}

export function warn(check: string, detail: string, remedy: string): Finding {
  return { check, status: 'warn', detail, remedy }
}

export function fail(check: string, detail: string, remedy: string): Finding {
  return { check, status: 'fail', detail, remedy }
}
