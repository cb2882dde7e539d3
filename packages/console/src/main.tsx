/** Starts the console: takes the link out of the address, asks who is signed in, and shows the result. */
// The order of its layers matters, so it comes before every part's own style.
import './console.css'
import { render } from 'preact'
import { App } from './frame/app.tsx'
import { loginOf } from './session/pasted-proof.ts'
import { beginSession } from './session/session.ts'

/** Removed from the address before anything else, so that it does not stay in the history. */
function takeLogin(): string | undefined {
  const login = loginOf(location.hash)
  if (login !== undefined) history.replaceState(null, '', location.pathname + location.search)
  return login
}

const container = document.getElementById('console')
if (container !== null) {
  container.replaceChildren()
  render(<App />, container)
}
void beginSession(takeLogin())
addEventListener('hashchange', () => {
  const login = takeLogin()
  if (login !== undefined) void beginSession(login)
})
