/** A dialog with one act: a form, its button, why it failed, and what is shown once it is done. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Operation } from '../service/operation.ts'
import { useAction } from '../service/use-answer.ts'
import type { Action } from '../service/use-answer.ts'
import { ActionFailure } from '../views/sign-in/action-failure.tsx'
import { Dialog, DialogActions } from './dialog.tsx'

interface Props<T> {
  readonly title: string
  /** On the button that acts. */
  readonly name: string
  readonly isDanger?: boolean
  /** `undefined`: the form has faults, which it shows. */
  readonly operation: () => Operation<T> | undefined | Promise<Operation<T> | undefined>
  /** The answer; `undefined`: nothing to show, and the dialog closes. */
  readonly shown?: (value: T) => ComponentChildren
  /** `isDone`: it was acted. */
  readonly onClose: (isDone: boolean) => void
  readonly children: ComponentChildren | ((action: Action<T>) => ComponentChildren)
}

export function ActDialog<T>({ title, name, isDanger, operation, shown, onClose, children }: Props<T>) {
  const action = useAction<T>()
  const { isDone, done } = action
  const result = isDone && done !== undefined ? shown?.(done) : undefined
  const isOver = isDone && result === undefined
  useEffect(() => {
    if (isOver) onClose(true)
  }, [isOver])
  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    const wanted = await operation()
    if (wanted !== undefined) await action.run(wanted)
  }
  return (
    <Dialog title={title} onClose={() => onClose(isDone)}>
      {result ?? (
        <>
          <form class="dialog-form" onSubmit={(event) => void submit(event)} noValidate>
            {typeof children === 'function' ? children(action) : children}
            <DialogActions
              name={name}
              isBusy={action.isBusy}
              isDanger={isDanger === true}
              onCancel={() => onClose(isDone)}
            />
          </form>
          <ActionFailure action={action} />
        </>
      )}
    </Dialog>
  )
}
