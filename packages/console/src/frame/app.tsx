/** The console as a whole: signed in or not. */
import { LocationProvider, Route, Router } from 'preact-iso/router'
import { Waiting } from '../parts/empty.tsx'
import { Problem } from '../parts/problem.tsx'
import { base } from '../root.ts'
import { rightsOf } from '../session/access.ts'
import { sessionState, takeUp } from '../session/session.ts'
import { NoView, routeOf } from '../views/view-route.tsx'
import { views } from '../views/index.ts'
import { SignInView } from '../views/sign-in/sign-in-view.tsx'
import { Frame } from './frame.tsx'

const routes = views.map((view) => ({
  path: view.path === '/' ? `${base}/` : `${base}${view.path}`,
  component: routeOf(view),
}))

export function App() {
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
