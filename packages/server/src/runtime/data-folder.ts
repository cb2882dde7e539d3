/** Names of files in a data folder that more than one part of the service knows. */

/** The key pepper (D11), beside the store. */
export const pepperFileName = 'pepper'
/** The file of the previous pepper, while it is being replaced. */
export const oldPepperFileName = 'pepper.old'
