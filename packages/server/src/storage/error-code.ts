/** The code of an error, whatever its class: one that comes from another thread has lost it. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
