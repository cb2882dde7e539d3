/** Views in which requests are tried: one file of the built console. */
export { ApiView } from './api/api-view.tsx'
export { PlaygroundView } from './playground/playground-view.tsx'
