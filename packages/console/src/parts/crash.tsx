/** Takes the place of a view that failed. */
import { Component } from 'preact'
import type { ComponentChildren } from 'preact'
import { oddTrouble } from '../service/trouble.ts'
import { Problem } from './problem.tsx'

interface Props {
  readonly children: ComponentChildren
}

export class Crash extends Component<Props, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false }

  static override getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override componentDidCatch(error: unknown): void {
    console.error(error)
  }

  render() {
    if (!this.state.hasFailed) return this.props.children
    const trouble = oddTrouble('This view met something that it does not know, and stopped.')
    return <Problem trouble={trouble} again={() => this.setState({ hasFailed: false })} />
  }
}
