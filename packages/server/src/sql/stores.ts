/** Loads the stores of all features, so that the writer's thread finds their writes by name. */
import '../audit/store.ts'
import '../consumers/silence/store.ts'
import '../privacy/hold/store.ts'
import '../usage/store.ts'
