/**
 * A part of the page: its answer, or a placeholder. Parts below are hidden until the first answer, because it would move
 * them while a person aims at them. After {@link PATIENCE_MS} they appear. A later answer is shown at once if the person
 * has not used the page since, and otherwise on request, by a button.
 */
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Failure, useLastFailure } from '../../parts/states.tsx';
import { PATIENCE_MS } from './patience.ts';

interface PartOptions<Data> {
  /** `the diagnosis`. */
  readonly what: string;
  /** No part below could be moved. */
  readonly isLast?: boolean;
  /** Text for a part that does not exist in this installation. */
  absenceOf?(data: Data): string | undefined;
}

/** `instead` is shown while there is no data. `failure` is that of the last read. */
type Part<Data> =
  | { readonly data?: undefined; readonly instead: ReactNode }
  | { readonly data: Data; readonly failure: ReactNode };

interface Read<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  refetch(): unknown;
}

export function usePart<Data>(read: Read<Data>, options: PartOptions<Data>): Part<Data> {
  const { data, error, refetch } = useLastFailure(read);
  const coming = useArrival({
    ...options,
    isHere: data !== undefined || error !== null,
    hasFailed: error !== null,
    absence: data && options.absenceOf?.(data),
  });
  const failure = error && <Failure error={error} again={() => void refetch()} />;
  return coming || data === undefined ? { instead: coming ?? failure } : { data, failure };
}

interface Arrival {
  readonly what: string;
  /** There is an answer, or a failure. */
  readonly isHere: boolean;
  readonly hasFailed: boolean;
  readonly isLast?: boolean;
  readonly absence?: string | undefined;
}

/** @returns what to show instead of the part; undefined: show the part */
function useArrival({ what, isHere, hasFailed, isLast = false, absence }: Arrival): ReactNode | undefined {
  const [isLate, setLate] = useState(false);
  const [hasInteracted, setInteracted] = useState(false);
  const [isWanted, setWanted] = useState(false);
  useEffect(() => {
    if (isHere) return;
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isHere]);
  useEffect(() => {
    if (!isLate || isHere) return;
    const interaction = new AbortController();
    for (const kind of INTERACTIONS)
      window.addEventListener(kind, () => setInteracted(true), { signal: interaction.signal, passive: true });
    return () => interaction.abort();
  }, [isLate, isHere]);
  const place = useRef<HTMLDivElement>(null);
  const replaced = useRef<() => Element | undefined>(undefined);
  // The focus was on the button that has disappeared.
  useLayoutEffect(() => {
    const part = isWanted && replaced.current?.();
    if (!(part instanceof HTMLElement)) return;
    part.tabIndex = -1;
    part.focus({ preventScroll: true });
  }, [isWanted]);
  if (isHere && (isWanted || isLast || !hasInteracted)) return undefined;
  return (
    <div ref={place} className={isLate ? 'state late' : 'state'} role="status">
      {absence ? (
        absence
      ) : isHere ? (
        <button
          type="button"
          onClick={() => {
            replaced.current = inPlaceOf(place.current);
            setWanted(true);
          }}
        >
          Show {what}
          {hasFailed && ', which failed'}
        </button>
      ) : (
        <>
          <span className="spinner" aria-hidden="true" /> Loading {what}…
        </>
      )}
    </div>
  );
}

/** Returns a function that finds the element in this one's place after its removal. */
function inPlaceOf(element: Element | null): () => Element | undefined {
  const parent = element?.parentElement;
  if (!parent) return () => undefined;
  const at = [...parent.children].indexOf(element);
  return () => parent.children[at];
}

/** Events of a person who may be about to press something. */
const INTERACTIONS = ['pointermove', 'pointerdown', 'keydown', 'wheel'] as const;
