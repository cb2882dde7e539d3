/** The keyboard shortcuts. */
import { Dialog } from '../parts/dialog.tsx'
import { shortcuts } from './shortcuts.ts'

export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys of the keyboard" onClose={onClose}>
      <dl class="shortcuts">
        {shortcuts.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
