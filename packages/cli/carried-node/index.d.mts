/** What is known of the Node of one platform. */
export interface KnownNode {
  /** The registry does not have the same for every platform. */
  readonly version: string
  /** The npm package that carries it. */
  readonly package: string
  /** Its path in that package. */
  readonly program: string
  readonly bytes: number
  /** Of the program, in hexadecimal. */
  readonly sha256: string
  /** What nodejs.org publishes a checksum of, in the SHASUMS256.txt of the version: the archive that holds the program, or the program itself. Null: it was out of reach. */
  readonly published: { readonly file: string; readonly sha256: string | null }
  /** Where the program was compared with the published one; `elsewhere`: by others, who published the same checksum. */
  readonly compared: 'here' | 'elsewhere' | 'nowhere'
}

export interface KnownNodes {
  /** By platform and processor, such as `linux x64`. */
  readonly platforms: Readonly<Record<string, KnownNode>>
}

export interface CarriedNode {
  readonly path: string
  /** That its package says it has. */
  readonly version: string
  readonly known: KnownNode
  /** Where it is kept that the program was read. */
  readonly stamp: string
}

/** Whole sentences, both of them. */
export interface NodeFault {
  readonly detail: string
  readonly remedy: string
}

export const checksumsFile: string
export function readChecksums(): KnownNodes
export function findCarried(): CarriedNode | undefined
export function faultOfCarried(
  carried: CarriedNode,
  options?: { readonly again?: boolean },
): NodeFault | undefined
export function sha256Of(path: string): string
