/**
 * Processes that run one command after another. A start of Node takes 0.3 s of processor time, and the tests of the command line run
 * hundreds of commands.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Finished } from './program.ts'

const script = fileURLToPath(new URL('./shared-process-main.ts', import.meta.url))

/** What such a process is sent. */
export interface SharedCommand {
  /** Stands at the end of what the command writes to each stream; on stderr the exit code follows, in brackets. */
  readonly mark: string
  readonly args: readonly string[]
  /** All variables of the command. */
  readonly environment: Readonly<Record<string, string>>
  readonly input: string | Buffer
  readonly cwd: string
}

const idle: ChildProcess[] = []
let count = 0

/** Runs one command to its end, in a process that has run others before it. Commands at the same time have one each. */
export function runShared(command: Omit<SharedCommand, 'mark'>): Promise<Finished> {
  const child = idle.pop() ?? startProcess(command.environment)
  const mark = `\0end of command ${(count += 1)}`
  keepWaiting(child, true)
  return new Promise((resolve, reject) => {
    let stdout = ''
    let stderr = ''
    const stop = () => {
      child.stdout?.off('data', onStdout)
      child.stderr?.off('data', onStderr)
      child.off('error', reject).off('close', onClose)
    }
    const look = () => {
      const [before = '', after = ''] = stderr.split(mark)
      const code = /\[(\d+)\]/.exec(after)?.[1]
      if (!stdout.endsWith(mark) || code === undefined) return
      stop()
      keepWaiting(child, false)
      idle.push(child)
      resolve({ code: Number(code), stdout: stdout.slice(0, -mark.length), stderr: before })
    }
    const onStdout = (text: string) => {
      stdout += text
      look()
    }
    const onStderr = (text: string) => {
      stderr += text
      look()
    }
    // The command has ended the process, as it does where it fails for something unforeseen.
    const onClose = (code: number | null) => {
      stop()
      resolve({ code, stdout, stderr })
    }
    child.stdout?.on('data', onStdout)
    child.stderr?.on('data', onStderr)
    child.on('error', reject).on('close', onClose)
    child.send({ ...command, mark } satisfies SharedCommand)
  })
}

function startProcess({ PATH = '', HOME = '' }: Readonly<Record<string, string>>): ChildProcess {
  const { NODE_COMPILE_CACHE: compiled } = process.env
  const child = spawn(process.execPath, [script], {
    env: { PATH, HOME, ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  })
  child.stdout?.setEncoding('utf8')
  child.stderr?.setEncoding('utf8')
  return child
}

/** A process without a command does not keep the tests from ending, and ends with them. */
function keepWaiting(child: ChildProcess, isWaitedFor: boolean): void {
  const pipes = [child.stdout, child.stderr].filter((pipe) => pipe instanceof Socket)
  for (const part of [child, child.channel, ...pipes]) {
    if (isWaitedFor) part?.ref()
    else part?.unref()
  }
}
