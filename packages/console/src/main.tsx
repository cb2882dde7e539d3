/** Starts the console: takes the link out of the address, asks who is signed in, and shows the result. */
// The order of its layers matters, so it comes before every part's own style.
import './console.css'
import { render } from 'preact'
import { LocationProvider, Route, Router } from 'preact-iso/router'
import { loginOf } from './session/pasted-proof.ts'
import { beginSession, sessionState, takeUp } from './session/session.ts'
import { Problem, Waiting } from './parts/answer.tsx'
import { base } from './root.ts'
import { rightsOf } from './session/access.ts'
import { NoView, routeOf } from './views/view-route.tsx'
import { views } from './views/index.ts'
import { SignInView } from './views/sign-in/sign-in-view.tsx'
import { Frame } from './frame/frame.tsx'

const routes = views.map((view) => ({
  path: view.path === '/' ? `${base}/` : `${base}${view.path}`,
  component: routeOf(view),
}))

/** The console as a whole: signed in or not. */
function App() {
  const state = sessionState.value
  if (state.kind === 'unknown') return <Waiting what="the session" />
  if (state.kind === 'away') return <Problem failure={state.why} again={() => void takeUp()} />
  if (state.kind === 'signedOut') return <SignInView why={state.why} />
  return (
    <LocationProvider key={rightsOf(state.session.key)} scope={base}>
      <Frame>
        <Router>
          {routes.map(({ path, component }) => (
            <Route key={path} path={path} component={component} />
          ))}
          <Route default component={NoView} />
        </Router>
      </Frame>
    </LocationProvider>
  )
}

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
