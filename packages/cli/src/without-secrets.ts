/**
 * Text for stderr without what must not be found in a log: of an API key that a user mistypes, or puts in the wrong place, only its id is
 * left, and of an address with a user name and a password, neither. The address that our own sentences give as an example stays.
 */
export function withoutSecrets(text: string): string {
  return text
    .replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/)(?!user(?::password)?@host\b)[^\s"'`<>]*@/gi, '$1…@')
    .replaceAll(/(pev_[0-9A-Za-z]{0,12})([^\s"'`]*)/g, (whole, upToId: string, rest: string) =>
      /[0-9A-Za-z]/.test(rest) ? `${upToId}_…` : whole,
    )
}

/** A value as a user wrote it, of whatever form: what stands before its last `@` may be a user name and a password. */
export function withoutPassword(value: string): string {
  return value.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1…@')
}
