/**
 * Who changes something, as an opaque id: an API key, a person at the command line by an id that reveals no name, or the service itself,
 * which sets up the demo and rehashes keys.
 */
export type Actor = `key:${string}` | `cli:${string}` | 'service'
