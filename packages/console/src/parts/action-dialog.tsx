/**
 * One change, from the form to its answer: shows what would be sent, sends it once however often the button is pressed, and
 * says what came of it. The fields are the caller's.
 */
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import type { AnswerOf, ChangingMethod, PathWith, Planned } from '../api/client.ts';
import { useSession } from '../session/session.ts';
import { Commands } from './commands.tsx';
import { Dialog } from './dialog.tsx';
import { Failure } from './states.tsx';

interface ActionDialogProps<M extends ChangingMethod, P extends PathWith<M>> {
  readonly title: string;
  /** Text of the button. */
  readonly verb: string;
  /** It cannot be taken back. */
  readonly danger?: boolean;
  /** The request; undefined while the form is incomplete. */
  readonly planned: Planned<M, P> | undefined;
  /** Words after `npm run cairn --`. */
  readonly cli: readonly string[];
  readonly children?: ReactNode;
  onDone(answer: AnswerOf<M, P>): void;
  onClose(): void;
}

export function ActionDialog<M extends ChangingMethod, P extends PathWith<M>>(
  props: ActionDialogProps<M, P>,
) {
  const { title, verb, danger, planned, cli, children, onDone, onClose } = props;
  const { api } = useSession();
  const queries = useQueryClient();
  const keyOf = useKeyPerContent();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async () => {
    if (!planned || busy) return;
    setBusy(true);
    setError(undefined);
    try {
      const answer = await api.change(planned, keyOf(planned));
      await queries.invalidateQueries();
      onDone(answer);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {children}
        {error !== undefined && <Failure error={error} />}
        {planned && <Commands sending={planned} cli={cli} />}
        <footer>
          <button type="button" onClick={onClose}>
            Close
          </button>
          <button type="submit" className={danger ? 'danger' : 'primary'} disabled={!planned || busy}>
            {busy ? 'Sending…' : verb}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** The same content again is the same request; another content is another one. */
function useKeyPerContent(): (content: unknown) => string {
  const keys = useRef(new Map<string, string>());
  return (content) => {
    const text = JSON.stringify(content);
    const key = keys.current.get(text) ?? `console-${crypto.randomUUID()}`;
    keys.current.set(text, key);
    return key;
  };
}
