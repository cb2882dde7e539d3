/** Every kind of adversary, by name. */
import { headFloods, unreadPipelines, upgrades } from './oddities.ts'
import { leavingReaders, pagesAtOnce, slowReaders, stoppedReaders } from './readers.ts'
import { brokenKeys, oddPaths, silentConnections, wrongKeys } from './strangers.ts'
import {
  costlyBodies,
  endlessChunks,
  gzipBombs,
  largePublications,
  largeUploads,
  slowUploads,
} from './uploads.ts'
import { heldSnapshots, runsAtOnce, snapshotsAtOnce } from './walkers.ts'
import type { Adversary } from './target.ts'

export const adversaries = {
  stoppedReaders,
  slowReaders,
  leavingReaders,
  pagesAtOnce,
  largeUploads,
  largePublications,
  slowUploads,
  gzipBombs,
  costlyBodies,
  endlessChunks,
  wrongKeys,
  brokenKeys,
  oddPaths,
  silentConnections,
  snapshotsAtOnce,
  heldSnapshots,
  runsAtOnce,
  upgrades,
  headFloods,
  unreadPipelines,
} as const satisfies Readonly<Record<string, Adversary>>

export type AdversaryName = keyof typeof adversaries

/** Which come together, as a phase of the suite. */
export const phases = {
  readers: ['stoppedReaders', 'slowReaders', 'leavingReaders', 'pagesAtOnce'],
  uploads: ['largeUploads', 'slowUploads', 'gzipBombs', 'costlyBodies', 'endlessChunks'],
  publications: ['largePublications'],
  strangers: ['wrongKeys', 'brokenKeys', 'oddPaths', 'silentConnections'],
  walkers: ['snapshotsAtOnce', 'heldSnapshots', 'runsAtOnce'],
  oddities: ['upgrades', 'headFloods', 'unreadPipelines'],
} as const satisfies Phases

export type Phases = Readonly<Record<string, readonly AdversaryName[]>>
