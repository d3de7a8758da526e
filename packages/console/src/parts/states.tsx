/** Placeholders for content: loading, empty, failed, incomplete. Each says what to do. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../api/problem.ts';

export function Loading({ what }: { readonly what: string }) {
  return (
    <div className="state" role="status" aria-live="polite">
      <span className="spinner" aria-hidden="true" /> Loading {what}…
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="state empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** @param again shown as a button, if trying again may help */
export function Failure({ error, again }: { readonly error: unknown; readonly again?: () => void }) {
  const problem = error instanceof ApiError ? error.problem : undefined;
  return (
    <div className="failure" role="alert">
      <p>
        <strong>{problem?.title ?? 'This page failed'}</strong> {problem && <code>{problem.code}</code>}
      </p>
      <p>{problem ? problem.detail : error instanceof Error ? error.message : String(error)}</p>
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

export function NothingHere() {
  return (
    <Empty title="Nothing is here">
      <p>
        There is no such page. Runs are at <a href="/runs">/runs</a>.
      </p>
    </Empty>
  );
}

/** Most damaged runs that are named; more are a problem of the installation. */
const MOST = 5;

/** Runs that a list leaves out since their documents are damaged: named, with the way to what can be done about it. */
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
