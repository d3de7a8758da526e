/**
 * One change, from the form to its answer: shows the request, sends it once however often the button is pressed, and
 * shows the result. The caller provides the fields.
 */
import { randomKey } from '@cairn/client';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { AnswerOf, ChangingMethod, PathWith } from '../../api/client.ts';
import { ApiError, isPassing, isUnanswered } from '../../api/problem.ts';
import { useReached, useSession } from '../../session/session.ts';
import type { PlannedAct } from '../act.ts';
import { Commands } from '../commands.tsx';
import { Failure } from '../states.tsx';
import { Dialog } from './dialog.tsx';

export interface ActionDialogProps<M extends ChangingMethod, P extends PathWith<M>> {
  readonly title: string;
  /** Text of the button. */
  readonly verb: string;
  /** It cannot be undone. */
  readonly danger?: boolean;
  /** The request; undefined while the form is incomplete. */
  readonly act: PlannedAct<M, P> | undefined;
  /** The reason why the form is incomplete: shown beside the button, however long the form. */
  readonly lack?: string | undefined;
  /** The reason why the act is not possible any more since the form was opened, in the place of `lack`. The form keeps what was typed. */
  readonly outdated?: ReactNode;
  readonly children?: ReactNode;
  /** Left out: the dialog closes. Not called if the dialog was closed while it was sending: then the page says what became of it. */
  onDone?(answer: AnswerOf<M, P>): void;
  /** Beside the failure that the dialog shows. */
  onRefused?(error: unknown): void;
  onClose(): void;
}

export function ActionDialog<M extends ChangingMethod, P extends PathWith<M>>(
  props: ActionDialogProps<M, P>,
) {
  const { title, verb, danger, act, lack, outdated, children, onClose, onDone = onClose, onRefused } = props;
  const isOutdated = outdated !== undefined && outdated !== false;
  const { api, closedForms, me } = useSession();
  const queries = useQueryClient();
  const [path] = useLocation();
  const keyOf = useKeyPerContent();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [sentBy, setSentBy] = useState<string>();
  const isOpen = useIsOpen();
  const submit = async () => {
    if (!act || busy) return;
    setBusy(true);
    setError(undefined);
    setSentBy(me.principal);
    const key = keyOf(act.planned);
    const sayLater = (error: unknown, answer: unknown) =>
      closedForms.add({ key, title, path, error, runId: runIdIn(answer) });
    try {
      const answer = await api.change(act.planned, key);
      await Promise.race([queries.invalidateQueries(), after(REREAD_MS)]);
      if (isOpen()) onDone(answer);
      else sayLater(undefined, answer);
    } catch (failure) {
      // The page may show outdated data.
      if (!isPassing(failure)) void queries.invalidateQueries();
      if (!isOpen()) return sayLater(failure, undefined);
      setError(failure);
      onRefused?.(failure);
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
        {error !== undefined && (
          <FocusedFailure error={error} isOfAnother={sentBy !== me.principal} isFinal={isOutdated} />
        )}
        {act && <Commands sending={act.planned} cli={act.cli} />}
        <footer>
          <p className={isOutdated ? 'note lack' : 'hint lack'} role="status">
            {isOutdated ? !busy && outdated : act === undefined && lack}
          </p>
          <button type="button" onClick={onClose}>
            Close
          </button>
          <button
            type="submit"
            className={danger ? 'danger' : 'primary'}
            disabled={!act || busy || isOutdated}
          >
            {busy ? 'Sending…' : verb}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Most time for which a form that was done waits until the page behind it is read again: it may be large, and the form may lead elsewhere. */
const REREAD_MS = 2_000;

const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The run that the request started or changed. */
function runIdIn(answer: unknown): string | undefined {
  const { runId } = (answer ?? {}) as { readonly runId?: unknown };
  return typeof runId === 'string' ? runId : undefined;
}

/** False once the dialog has left the page. */
function useIsOpen(): () => boolean {
  const isOpen = useRef(false);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  return () => isOpen.current;
}

interface FocusedFailureProps {
  readonly error: unknown;
  /** Another person has signed in since it was sent: idempotency keys are those of a person. */
  readonly isOfAnother: boolean;
  /** It cannot be sent once more. */
  readonly isFinal: boolean;
}

/**
 * The button that sent loses the focus while it is disabled, and the failure may be below what the dialog shows. The focus goes to the
 * field that says what was refused, if the refusal names it.
 */
function FocusedFailure({ error, isOfAnother, isFinal }: FocusedFailureProps) {
  const place = useRef<HTMLDivElement>(null);
  const { lostAt } = useReached();
  useEffect(() => {
    const named = error instanceof ApiError ? error.problem.field : undefined;
    const fields = [...(place.current?.closest('form')?.elements ?? [])];
    const field = fields.find(
      (one) => one instanceof HTMLInputElement && one.name === named && one.ariaInvalid === 'true',
    );
    const target = field instanceof HTMLElement ? field : place.current;
    target?.focus();
  }, [error]);
  return (
    <div ref={place} tabIndex={-1}>
      {isUnanswered(error) && lostAt === undefined ? (
        <p className="note" role="status">
          {isFinal
            ? 'The API responds again. It is not known whether the form was carried out.'
            : isOfAnother
              ? 'The API responds again. It is not known whether the form was carried out, and you are signed in as somebody else since: check it before you send the form again.'
              : 'The API responds again. Send the form once more; it takes effect once.'}
        </p>
      ) : (
        <Failure error={error} />
      )}
    </div>
  );
}

/** The same content is the same request (same idempotency key); other content is another request. */
function useKeyPerContent(): (content: unknown) => string {
  const keys = useRef(new Map<string, string>());
  return (content) => {
    const text = JSON.stringify(content);
    const key = keys.current.get(text) ?? `console-${randomKey()}`;
    keys.current.set(text, key);
    return key;
  };
}
