/** Logs two lines for each maintenance: its beginning and its end, as this node notices them. */
import type { Logger } from 'pino'
import type { Maintenance } from '../../maintenance/maintenance.ts'

export function maintenanceReporter(log: Logger): (maintenance: Maintenance | undefined) => void {
  return (maintenance) => {
    if (maintenance === undefined) {
      log.info('maintenance has ended: publications are taken again')
      return
    }
    const since = new Date(maintenance.sinceMs).toISOString()
    log.warn({ since }, 'maintenance is on: publications are refused until `maintenance off`')
  }
}
