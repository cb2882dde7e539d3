/**
 * The tenant that test keys open (PROTOCOL §2.8): an agency that does not exist, the same in every store. No other key opens it, and a test
 * key opens nothing else.
 */
export const sandboxTenantId = '7e57be15-0000-4000-8000-5a4db0c5a4db'
