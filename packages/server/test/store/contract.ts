/** What every engine promises through the port: one suite, run on each of them without exception (P12). */
import { after, describe } from 'node:test'
import { administeringContract } from './contract/administering.ts'
import { appendingContract } from './contract/appending.ts'
import { auditContract } from './contract/audit.ts'
import { copyingContract } from './contract/copying.ts'
import { countingContract } from './contract/counting.ts'
import { consoleSessionsContract } from './contract/console-sessions.ts'
import { consumersContract } from './contract/consumers.ts'
import { sentLogContract } from './contract/sent-log.ts'
import { currentContract } from './contract/current.ts'
import { deletingContract } from './contract/deleting.ts'
import { derivingContract } from './contract/deriving.ts'
import { erasingContract } from './contract/erasing.ts'
import { expiringContract } from './contract/expiring.ts'
import { forgettingContract } from './contract/forgetting.ts'
import { holdingContract } from './contract/holding.ts'
import { branchGrantsContract } from './contract/branch-grants.ts'
import { branchViewsContract } from './contract/branch-views.ts'
import { keysContract } from './contract/keys.ts'
import { publishingByBranchContract } from './contract/publishing-by-branch.ts'
import { leavingContract } from './contract/leaving.ts'
import { ledgerContract } from './contract/ledger.ts'
import { liveSubjectsContract } from './contract/live-subjects.ts'
import { maintenanceContract } from './contract/maintenance.ts'
import { movingContract } from './contract/moving.ts'
import { nodesContract } from './contract/nodes.ts'
import { numberingContract } from './contract/numbering.ts'
import { observingContract } from './contract/observing.ts'
import { openingContract } from './contract/opening.ts'
import { previewContract } from './contract/preview.ts'
import { readAfterContract } from './contract/read-after.ts'
import { readingContract } from './contract/reading.ts'
import { publicationsContract } from './contract/publications.ts'
import { recipientsContract } from './contract/recipients.ts'
import { removingContract } from './contract/removing.ts'
import { readSubjectContract } from './contract/read-subject.ts'
import { replayingContract } from './contract/replaying.ts'
import { restrictingContract } from './contract/restricting.ts'
import { respellingContract } from './contract/respelling.ts'
import { repeatingContract } from './contract/repeating.ts'
import { retainingContract } from './contract/retaining.ts'
import { silenceContract } from './contract/silence.ts'
import { skippingContract } from './contract/skipping.ts'
import { spellingContract } from './contract/spelling.ts'
import { stampingContract } from './contract/stamping.ts'
import { waitingFeedsContract } from './contract/waiting-feeds.ts'
import { windowsContract } from './contract/windows.ts'
import { timeToLiveContract } from './contract/time-to-live.ts'
import { transferringContract } from './contract/transferring.ts'
import { usageContract } from './contract/usage.ts'
import { watchingContract } from './contract/watching.ts'
import { webhookAnswersContract } from './contract/webhook-answers.ts'
import { webhookCopiesContract } from './contract/webhook-copies.ts'
import { webhookSendingContract } from './contract/webhook-sending.ts'
import { webhooksContract } from './contract/webhooks.ts'
import type { StoreFactory } from './support/stores.ts'

export function storageContract(name: string, factory: StoreFactory): void {
  describe(`storage contract: ${name}`, () => {
    after(() => factory.clean())
    openingContract(factory)
    appendingContract(factory)
    repeatingContract(factory)
    respellingContract(factory)
    derivingContract(factory)
    removingContract(factory)
    skippingContract(factory)
    forgettingContract(factory)
    spellingContract(factory)
    previewContract(factory)
    readingContract(factory)
    windowsContract(factory)
    readAfterContract(factory)
    currentContract(factory)
    countingContract(factory)
    liveSubjectsContract(factory)
    readSubjectContract(factory)
    stampingContract(factory)
    numberingContract(factory)
    waitingFeedsContract(factory)
    watchingContract(factory)
    observingContract(factory)
    transferringContract(factory)
    movingContract(factory)
    copyingContract(factory)
    erasingContract(factory)
    replayingContract(factory)
    holdingContract(factory)
    restrictingContract(factory)
    retainingContract(factory)
    expiringContract(factory)
    leavingContract(factory)
    deletingContract(factory)
    keysContract(factory)
    branchGrantsContract(factory)
    publishingByBranchContract(factory)
    branchViewsContract(factory)
    nodesContract(factory)
    maintenanceContract(factory)
    administeringContract(factory)
    auditContract(factory)
    ledgerContract(factory)
    recipientsContract(factory)
    usageContract(factory)
    silenceContract(factory)
    publicationsContract(factory)
    consumersContract(factory)
    sentLogContract(factory)
    timeToLiveContract(factory)
    consoleSessionsContract(factory)
    webhooksContract(factory)
    webhookSendingContract(factory)
    webhookCopiesContract(factory)
    webhookAnswersContract(factory)
  })
}
