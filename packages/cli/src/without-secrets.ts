/**
 * Text for stderr in which only the id of an API key is left, so that a key which a user mistypes, or puts in the wrong
 * place, is not found in a log.
 */
export function withoutSecrets(text: string): string {
  return text.replaceAll(/(pev_[0-9A-Za-z]{0,12})([^\s"'`]*)/g, (whole, upToId: string, rest: string) =>
    /[0-9A-Za-z]/.test(rest) ? `${upToId}_…` : whole,
  )
}
