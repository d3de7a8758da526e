/** Dialog with the keys of the pages; `?` opens it anywhere. */
import { useState } from 'react';
import { Dialog } from '../parts/dialog/dialog.tsx';
import { isCommand, usePageKeys } from './is-command.ts';
import { GO_KEYS } from './pages.ts';

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['/'], 'search, from anywhere'],
  ...GO_KEYS.map(([letter, name]) => [['g', letter], name] as const),
  [['j', 'k'], 'next and previous in a list, as the arrows'],
  [['Enter'], 'open or answer the selected item'],
  [['x'], 'select a run; with Shift, a range'],
  [['←', '↑', '→', '↓'], 'move along the edges of a graph'],
  [['Esc'], 'close a dialog or the search'],
  [['?'], 'this'],
];

export function KeyHelp() {
  const [isOpen, setOpen] = useState(false);
  usePageKeys((event) => {
    if (event.key !== '?' || !isCommand(event)) return;
    event.preventDefault();
    setOpen(true);
  });
  return (
    <>
      <button
        type="button"
        className="plain"
        aria-label="Keys of the pages"
        title="Keys of the pages: ?"
        onClick={() => setOpen(true)}
      >
        ?
      </button>
      {isOpen && (
        <Dialog title="Keys" onClose={() => setOpen(false)}>
          <dl className="facts key-list">
            {KEYS.map(([keys, what]) => (
              <div key={what}>
                <dt>
                  {keys.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </>
  );
}
