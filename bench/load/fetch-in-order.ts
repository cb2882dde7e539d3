/**
 * One client that fetches all targets in order over one connection and discards the bytes, as a program: `node fetch-in-order.ts <base
 * url> <file of targets> <identity|gzip> [key]`. Prints a load report.
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { LoadReport } from '../support/wrk.ts'

const [base = '', file = '', coding = 'identity', key] = process.argv.slice(2)
const targets = readFileSync(file, 'utf8').trim().split('\n')
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const headers = { 'accept-encoding': coding, ...(key === undefined ? {} : { 'x-api-key': key }) }

function fetchOne(target: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asking = request(`${base}${target}`, { agent, headers }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(bytes)
        else reject(new Error(`${target} answered ${response.statusCode}`))
      })
    })
    asking.on('error', reject)
    asking.end()
  })
}

const took: number[] = []
let bytes = 0
const start = performance.now()
for (const target of targets) {
  const before = performance.now()
  bytes += await fetchOne(target)
  took.push(performance.now() - before)
}
const seconds = (performance.now() - start) / 1_000
took.sort((a, b) => a - b)
const at = (part: number): number => took[Math.floor((took.length - 1) * part)] ?? 0
const requests = took.length
const report: LoadReport = { requests, seconds, bytes, p50Ms: at(0.5), p99Ms: at(0.99), errors: 0 }
console.log(JSON.stringify(report))
agent.destroy()
