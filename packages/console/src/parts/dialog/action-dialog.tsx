/**
 * One change, from the form to its answer: shows the request, sends it once even if the button is pressed repeatedly, and
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
  /** True if the change cannot be undone. */
  readonly danger?: boolean;
  /** The request; undefined while the form is incomplete. */
  readonly act: PlannedAct<M, P> | undefined;
  /** The reason why the form is incomplete, always visible beside the button. */
  readonly lack?: string | undefined;
  /** The reason why the act is no longer possible, shown instead of `lack`. The form keeps the typed text. */
  readonly outdated?: ReactNode;
  readonly children?: ReactNode;
  /** Default: close the dialog. Not called if the dialog was closed while sending; the page then shows the outcome. */
  onDone?(answer: AnswerOf<M, P>): void;
  /** Called in addition to showing the failure. */
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
    <Dialog title={title} onClose={onClose} isSent={busy}>
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

/** Longest time that a completed form waits for its page to be reread. A large page is slow, and the form may navigate anyway. */
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
  /** Another person has signed in since it was sent. Idempotency keys are valid for one person. */
  readonly isOfAnother: boolean;
  /** True if the form cannot be sent again. */
  readonly isFinal: boolean;
}

/**
 * Takes the focus, because the disabled button has lost it, and the failure may be out of view. If the refusal names a field,
 * the focus goes to that field.
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

/** Returns the same idempotency key for the same content, and a new one for other content. */
function useKeyPerContent(): (content: unknown) => string {
  const keys = useRef(new Map<string, string>());
  return (content) => {
    const text = JSON.stringify(content);
    const key = keys.current.get(text) ?? `console-${randomKey()}`;
    keys.current.set(text, key);
    return key;
  };
}
