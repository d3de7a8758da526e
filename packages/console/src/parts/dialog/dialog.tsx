/** A dialog over the page: the browser's own, with its focus and its Escape. */
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { focusIfLost } from '../focus.ts';
import { useBack } from './use-back.ts';

interface DialogProps {
  readonly title: string;
  /** Absent: the dialog cannot be closed. */
  onClose?(): void;
  /** True once the typed text is sent: Escape then closes the dialog at once. */
  readonly isSent?: boolean;
  readonly children: ReactNode;
}

export function Dialog({ title, onClose, isSent = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const { heldUp, onInput, onEscape } = useBack(element, onClose, isSent);
  // The dialog is closed while it is still in the page, so that the browser returns the focus to the opener.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) {
      dialog.showModal();
      firstField(dialog)?.focus();
    }
    return () => {
      dialog?.close();
      focusIfLost(dialog);
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onInput={onInput}
      onCancel={(event) => {
        event.preventDefault();
        onEscape(!event.cancelable);
      }}
      // The browser lets a second Escape close the dialog even if the first was prevented.
      onClose={({ currentTarget: dialog }) => {
        if (!onClose && dialog.isConnected) dialog.showModal();
      }}
      // A held Enter that opened the dialog must not send it before anybody has read it.
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.repeat) event.preventDefault();
      }}
    >
      <div className="dialog-head">
        <h2 id={titleId}>{title}</h2>
        {onClose && (
          <button type="button" className="plain" aria-label="Close" onClick={onClose}>
            ✕
          </button>
        )}
      </div>
      <div className="dialog-back" role="status">
        {heldUp && (
          <p className="note">
            The {onClose ? 'form' : 'page'} is still open, with what you typed. {heldUp} once more discards
            it.
          </p>
        )}
      </div>
      {children}
    </dialog>
  );
}

/** The field that has the focus first: the checked option of a choice, else the first input. */
function firstField(dialog: HTMLElement): HTMLElement | null {
  const chosen = dialog.querySelector<HTMLElement>('form input[type="radio"]:checked');
  return chosen ?? dialog.querySelector('form :is(input, select, textarea):not(:disabled)');
}
