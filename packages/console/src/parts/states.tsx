/** Placeholders for content: loading, empty, failed, incomplete. Each says what to do. */
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { ApiError, messageOf } from '../api/problem.ts';

export function Loading({ what }: { readonly what: string }) {
  return (
    <div className="state" role="status" aria-live="polite">
      <span className="spinner" aria-hidden="true" /> Loading {what}…
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  /** True if it is the only content, so that its title is the page's heading. */
  readonly isPage?: boolean;
  readonly children?: ReactNode;
}

export function Empty({ title, isPage = false, children }: EmptyProps) {
  const Title = isPage ? 'h1' : 'h2';
  return (
    <div className="state empty">
      <Title>{title}</Title>
      {children}
    </div>
  );
}

interface FailureProps {
  readonly error: unknown;
  /** See `Empty`. */
  readonly isPage?: boolean;
  /** Shown as a button if a retry may help. */
  readonly again?: () => void;
}

export function Failure({ error, isPage = false, again }: FailureProps) {
  const problem = error instanceof ApiError ? error.problem : undefined;
  const title = problem?.title ?? 'This page failed';
  const code = problem && <code>{problem.code}</code>;
  return (
    <div className="failure" role="alert">
      {isPage ? (
        <h1>
          {title} {code}
        </h1>
      ) : (
        <p>
          <strong>{title}</strong> {code}
        </p>
      )}
      <p>{problem ? problem.detail : messageOf(error)}</p>
      {problem?.field && (
        <p>
          Field: <code>{problem.field}</code>
        </p>
      )}
      {problem?.help && <p>{problem.help}</p>}
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

interface Outcome<Data, Refetch> {
  readonly data: Data;
  readonly error: Error | null;
  readonly refetch: Refetch;
}

/**
 * Keeps the last failure until there is data, because the query library drops it while it retries a query without data.
 *
 * @param subject what is read, if it can change; a failure is dropped with its subject
 */
export function useLastFailure<Data, Refetch>(
  { data, error, refetch }: Outcome<Data, Refetch>,
  subject?: string,
) {
  const [last, setLast] = useState({ error, subject });
  const isKept = data === undefined && last.subject === subject;
  const now = error ?? (isKept ? last.error : null);
  if (now !== last.error || subject !== last.subject) setLast({ error: now, subject });
  return { data, error: now, refetch };
}

export function NothingHere() {
  return (
    <Empty title="Nothing is here" isPage>
      <p>
        There is no such page. Runs are at <a href="/runs">/runs</a>.
      </p>
    </Empty>
  );
}

/** Limit of the damaged runs that are named; more are a problem of the installation. */
const MOST = 5;

/** Names the runs that a list leaves out because their documents are damaged, with links to their repair. */
export function Unreadable({ ids }: { readonly ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <div className="failure" role="status">
      <p>
        <strong>
          {ids.length === 1 ? 'A run is' : `${ids.length} runs are`} left out of this list: what is stored of{' '}
          {ids.length === 1 ? 'it' : 'them'} is damaged.
        </strong>{' '}
        Open {ids.length === 1 ? 'it' : 'each'} to check and repair it.
      </p>
      <p className="row">
        {ids.slice(0, MOST).map((id) => (
          <Link key={id} href={`/runs/${encodeURIComponent(id)}`} className="mono">
            {id}
          </Link>
        ))}
        {ids.length > MOST && <span className="dim">and {ids.length - MOST} more</span>}
      </p>
    </div>
  );
}
