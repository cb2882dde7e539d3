/** Rounds before those that are measured: they warm up both ends. */
export const warmRounds = 5
