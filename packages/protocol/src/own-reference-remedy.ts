/** What to do about a subject that is not a UUID; a sentence for errors, without its full stop. */
export const ownReferenceRemedy =
  'Send the UUIDv5 of your own reference, which `property-events reference` makes, and keep yours in service_reference'
