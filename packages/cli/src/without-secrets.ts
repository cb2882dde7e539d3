/**
 * Text for stderr in which nothing of an API key stands but its id: whoever mistypes one, or puts it in the place of
 * something else, must not find it in a log.
 */
export function withoutSecrets(text: string): string {
  return text.replaceAll(/(pev_[0-9A-Za-z]{0,12})([^\s"'`]*)/g, (whole, upToId: string, rest: string) =>
    /[0-9A-Za-z]/.test(rest) ? `${upToId}_…` : whole,
  )
}
